import type { JobId, TrackId } from "../../../../core/ids.js";
import type { Track } from "../../../../core/library/track.js";
import { allIn, groupBy, inChunks } from "../lists.js";
import { columnsOf, type Session } from "../session.js";
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

const FIND = (marks: string): string => `SELECT ${columnsOf(TRACKS)} FROM tracks WHERE id IN (${marks})`;
const TAGS = (marks: string): string =>
  `SELECT ${columnsOf(TRACK_TAGS)} FROM track_tags WHERE track_id IN (${marks}) ORDER BY track_id, category, position`;
const ASSETS = (marks: string): string =>
  `SELECT ${columnsOf(TRACK_ASSETS)} FROM track_assets WHERE track_id IN (${marks}) ORDER BY track_id, position`;
const OF_JOB = `SELECT ${columnsOf(TRACKS)} FROM tracks WHERE job_id = ? ORDER BY position`;
const NAMED_KEYS = (marks: string): string => `SELECT audio_key FROM track_assets WHERE audio_key IN (${marks})`;
const SHARED = `SELECT ${columnsOf(TRACKS)} FROM tracks WHERE share_token = ?`;
// The row is found, and so kept from changing, whether it has a token or not.
const SHARE = "UPDATE tracks SET share_token = COALESCE(share_token, ?) WHERE id = ?";
const SHARED_UNDER = "SELECT share_token FROM tracks WHERE id = ?";
// MySQL fills assignments in from the left: the token is still there where the generation is worked out.
const UNSHARE =
  "UPDATE tracks SET link_generation = COALESCE(link_generation, 0) + (share_token IS NOT NULL), share_token = NULL " +
  "WHERE id = ?";
const LINK_GENERATION =
  "SELECT MAX(COALESCE(t.link_generation, 0)) AS generation FROM track_assets a JOIN tracks t ON t.id = a.track_id " +
  "WHERE a.audio_key = ?";

export async function insertTracks(session: Session, tracks: readonly Track[]): Promise<void> {
  await session.insert(TRACKS, tracks.map(TRACKS.toRow));
  await session.insert(TRACK_TAGS, tracks.flatMap(toTagRows));
  await session.insert(TRACK_ASSETS, tracks.flatMap(toAssetRows));
}

export async function findTracks(session: Session, ids: readonly TrackId[]): Promise<Map<TrackId, Track>> {
  const found = new Map<TrackId, Track>();
  for await (const part of inChunks([...new Set(ids)])) {
    for (const track of await complete(session, await allIn<TrackRow>(session, FIND, part))) found.set(track.id, track);
  }
  return found;
}

/** The tracks of each job in the order of their positions. */
export async function tracksOfJobs(session: Session, jobIds: readonly JobId[]): Promise<Track[]> {
  const lists = [...new Set(jobIds)].map((id) => [id]);
  return complete(session, await session.allEach<TrackRow>(OF_JOB, lists));
}

export async function namedAudioKeys(session: Session, keys: readonly string[]): Promise<Set<string>> {
  const rows = await allIn<Pick<AssetRow, "audio_key">>(session, NAMED_KEYS, keys);
  return new Set(rows.map((row) => row.audio_key));
}

/** @returns null when no track has this file */
export async function linkGeneration(session: Session, audioKey: string): Promise<number | null> {
  const [row] = await session.all<{ readonly generation: number | null }>(LINK_GENERATION, [audioKey]);
  return row?.generation ?? null;
}

export async function findSharedTrack(session: Session, shareToken: string): Promise<Track | null> {
  const [track] = await complete(session, await session.all<TrackRow>(SHARED, [shareToken]));
  return track ?? null;
}

/** @returns the token that it is shared under then; null when there is no such track */
export async function shareTrack(session: Session, id: TrackId, shareToken: string): Promise<string | null> {
  // Whoever shares it at the same time is waited for here, and what they wrote is read.
  await session.run(SHARE, [shareToken, id]);
  const [row] = await session.all<Pick<TrackRow, "share_token">>(SHARED_UNDER, [id]);
  return row?.share_token ?? null;
}

/** @returns false when there is no such track */
export async function unshareTrack(session: Session, id: TrackId): Promise<boolean> {
  return (await session.run(UNSHARE, [id])) > 0;
}

async function complete(session: Session, rows: readonly TrackRow[]): Promise<Track[]> {
  const ids = rows.map(({ id }) => id);
  const tags = groupBy(await allIn<TagRow>(session, TAGS, ids), (row) => row.track_id);
  const assets = groupBy(await allIn<AssetRow>(session, ASSETS, ids), (row) => row.track_id);
  return rows.map((row) => toTrack(row, tags.get(row.id) ?? [], assets.get(row.id) ?? []));
}
