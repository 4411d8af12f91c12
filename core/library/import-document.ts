import { MODEL_LIMITS } from "../ports/music-provider.js";
import type { TrackTags } from "../ports/music-provider.js";
import { type Entry, MembersReader, type Issues } from "./members-reader.js";
import { PLAYLIST_TRACKS_MAX } from "./playlist.js";
import { TITLE_MAX_LENGTH } from "./playlist-rules.js";

/** What both kinds of items of an import have. */
export interface ImportItem {
  /** Its path: `tracks[3]`. */
  readonly path: string;
  /** Names the item within its list. */
  readonly ref: string;
  readonly accountId: string | null;
  readonly visibility: "public" | "private";
  readonly title: string;
}

export interface ImportTrack extends ImportItem {
  readonly artistLabel: string;
  readonly bpm: number | null;
  /** Relative to the place of the import. */
  readonly audioFile: string | null;
  readonly prompt: string | null;
  readonly tags: TrackTags;
}

export interface ImportPlaylist extends ImportItem {
  /** Refs of tracks of the same import. */
  readonly tracks: readonly Entry[];
}

export interface ImportDocument {
  readonly tracks: readonly ImportTrack[];
  readonly playlists: readonly ImportPlaylist[];
}

const REF_MAX_LENGTH = 100;
const ARTIST_MAX_LENGTH = 200;
const TAG_MAX_LENGTH = 50;
const TAGS_MAX = 50;
const BPM_MAX = 1_000;
const PATH_MAX_LENGTH = 1_000;

const ITEM = ["ref", "account", "visibility", "title"];

/**
 * Reads an import file and notes every issue of its form. A member with an issue still gets a value, so that the rest
 * can be checked too.
 *
 * @see decisions, "How it is started and operated" (`library import`)
 */
export function readImportDocument(value: unknown, issues: Issues): ImportDocument {
  const reader = MembersReader.of(value, "", ["tracks", "playlists"], issues);
  if (reader === null) return { tracks: [], playlists: [] };
  if (!reader.has("tracks") && !reader.has("playlists")) issues.add("", "must have tracks, playlists or both");
  return {
    tracks: reader.list("tracks", (item, path) => readTrack(item, path, issues)),
    playlists: reader.list("playlists", (item, path) => readPlaylist(item, path, issues)),
  };
}

function readTrack(value: unknown, path: string, issues: Issues): ImportTrack | null {
  const reader = MembersReader.of(
    value,
    path,
    [...ITEM, "artist_label", "bpm", "audio_file", "prompt", "tags"],
    issues,
  );
  if (reader === null) return null;
  return {
    ...readItem(reader, path),
    artistLabel: reader.line("artist_label", ARTIST_MAX_LENGTH) ?? "",
    bpm: reader.number("bpm", BPM_MAX),
    audioFile: readPath(reader, issues),
    prompt: reader.text("prompt", MODEL_LIMITS.promptLength, { isOptional: true }),
    tags: readTags(reader, issues),
  };
}

function readPlaylist(value: unknown, path: string, issues: Issues): ImportPlaylist | null {
  const reader = MembersReader.of(value, path, [...ITEM, "tracks"], issues);
  if (reader === null) return null;
  return { ...readItem(reader, path), tracks: reader.entries("tracks", REF_MAX_LENGTH, PLAYLIST_TRACKS_MAX) };
}

function readItem(reader: MembersReader, path: string): ImportItem {
  return {
    path,
    ref: reader.line("ref", REF_MAX_LENGTH) ?? "",
    accountId: reader.line("account", REF_MAX_LENGTH, { isOptional: true }),
    visibility: reader.choice("visibility", ["public", "private"]),
    title: reader.line("title", TITLE_MAX_LENGTH) ?? "",
  };
}

/** Lower case, as tags are everywhere; one that comes twice counts once. */
function readTags(reader: MembersReader, issues: Issues): TrackTags {
  const groups = ["mood", "activity", "genre", "other"] as const;
  const tags = reader.has("tags")
    ? MembersReader.of(reader.value("tags"), reader.pathOf("tags"), groups, issues)
    : null;
  const read = (group: (typeof groups)[number]): string[] => {
    const words = tags?.lines(group, TAG_MAX_LENGTH, TAGS_MAX, { isOptional: true }) ?? [];
    return [...new Set(words.map((word) => word.trim().toLowerCase()))];
  };
  return { mood: read("mood"), activity: read("activity"), genre: read("genre"), other: read("other") };
}

function readPath(reader: MembersReader, issues: Issues): string | null {
  const path = reader.line("audio_file", PATH_MAX_LENGTH, { isOptional: true });
  if (path === null) return null;
  const leadsOut =
    path.startsWith("/") || path.includes("\\") || /^[a-z]:/i.test(path) || path.split("/").includes("..");
  if (!leadsOut) return path;
  issues.add(reader.pathOf("audio_file"), "must be a path relative to the import file, with / and without ..");
  return null;
}
