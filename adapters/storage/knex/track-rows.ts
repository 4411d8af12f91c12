import type { AccountId, JobId, TrackId } from "../../../core/ids.js";
import type { Track, TrackAsset } from "../../../core/library/track.js";
import { fromJson, toJson } from "./rows.js";
import type { Table } from "./session.js";

export interface TrackRow {
  id: TrackId;
  account_id: AccountId | null;
  job_id: JobId | null;
  position: number;
  title: string;
  artist_label: string;
  bpm: number | null;
  prompt: string | null;
  visibility: Track["visibility"];
  /** A byte for each point, in base64. */
  waveform: string | null;
  share_token: string | null;
  /** null on tracks that are older than the column: 0. */
  link_generation: number | null;
  origin: string | null;
  created_at: number;
}

export const TRACKS: Table<TrackRow> = {
  name: "tracks",
  columns: [
    "id",
    "account_id",
    "job_id",
    "position",
    "title",
    "artist_label",
    "bpm",
    "prompt",
    "visibility",
    "waveform",
    "share_token",
    "link_generation",
    "origin",
    "created_at",
  ],
  key: ["id"],
};

export interface TagRow {
  track_id: TrackId;
  category: keyof Track["tags"];
  position: number;
  tag: string;
}

export const TRACK_TAGS: Table<TagRow> = {
  name: "track_tags",
  columns: ["track_id", "category", "position", "tag"],
  key: ["track_id", "category", "position"],
};

export interface AssetRow {
  track_id: TrackId;
  position: number;
  role: TrackAsset["role"];
  label: string;
  audio_key: string;
  content_type: string;
  size_bytes: number;
  duration_ms: number | null;
}

export const TRACK_ASSETS: Table<AssetRow> = {
  name: "track_assets",
  columns: ["track_id", "position", "role", "label", "audio_key", "content_type", "size_bytes", "duration_ms"],
  key: ["track_id", "position"],
};

const CATEGORIES: readonly TagRow["category"][] = ["mood", "activity", "genre", "other"];

export function toTrackRow(track: Track): TrackRow {
  return {
    id: track.id,
    account_id: track.accountId,
    job_id: track.jobId,
    position: track.position,
    title: track.title,
    artist_label: track.artistLabel,
    bpm: track.bpm,
    prompt: track.prompt,
    visibility: track.visibility,
    waveform: track.waveform === null ? null : Buffer.from(track.waveform).toString("base64"),
    share_token: track.shareToken,
    link_generation: track.linkGeneration,
    origin: toJson(track.origin),
    created_at: track.createdAt,
  };
}

export function toTagRows(track: Track): TagRow[] {
  return CATEGORIES.flatMap((category) =>
    track.tags[category].map((tag, position) => ({ track_id: track.id, category, position, tag })),
  );
}

export function toAssetRows(track: Track): AssetRow[] {
  return track.assets.map((asset, position) => ({
    track_id: track.id,
    position,
    role: asset.role,
    label: asset.label,
    audio_key: asset.audioKey,
    content_type: asset.contentType,
    size_bytes: asset.sizeBytes,
    duration_ms: asset.durationSeconds === null ? null : Math.round(asset.durationSeconds * 1000),
  }));
}

/** @param tags,assets those of this track, in their order */
export function toTrack(row: TrackRow, tags: readonly TagRow[], assets: readonly AssetRow[]): Track {
  const tagsOf = (category: TagRow["category"]): string[] =>
    tags.filter((tag) => tag.category === category).map((tag) => tag.tag);
  return {
    id: row.id,
    accountId: row.account_id,
    jobId: row.job_id,
    position: row.position,
    title: row.title,
    artistLabel: row.artist_label,
    bpm: row.bpm,
    prompt: row.prompt,
    visibility: row.visibility,
    tags: { mood: tagsOf("mood"), activity: tagsOf("activity"), genre: tagsOf("genre"), other: tagsOf("other") },
    assets: assets.map(toAsset),
    waveform: row.waveform === null ? null : Buffer.from(row.waveform, "base64"),
    shareToken: row.share_token,
    linkGeneration: row.link_generation ?? 0,
    origin: fromJson<Track["origin"]>(row.origin),
    createdAt: row.created_at,
  };
}

function toAsset(row: AssetRow): TrackAsset {
  return {
    role: row.role,
    label: row.label,
    audioKey: row.audio_key,
    contentType: row.content_type,
    sizeBytes: row.size_bytes,
    durationSeconds: row.duration_ms === null ? null : row.duration_ms / 1000,
  };
}
