import { navigate } from "../../parts/route.js";
import { Action } from "../action.js";
import { admin, read, type Schemas } from "../api.js";
import { counted } from "../words.js";
import { FromTrack } from "./generation-actions.js";
import { payerField } from "./payer.js";

type Track = Schemas["AdminTrackReport"];

interface TrackActionsProps {
  readonly track: Track;
  readonly onDone: () => void;
}

/** What can be done with a track. */
export function TrackActions({ track, onDone }: TrackActionsProps) {
  return (
    <>
      {track.splits.map((offer) => (
        <Split key={offer.operation} track={track} offer={offer} onDone={onDone} />
      ))}
      <FromTrack track={track} onDone={onDone} />
      {track.share_url === null ? <Share track={track} onDone={onDone} /> : <Unshare track={track} onDone={onDone} />}
    </>
  );
}

const WORDS = {
  stem_split: ["Split…", "Split into stems", "its stems, such as vocals, drums and bass"],
  vocal_removal: ["Remove vocals…", "Remove the vocals", "its vocals and all the rest"],
} as const;

function Split({
  track,
  offer: { operation, credit_cost: cost },
  onDone,
}: TrackActionsProps & { readonly offer: Track["splits"][number] }) {
  const [label, title, parts] = WORDS[operation];
  return (
    <Action
      label={label}
      needs="operate"
      title={`${title}: ${track.title}`}
      submit={`Spend ${counted(cost, "credit")}`}
      look={operation === "stem_split" ? "primary" : "plain"}
      fields={[
        payerField(track),
        {
          name: "reference",
          label: "Reference",
          hint: "Such as an order: a second split with the same one starts and charges nothing.",
          isOptional: true,
        },
      ]}
      run={async ({ account = "", reference = "" }, headers, { key }) => {
        const body = { ...(account === "" ? {} : { account }), reference: reference === "" ? key : reference };
        const call = { params: { path: { id: track.id } }, body, headers };
        const { job, repeated } =
          operation === "stem_split"
            ? await read(admin.POST("/admin/v1/tracks/{id}/stems", call))
            : await read(admin.POST("/admin/v1/tracks/{id}/vocal-removal", call));
        navigate(`/jobs/${job.id}`);
        return repeated
          ? "It was started before: this is that job. Nothing was charged again."
          : "The job is accepted.";
      }}
      onDone={onDone}
    >
      <p>
        A provider makes {parts}. The account is charged <strong>{counted(cost, "credit")}</strong>, which it gets back
        when the job fails.
      </p>
    </Action>
  );
}

function Share({ track: { id, title }, onDone }: TrackActionsProps) {
  return (
    <Action
      label="Share…"
      needs="operate"
      title={`Share ${title}`}
      submit="Open the page"
      run={async (_, headers) => {
        await read(admin.POST("/admin/v1/tracks/{id}/share", { params: { path: { id } }, headers }));
        return `${title} has a public page.`;
      }}
      onDone={onDone}
    >
      <p>It gets a page with a player, which everyone can open who knows its address.</p>
    </Action>
  );
}

function Unshare({ track: { id, title }, onDone }: TrackActionsProps) {
  return (
    <Action
      label="Stop sharing…"
      needs="operate"
      title={`Stop sharing ${title}`}
      submit="Close the page"
      look="danger"
      run={async (_, headers) => {
        await read(admin.DELETE("/admin/v1/tracks/{id}/share", { params: { path: { id } }, headers }));
        return `${title} is not shared any more.`;
      }}
      onDone={onDone}
    >
      <p>
        Its page is closed at once, <strong>for good</strong>: sharing it again gives another address. Links to its
        files that were given out before end as well.
      </p>
    </Action>
  );
}
