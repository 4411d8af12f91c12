import { useResource } from "../../parts/resource.js";
import { Action } from "../action.js";
import { admin, read, type Schemas } from "../api.js";
import { Filters, given, Search } from "../filter.js";
import { fetched } from "../session.js";
import { Empty, Listed } from "../shown.js";
import { Section } from "../shell/view.js";
import { NewGeneration } from "./generation-actions.js";
import { NewPlaylist } from "./playlist-actions.js";
import { PlaylistList } from "./playlist-list.js";
import { TRACK_COLUMNS } from "./track-columns.js";

interface AccountMusicProps {
  readonly account: Schemas["AdminAccountReport"];
  readonly query: URLSearchParams;
  /** The credits may have changed. */
  readonly onChange: () => void;
}

/** As the API allows it at most. */
const LIMIT = 25;

/** Tracks and playlists as an account finds them. */
export function AccountMusic({ account, query, onChange }: AccountMusicProps) {
  const { id } = account;
  const path = { id };
  const where = { path: `/accounts/${id}/music`, query };
  const tracks = useResource(
    (signal) =>
      read(
        admin.GET("/admin/v1/accounts/{id}/tracks", {
          signal,
          params: { path, query: { ...given(query, "q", "mood", "activity"), limit: LIMIT } },
        }),
      ),
    [id, query.toString()],
  );
  const playlists = useResource(
    (signal) => read(admin.GET("/admin/v1/accounts/{id}/playlists", { signal, params: { path } })),
    [id],
  );
  return (
    <>
      <Section
        title="Tracks"
        lead={`Its own and public ones that can be played: the first ${LIMIT}.`}
        actions={
          <>
            <NewGeneration account={account} onDone={onChange} />
            <Upload account={account} onDone={tracks.reload} />
          </>
        }
      >
        <Filters label="Tracks">
          <Search {...where} name="q" label="Find" hint="Words of it" />
          <Search {...where} name="mood" label="Mood" hint="A tag" />
          <Search {...where} name="activity" label="Activity" hint="A tag" />
        </Filters>
        <Listed
          caption="Tracks"
          columns={TRACK_COLUMNS}
          of={tracks}
          rows={(found) => found.tracks}
          keyOf={(track) => track.id}
          empty={<Empty title="No tracks found">Create a generation, or upload a file.</Empty>}
        />
      </Section>
      <Section
        title="Playlists"
        lead="Its own and public ones, newest first."
        actions={<NewPlaylist account={id} onDone={playlists.reload} />}
      >
        <PlaylistList of={playlists} empty={<Empty title="No playlists">Neither its own nor public ones.</Empty>} />
      </Section>
    </>
  );
}

function Upload({
  account: { id, name },
  onDone,
}: Pick<AccountMusicProps, "account"> & { readonly onDone: () => void }) {
  return (
    <Action
      label="Upload…"
      needs="operate"
      title={`Upload a track for ${name}`}
      submit="Upload"
      fields={[
        {
          name: "audio",
          label: "Audio file",
          hint: "MP3, WAV, FLAC, Ogg Vorbis or Ogg Opus.",
          type: "file",
          accept: "audio/*",
        },
        { name: "title", label: "Title", hint: "Empty: Untitled.", isOptional: true },
      ]}
      run={async ({ title = "" }, headers, { data }) => {
        const body = new FormData();
        body.set("audio", data.get("audio") as File);
        if (title !== "") body.set("title", title);
        const track = await read(
          fetched<Schemas["AdminTrack"]>(`accounts/${id}/tracks`, { method: "POST", body, headers }),
        );
        return `${track.title} is uploaded.`;
      }}
      onDone={onDone}
    >
      <p>It becomes a private track of the account. It costs no credits; the quota of its tier holds.</p>
    </Action>
  );
}
