import type { AccountId, JobId, PlaylistId, TrackId } from "../ids.js";
import type { Lyrics, NewTrack } from "../library/lyrics.js";
import type { Playlist } from "../library/playlist.js";
import type { LibrarySearch, SearchPosition } from "../library/search.js";
import type { ShownTrack, Track } from "../library/track.js";
import type { ListPage, ListPosition } from "./list-page.js";
import type { Transaction } from "./unit-of-work.js";

/** Where a page of playlists ends. */
export interface PlaylistLimits {
  readonly playlists: number;
  /** The tracks that they hold together, visible to the viewer or not. */
  readonly tracks: number;
}

/**
 * Tracks with their files and tags, playlists, and the index that both are searched by. What a viewer may see is part
 * of every search and list here; `find…` return every row, and the caller checks access. Selected by `storage.url`.
 */
export interface LibraryStore {
  /**
   * Creates tracks with their lyrics. Playable ones are found by {@link searchTracks} as soon as `tx` is committed.
   */
  insertTracks(tx: Transaction, tracks: readonly NewTrack[]): Promise<void>;
  /** The tracks of these jobs, in their order; a job without tracks is left out. */
  tracksOfJobs(jobIds: readonly JobId[]): Promise<Map<JobId, Track[]>>;
  /** The same with what generations show of a track alone: neither tags nor waveform nor prompt is read. */
  shownTracksOfJobs(jobIds: readonly JobId[]): Promise<Map<JobId, ShownTrack[]>>;
  /** Tracks by id, of any owner; unknown ids are left out. */
  findTracks(ids: readonly TrackId[]): Promise<Map<TrackId, Track>>;
  /** Reads a track and keeps it from changing until `tx` ends; null when there is none. */
  lockTrack(tx: Transaction, id: TrackId): Promise<Track | null>;
  /** The lyrics of a track; null when it has none, or is not there. */
  findLyrics(id: TrackId): Promise<Lyrics | null>;
  /** Those of these audio keys that a file of any track is stored under. */
  namedAudioKeys(keys: readonly string[]): Promise<Set<string>>;
  /** {@link Track.linkGeneration} of the track that has this file; null when no track has it. One indexed read. */
  linkGeneration(audioKey: string): Promise<number | null>;
  /** The track whose public page this token names; null when no track is shared under it (any more). */
  findSharedTrack(shareToken: string): Promise<Track | null>;
  /**
   * Shares a track under this token, unless it is shared already: of several calls at once, one gives the token.
   *
   * @returns the token that the track is shared under then; null when there is no such track
   */
  shareTrack(tx: Transaction, trackId: TrackId, shareToken: string): Promise<string | null>;
  /**
   * Takes a track's token away, if it has one, and then raises its `linkGeneration` by 1.
   *
   * @returns false when there is no such track
   */
  unshareTrack(tx: Transaction, trackId: TrackId): Promise<boolean>;
  /**
   * Playable tracks that are public or the viewer's own and match all of the search, the best first: by {@link
   * LibrarySearch} relevance, then newest (`createdAt`, then `id`, both descending).
   */
  searchTracks(search: LibrarySearch): Promise<ListPage<Track, SearchPosition>>;

  insertPlaylists(tx: Transaction, playlists: readonly Playlist[]): Promise<void>;
  /** Playlists by id, of any owner; unknown ids are left out. */
  findPlaylists(ids: readonly PlaylistId[]): Promise<Map<PlaylistId, Playlist>>;
  /** Reads a playlist and keeps it from changing until `tx` ends; null when there is none. */
  lockPlaylist(tx: Transaction, id: PlaylistId): Promise<Playlist | null>;
  /** Writes title, visibility and tracks of a playlist that was locked in this `tx`. */
  updatePlaylist(tx: Transaction, playlist: Playlist): Promise<void>;
  /** How many playlists the account has. Exact while `tx` holds the account's balance. */
  countPlaylists(tx: Transaction, accountId: AccountId): Promise<number>;
  /** @returns false when there was none */
  deletePlaylist(tx: Transaction, id: PlaylistId): Promise<boolean>;
  /**
   * Playlists that are public or the viewer's own, newest first (`createdAt`, then `id`, both descending). A page ends
   * before one of them goes beyond `limits`; the first is always there.
   *
   * @param viewer null: public ones alone
   * @param after only those behind it
   */
  listPlaylists(
    viewer: AccountId | null,
    limits: PlaylistLimits,
    after?: ListPosition<PlaylistId> | null,
  ): Promise<ListPage<Playlist, ListPosition<PlaylistId>>>;
  /**
   * Playlists that are public or the viewer's own and match all of the search: the words by their title; `mood` and
   * `activity` by holding one playable track, visible to the viewer, that has both. The best first, then newest.
   */
  searchPlaylists(search: LibrarySearch): Promise<ListPage<Playlist, SearchPosition>>;

  /**
   * Indexes some of the pending items, a few thousand at a time. Searches find them before and after, and faster after.
   * Of several concurrent calls, one does the work.
   *
   * @returns whether more items may be pending
   */
  indexPending(tx: Transaction): Promise<boolean>;
}
