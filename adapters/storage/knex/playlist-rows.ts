import type { AccountId, PlaylistId, TrackId } from "../../../core/ids.js";
import type { Playlist } from "../../../core/library/playlist.js";
import type { Table } from "./session.js";

export interface PlaylistRow {
  id: PlaylistId;
  account_id: AccountId | null;
  title: string;
  visibility: Playlist["visibility"];
  created_at: number;
}

export const PLAYLISTS: Table<PlaylistRow> = {
  name: "playlists",
  columns: ["id", "account_id", "title", "visibility", "created_at"],
  key: ["id"],
};

export interface PlaylistTrackRow {
  playlist_id: PlaylistId;
  position: number;
  track_id: TrackId;
}

export const PLAYLIST_TRACKS: Table<PlaylistTrackRow> = {
  name: "playlist_tracks",
  columns: ["playlist_id", "position", "track_id"],
  key: ["playlist_id", "position"],
};

export function toPlaylistRow(playlist: Playlist): PlaylistRow {
  return {
    id: playlist.id,
    account_id: playlist.accountId,
    title: playlist.title,
    visibility: playlist.visibility,
    created_at: playlist.createdAt,
  };
}

export function toPlaylistTrackRows({ id, trackIds }: Playlist): PlaylistTrackRow[] {
  return trackIds.map((track_id, position) => ({ playlist_id: id, position, track_id }));
}

/** @param tracks those of this playlist, in their order */
export function toPlaylist(row: PlaylistRow, tracks: readonly PlaylistTrackRow[]): Playlist {
  return {
    id: row.id,
    accountId: row.account_id,
    title: row.title,
    visibility: row.visibility,
    trackIds: tracks.map((track) => track.track_id),
    createdAt: row.created_at,
  };
}
