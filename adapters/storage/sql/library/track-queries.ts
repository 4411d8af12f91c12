import type { JobId, TrackId } from "../../../../core/ids.js";
import type { Lyrics, NewTrack } from "../../../../core/library/lyrics.js";
import type { ShownTrack, Track } from "../../../../core/library/track.js";
import type { Transaction } from "../../../../core/ports/unit-of-work.js";
import type { KnexDatabase } from "../database.js";
import { allIn, groupBy, inChunks } from "../lists.js";
import { oneOf } from "../rows.js";
import { columnsOf, type Session, sessionOf } from "../session.js";
import { LYRICS_OF, type LyricsRow, toLyrics, toLyricsRows, TRACK_LYRICS } from "./lyrics-table.js";
import { searchRowsOfTracks } from "./search/rows.js";
import { insertSearchRows } from "./search/writes.js";
import { shownTracksOfJobs } from "./shown-tracks.js";
import {
  type AssetRow,
  type TagRow,
  toAssetRows,
  toTagRows,
  toTrack,
  TRACK_ASSETS,
  TRACK_TAGS,
  type TrackRow,
  TRACKS,
} from "./track-tables.js";

const FIND_ONE = `SELECT ${columnsOf(TRACKS)} FROM {tracks} WHERE id = ?`;
const FIND = (marks: string): string => `SELECT ${columnsOf(TRACKS)} FROM {tracks} WHERE id IN (${marks})`;
const TAGS = (marks: string): string =>
  `SELECT ${columnsOf(TRACK_TAGS)} FROM {track_tags} WHERE track_id IN (${marks})
  ORDER BY track_id, category, position`;
const ASSETS = (marks: string): string =>
  `SELECT ${columnsOf(TRACK_ASSETS)} FROM {track_assets} WHERE track_id IN (${marks}) ORDER BY track_id, position`;
const OF_JOBS = (marks: string): string =>
  `SELECT ${columnsOf(TRACKS)} FROM {tracks} WHERE job_id IN (${marks}) ORDER BY job_id, position`;
const NAMED_KEYS = (marks: string): string => `SELECT audio_key FROM {track_assets} WHERE audio_key IN (${marks})`;
const SHARED = `SELECT ${columnsOf(TRACKS)} FROM {tracks} WHERE share_token = ?`;
// The row is found, and so kept from changing, whether it has a token or not.
const SHARE = "UPDATE {tracks} SET share_token = COALESCE(share_token, ?) WHERE id = ?";
const SHARED_UNDER = "SELECT share_token FROM {tracks} WHERE id = ?";
// MySQL fills assignments in from the left: the token is still there where the generation is worked out.
const UNSHARE =
  "UPDATE {tracks} SET link_generation = COALESCE(link_generation, 0) + (share_token IS NOT NULL), " +
  "share_token = NULL WHERE id = ?";
const LINK_GENERATION =
  "SELECT MAX(COALESCE(t.link_generation, 0)) AS generation FROM {track_assets} a " +
  "JOIN {tracks} t ON t.id = a.track_id WHERE a.audio_key = ?";

/** The part of the library's store that writes and reads tracks. */
export class TrackQueries {
  constructor(protected readonly database: KnexDatabase) {}

  async insertTracks(tx: Transaction, tracks: readonly NewTrack[]): Promise<void> {
    const session = sessionOf(tx);
    await session.insert(TRACKS, tracks.map(TRACKS.toRow));
    await session.insert(TRACK_TAGS, tracks.flatMap(toTagRows));
    await session.insert(TRACK_ASSETS, tracks.flatMap(toAssetRows));
    await session.insert(TRACK_LYRICS, tracks.flatMap(toLyricsRows));
    await insertSearchRows(session, searchRowsOfTracks(tracks));
  }

  tracksOfJobs(jobIds: readonly JobId[]): Promise<Map<JobId, Track[]>> {
    return this.database.reading(async (session) => {
      const tracks = await complete(session, await allIn<TrackRow>(session, OF_JOBS, jobIds));
      return groupBy(tracks, ({ jobId }) => jobId as JobId);
    });
  }

  shownTracksOfJobs(jobIds: readonly JobId[]): Promise<Map<JobId, ShownTrack[]>> {
    return shownTracksOfJobs(this.database, jobIds);
  }

  findTracks(ids: readonly TrackId[]): Promise<Map<TrackId, Track>> {
    return this.database.reading(async (session) => {
      const found = new Map<TrackId, Track>();
      for await (const part of inChunks([...new Set(ids)])) {
        const tracks = await complete(session, await allIn<TrackRow>(session, FIND, part));
        for (const track of tracks) found.set(track.id, track);
      }
      return found;
    });
  }

  async lockTrack(tx: Transaction, id: TrackId): Promise<Track | null> {
    const session = sessionOf(tx);
    const rows = await session.all<TrackRow>(FIND_ONE + this.database.dialect.forUpdate, [id]);
    return (await complete(session, rows))[0] ?? null;
  }

  findLyrics(id: TrackId): Promise<Lyrics | null> {
    return oneOf<LyricsRow, Lyrics>(this.database, LYRICS_OF, [id], toLyrics);
  }

  async namedAudioKeys(keys: readonly string[]): Promise<Set<string>> {
    const rows = await allIn<Pick<AssetRow, "audio_key">>(this.database, NAMED_KEYS, keys);
    return new Set(rows.map((row) => row.audio_key));
  }

  linkGeneration(audioKey: string): Promise<number | null> {
    const generationOf = (row: { readonly generation: number | null }): number | null => row.generation;
    return oneOf(this.database, LINK_GENERATION, [audioKey], generationOf);
  }

  findSharedTrack(shareToken: string): Promise<Track | null> {
    return this.database.reading(async (session) => {
      const [track] = await complete(session, await session.all<TrackRow>(SHARED, [shareToken]));
      return track ?? null;
    });
  }

  async shareTrack(tx: Transaction, id: TrackId, shareToken: string): Promise<string | null> {
    const session = sessionOf(tx);
    // Waits for a transaction that shares the track at the same time, and then reads what that one wrote.
    await session.run(SHARE, [shareToken, id]);
    return oneOf(session, SHARED_UNDER, [id], (row: Pick<TrackRow, "share_token">) => row.share_token);
  }

  async unshareTrack(tx: Transaction, id: TrackId): Promise<boolean> {
    return (await sessionOf(tx).run(UNSHARE, [id])) > 0;
  }
}

async function complete(session: Session, rows: readonly TrackRow[]): Promise<Track[]> {
  const ids = rows.map(({ id }) => id);
  const tags = groupBy(await allIn<TagRow>(session, TAGS, ids), (row) => row.track_id);
  const assets = groupBy(await allIn<AssetRow>(session, ASSETS, ids), (row) => row.track_id);
  return rows.map((row) => toTrack(row, tags.get(row.id) ?? [], assets.get(row.id) ?? []));
}
