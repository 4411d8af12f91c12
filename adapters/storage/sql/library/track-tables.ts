import type { AccountId, JobId, TrackId } from "../../../../core/ids.js";
import type { Track, TrackAsset } from "../../../../core/library/track.js";
import { base64, json, named, numberOr, plain, type RowOf, seconds, table } from "../table.js";

export const TRACKS = table(
  "tracks",
  {
    id: plain<TrackId>(),
    accountId: plain<AccountId | null>(),
    jobId: plain<JobId | null>(),
    position: plain<number>(),
    title: plain<string>(),
    artistLabel: plain<string>(),
    bpm: plain<number | null>(),
    prompt: plain<string | null>(),
    visibility: plain<Track["visibility"]>(),
    /** A byte for each point. */
    waveform: base64<Track["waveform"]>(),
    shareToken: plain<string | null>(),
    linkGeneration: numberOr(0),
    origin: json<Track["origin"]>(),
    createdAt: plain<number>(),
  },
  ["id"],
);
export type TrackRow = RowOf<typeof TRACKS>;

export const TRACK_TAGS = table(
  "track_tags",
  {
    trackId: plain<TrackId>(),
    category: plain<keyof Track["tags"]>(),
    position: plain<number>(),
    tag: plain<string>(),
  },
  ["trackId", "category", "position"],
);
export type TagRow = RowOf<typeof TRACK_TAGS>;

export const TRACK_ASSETS = table(
  "track_assets",
  {
    trackId: plain<TrackId>(),
    position: plain<number>(),
    role: plain<TrackAsset["role"]>(),
    label: plain<string>(),
    audioKey: plain<string>(),
    contentType: plain<string>(),
    sizeBytes: plain<number>(),
    durationSeconds: named("duration_ms", seconds()),
  },
  ["trackId", "position"],
);
export type AssetRow = RowOf<typeof TRACK_ASSETS>;

const CATEGORIES: readonly TagRow["category"][] = ["mood", "activity", "genre", "other"];

export function toTagRows({ id: trackId, tags }: Track): TagRow[] {
  return CATEGORIES.flatMap((category) =>
    tags[category].map((tag, position) => TRACK_TAGS.toRow({ trackId, category, position, tag })),
  );
}

export function toAssetRows({ id: trackId, assets }: Track): AssetRow[] {
  return assets.map((asset, position) => TRACK_ASSETS.toRow({ trackId, position, ...asset }));
}

/** @param tags,assets those of this track, in their order */
export function toTrack(row: TrackRow, tags: readonly TagRow[], assets: readonly AssetRow[]): Track {
  const tagsOf = (category: TagRow["category"]): string[] =>
    tags.filter((tag) => tag.category === category).map((tag) => tag.tag);
  return {
    tags: { mood: tagsOf("mood"), activity: tagsOf("activity"), genre: tagsOf("genre"), other: tagsOf("other") },
    assets: assets.map(toAsset),
    ...TRACKS.fromRow(row),
  };
}

function toAsset(row: AssetRow): TrackAsset {
  const { trackId: _trackId, position: _position, ...asset } = TRACK_ASSETS.fromRow(row);
  return asset;
}
