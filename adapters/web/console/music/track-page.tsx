import { clockTime } from "../../parts/format.js";
import { useResource } from "../../parts/resource.js";
import { Facts } from "../../parts/table.js";
import { Time } from "../../parts/time.js";
import { admin, read, type Schemas } from "../api.js";
import { Loaded, State, WholeId } from "../shown.js";
import { Section, View } from "../shell/view.js";
import { parentOf } from "./playlist-page.js";
import { TrackActions } from "./track-actions.js";
import { Owner } from "./track-columns.js";

/** A track of any account. */
export function TrackPage({ id }: { readonly id: string }) {
  const resource = useResource(
    (signal) => read(admin.GET("/admin/v1/tracks/{id}", { signal, params: { path: { id } } })),
    [id],
  );
  const { data: track, reload } = resource;
  return (
    <View
      title={track?.title ?? "Track"}
      kind="Track:"
      parent={parentOf(track?.account)}
      aside={track === undefined ? null : <State of={track.visibility} />}
      lead={<WholeId id={id} />}
      actions={track === undefined ? null : <TrackActions track={track} onDone={reload} />}
    >
      <Loaded of={resource}>{(loaded) => <Details track={loaded} />}</Loaded>
    </View>
  );
}

function Details({ track }: { readonly track: Schemas["AdminTrackReport"] }) {
  const { lyrics } = track;
  return (
    <>
      <div class="card">
        <Facts
          of={[
            ["Artist", track.artist_label],
            ["Owner", <Owner account={track.account} />],
            ["Length", track.duration === null ? null : clockTime(track.duration)],
            ["Tempo", track.bpm === null ? null : `${track.bpm} BPM`],
            ["Created", <Time at={track.created_at} />],
            ["Audio", track.play_url === null ? "none" : <Elsewhere href={track.play_url}>listen</Elsewhere>],
            ["Page", track.share_url === null ? "not shared" : <Elsewhere href={track.share_url}>open</Elsewhere>],
          ]}
        />
      </div>
      {lyrics === undefined ? null : (
        <Section title="Lyrics">
          <p class="card lyrics">{lyrics.text}</p>
        </Section>
      )}
    </>
  );
}

function Elsewhere({ href, children }: { readonly href: string; readonly children: string }) {
  return (
    <a href={href} target="_blank" rel="noreferrer">
      {children}
    </a>
  );
}
