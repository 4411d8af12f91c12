import type { JobId, TrackId } from "../../../../core/ids.js";
import { type ShownAsset, SHOWN_ROLES, type ShownTrack } from "../../../../core/library/track.js";
import type { KnexDatabase } from "../database.js";
import { allIn } from "../lists.js";
import type { AssetRow, TrackRow } from "./track-tables.js";

/** A track with one of the files that are shown, or none. */
interface ShownRow
  extends
    Pick<TrackRow, "id" | "position" | "title" | "artist_label" | "bpm" | "share_token" | "link_generation">,
    Pick<AssetRow, "duration_ms"> {
  readonly job_id: JobId;
  readonly role: ShownAsset["role"] | null;
  readonly audio_key: string | null;
  readonly asset_position: number | null;
}

const ROLES = SHOWN_ROLES.map((role) => `'${role}'`).join(", ");

/** Neither tags nor waveforms nor prompts, which are the most of a track and are not shown. */
const OF_JOBS = (marks: string): string =>
  `SELECT t.job_id, t.id, t.position, t.title, t.artist_label, t.bpm, t.share_token, t.link_generation, a.role,
  a.audio_key, a.duration_ms, a.position AS asset_position
  FROM {tracks} t LEFT JOIN {track_assets} a ON a.track_id = t.id AND a.role IN (${ROLES})
  WHERE t.job_id IN (${marks})`;

/** What is shown of the tracks of these jobs, in their order; a job without tracks is left out. One read. */
export async function shownTracksOfJobs(
  database: KnexDatabase,
  jobIds: readonly JobId[],
): Promise<Map<JobId, ShownTrack[]>> {
  const rows = await database.reading((session) => allIn<ShownRow>(session, OF_JOBS, jobIds));
  // Few, and of several jobs: the database need not sort them.
  rows.sort((a, b) => a.position - b.position || (a.asset_position ?? 0) - (b.asset_position ?? 0));
  const assets = new Map<TrackId, ShownAsset[]>();
  const tracks = new Map<JobId, ShownTrack[]>();
  for (const row of rows) {
    let ofTrack = assets.get(row.id);
    if (ofTrack === undefined) {
      assets.set(row.id, (ofTrack = []));
      const track = toShownTrack(row, ofTrack);
      const ofJob = tracks.get(row.job_id);
      if (ofJob === undefined) tracks.set(row.job_id, [track]);
      else ofJob.push(track);
    }
    const asset = toAsset(row);
    if (asset !== null) ofTrack.push(asset);
  }
  return tracks;
}

function toShownTrack(row: ShownRow, assets: readonly ShownAsset[]): ShownTrack {
  return {
    id: row.id,
    title: row.title,
    artistLabel: row.artist_label,
    bpm: row.bpm,
    shareToken: row.share_token,
    linkGeneration: row.link_generation ?? 0,
    assets,
  };
}

function toAsset(row: ShownRow): ShownAsset | null {
  if (row.role === null || row.audio_key === null) return null;
  return {
    role: row.role,
    audioKey: row.audio_key,
    durationSeconds: row.duration_ms === null ? null : row.duration_ms / 1000,
  };
}
