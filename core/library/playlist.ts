import type { AccountId, PlaylistId, TrackId } from "../ids.js";

/** Tracks of one playlist at most. */
export const PLAYLIST_TRACKS_MAX = 500;

/** Playlists that an account may have for one more to be created; an import is not counted. */
export const PLAYLISTS_PER_ACCOUNT_MAX = 1_000;

export interface Playlist {
  readonly id: PlaylistId;
  /** null on public playlists without an owner. */
  readonly accountId: AccountId | null;
  readonly title: string;
  readonly visibility: "public" | "private";
  /** In the playlist's own order; a track at most once. Some may be gone, or not be the viewer's to see. */
  readonly trackIds: readonly TrackId[];
  readonly createdAt: number;
}
