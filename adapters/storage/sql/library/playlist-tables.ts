import type { AccountId, PlaylistId, TrackId } from "../../../../core/ids.js";
import type { Playlist } from "../../../../core/library/playlist.js";
import { plain, type RowOf, table } from "../table.js";

export const PLAYLISTS = table(
  "playlists",
  {
    id: plain<PlaylistId>(),
    accountId: plain<AccountId | null>(),
    title: plain<string>(),
    visibility: plain<Playlist["visibility"]>(),
    createdAt: plain<number>(),
  },
  ["id"],
);
export type PlaylistRow = RowOf<typeof PLAYLISTS>;

export const PLAYLIST_TRACKS = table(
  "playlist_tracks",
  { playlistId: plain<PlaylistId>(), position: plain<number>(), trackId: plain<TrackId>() },
  ["playlistId", "position"],
);
export type PlaylistTrackRow = RowOf<typeof PLAYLIST_TRACKS>;

export function toPlaylistTrackRows({ id: playlistId, trackIds }: Playlist): PlaylistTrackRow[] {
  return trackIds.map((trackId, position) => PLAYLIST_TRACKS.toRow({ playlistId, position, trackId }));
}

/** @param tracks those of this playlist, in their order */
export function toPlaylist(row: PlaylistRow, tracks: readonly PlaylistTrackRow[]): Playlist {
  return { ...PLAYLISTS.fromRow(row), trackIds: tracks.map((track) => track.track_id) };
}
