import type { AccountId, JobId, PlaylistId, TrackId } from "../../../../core/ids.js";
import type { Lyrics, NewTrack } from "../../../../core/library/lyrics.js";
import type { Playlist } from "../../../../core/library/playlist.js";
import type { LibrarySearch } from "../../../../core/library/search.js";
import type { Track } from "../../../../core/library/track.js";
import type { LibraryStore, PlaylistLimits } from "../../../../core/ports/library-store.js";
import type { Transaction } from "../../../../core/ports/unit-of-work.js";
import type { KnexDatabase } from "../database.js";
import { LibrarySearchQueries, SEARCH_LIMITS, type SearchLimits } from "./search/library-search.js";
import { groupBy } from "../lists.js";
import { findLyrics, insertLyrics } from "./lyrics-queries.js";
import {
  deletePlaylist,
  findPlaylists,
  insertPlaylists,
  listPlaylists,
  lockPlaylist,
  updatePlaylist,
} from "./playlist-queries.js";
import { searchRowsOfTracks } from "./search/rows.js";
import { fileSegment, insertSearchRows } from "./search/writes.js";
import { sessionOf } from "../session.js";
import {
  findSharedTrack,
  findTracks,
  insertTracks,
  namedAudioKeys,
  linkGeneration,
  shareTrack,
  tracksOfJobs,
  unshareTrack,
} from "./track-queries.js";

export class KnexLibraryStore implements LibraryStore {
  private readonly searches: LibrarySearchQueries;

  constructor(
    private readonly database: KnexDatabase,
    private readonly searchLimits: SearchLimits = SEARCH_LIMITS,
  ) {
    this.searches = new LibrarySearchQueries(searchLimits, database.dialect);
  }

  async insertTracks(tx: Transaction, tracks: readonly NewTrack[]): Promise<void> {
    await insertTracks(sessionOf(tx), tracks);
    await insertLyrics(sessionOf(tx), tracks);
    await insertSearchRows(sessionOf(tx), searchRowsOfTracks(tracks));
  }

  async tracksOfJobs(jobIds: readonly JobId[]): Promise<Map<JobId, Track[]>> {
    const tracks = await this.database.reading((session) => tracksOfJobs(session, jobIds));
    return groupBy(tracks, ({ jobId }) => jobId as JobId);
  }

  findTracks(ids: readonly TrackId[]): Promise<Map<TrackId, Track>> {
    return this.database.reading((session) => findTracks(session, ids));
  }

  findLyrics(id: TrackId): Promise<Lyrics | null> {
    return this.database.reading((session) => findLyrics(session, id));
  }

  namedAudioKeys(keys: readonly string[]): Promise<Set<string>> {
    return this.database.reading((session) => namedAudioKeys(session, keys));
  }

  findSharedTrack(shareToken: string): Promise<Track | null> {
    return this.database.reading((session) => findSharedTrack(session, shareToken));
  }

  linkGeneration(audioKey: string): Promise<number | null> {
    return this.database.reading((session) => linkGeneration(session, audioKey));
  }

  shareTrack(tx: Transaction, trackId: TrackId, shareToken: string): Promise<string | null> {
    return shareTrack(sessionOf(tx), trackId, shareToken);
  }

  unshareTrack(tx: Transaction, trackId: TrackId): Promise<boolean> {
    return unshareTrack(sessionOf(tx), trackId);
  }

  searchTracks(search: LibrarySearch): Promise<Track[]> {
    return this.database.reading((session) => this.searches.tracks(session, search));
  }

  insertPlaylists(tx: Transaction, playlists: readonly Playlist[]): Promise<void> {
    return insertPlaylists(sessionOf(tx), playlists);
  }

  findPlaylists(ids: readonly PlaylistId[]): Promise<Map<PlaylistId, Playlist>> {
    return this.database.reading((session) => findPlaylists(session, ids));
  }

  lockPlaylist(tx: Transaction, id: PlaylistId): Promise<Playlist | null> {
    return lockPlaylist(sessionOf(tx), id, this.database.dialect);
  }

  updatePlaylist(tx: Transaction, playlist: Playlist): Promise<void> {
    return updatePlaylist(sessionOf(tx), playlist, this.database.dialect);
  }

  deletePlaylist(tx: Transaction, id: PlaylistId): Promise<boolean> {
    return deletePlaylist(sessionOf(tx), id, this.database.dialect);
  }

  listPlaylists(viewer: AccountId, limits: PlaylistLimits): Promise<Playlist[]> {
    return this.database.reading((session) => listPlaylists(session, viewer, limits, this.database.dialect));
  }

  searchPlaylists(search: LibrarySearch): Promise<Playlist[]> {
    return this.database.reading((session) => this.searches.playlists(session, search));
  }

  fileForSearch(tx: Transaction): Promise<boolean> {
    return fileSegment(sessionOf(tx), this.searchLimits.segment, this.database.dialect);
  }
}
