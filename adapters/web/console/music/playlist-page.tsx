import { useResource } from "../../parts/resource.js";
import { type Column } from "../../parts/table.js";
import { admin, read, type Schemas } from "../api.js";
import { Empty, Listed, State, WholeId } from "../shown.js";
import { View } from "../shell/view.js";
import { EntryActions, PlaylistActions } from "./playlist-actions.js";
import { TRACK_COLUMNS } from "./track-columns.js";

type Track = Schemas["AdminTrack"];

/** What a track's own page shows: there is no space for it next to the actions. */
const BEYOND: readonly string[] = ["Page", "Created"];

/** A playlist with all that it holds, in its order. */
export function PlaylistPage({ id }: { readonly id: string }) {
  const resource = useResource(
    (signal) => read(admin.GET("/admin/v1/playlists/{id}", { signal, params: { path: { id } } })),
    [id],
  );
  const { data: playlist, reload } = resource;
  const columns: readonly Column<Track>[] = [
    ...TRACK_COLUMNS.filter(({ head }) => !BEYOND.includes(head)),
    {
      head: "Actions",
      kind: "end",
      cell: (track) =>
        playlist === undefined ? null : (
          <EntryActions playlist={playlist} index={playlist.tracks.indexOf(track)} onDone={reload} />
        ),
    },
  ];
  return (
    <View
      title={playlist?.title ?? "Playlist"}
      kind="Playlist:"
      parent={parentOf(playlist?.account)}
      aside={playlist === undefined ? null : <State of={playlist.visibility} />}
      lead={<WholeId id={id} />}
      actions={playlist === undefined ? null : <PlaylistActions playlist={playlist} onDone={reload} />}
    >
      <Listed
        caption="Tracks, in the order of the playlist"
        columns={columns}
        of={resource}
        rows={({ tracks }) => tracks}
        keyOf={(track) => track.id}
        empty={<Empty title="No tracks yet">Add some by their ids.</Empty>}
      />
    </View>
  );
}

/** Where a track or a playlist is listed. */
export function parentOf(account: string | null | undefined): { readonly label: string; readonly href: string } {
  return typeof account === "string"
    ? { label: "Music of the account", href: `#/accounts/${account}/music` }
    : { label: "Music", href: "#/music" };
}
