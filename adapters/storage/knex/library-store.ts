import type { JobId, TrackId } from "../../../core/ids.js";
import type { Track } from "../../../core/library/track.js";
import type { LibraryStore } from "../../../core/ports/library-store.js";
import type { Transaction } from "../../../core/ports/unit-of-work.js";
import type { KnexDatabase } from "./database.js";
import { columnsOf, sessionOf } from "./session.js";
import {
  type AssetRow,
  type TagRow,
  toAssetRows,
  toTagRows,
  toTrack,
  toTrackRow,
  TRACK_ASSETS,
  TRACK_TAGS,
  type TrackRow,
  TRACKS,
} from "./track-rows.js";

const OF_JOB = `SELECT ${columnsOf(TRACKS)} FROM tracks WHERE job_id = ? ORDER BY position`;
const TAGS = `SELECT ${columnsOf(TRACK_TAGS)} FROM track_tags WHERE track_id = ? ORDER BY category, position`;
const ASSETS = `SELECT ${columnsOf(TRACK_ASSETS)} FROM track_assets WHERE track_id = ? ORDER BY position`;

export class KnexLibraryStore implements LibraryStore {
  constructor(private readonly database: KnexDatabase) {}

  async insertTracks(tx: Transaction, tracks: readonly Track[]): Promise<void> {
    const session = sessionOf(tx);
    await session.insert(TRACKS, tracks.map(toTrackRow));
    await session.insert(TRACK_TAGS, tracks.flatMap(toTagRows));
    await session.insert(TRACK_ASSETS, tracks.flatMap(toAssetRows));
  }

  async tracksOfJobs(jobIds: readonly JobId[]): Promise<Map<JobId, Track[]>> {
    return this.database.reading(async (session) => {
      const rows = await session.allEach<TrackRow>(
        OF_JOB,
        jobIds.map((id) => [id]),
      );
      const trackIds = rows.map((row) => [row.id]);
      const tags = groupByTrack(await session.allEach<TagRow>(TAGS, trackIds));
      const assets = groupByTrack(await session.allEach<AssetRow>(ASSETS, trackIds));
      const tracks = new Map<JobId, Track[]>();
      for (const row of rows) {
        if (row.job_id === null) continue;
        const track = toTrack(row, tags.get(row.id) ?? [], assets.get(row.id) ?? []);
        tracks.set(row.job_id, [...(tracks.get(row.job_id) ?? []), track]);
      }
      return tracks;
    });
  }
}

function groupByTrack<Row extends { readonly track_id: TrackId }>(rows: readonly Row[]): Map<TrackId, Row[]> {
  const groups = new Map<TrackId, Row[]>();
  for (const row of rows) {
    const group = groups.get(row.track_id);
    if (group === undefined) groups.set(row.track_id, [row]);
    else group.push(row);
  }
  return groups;
}
