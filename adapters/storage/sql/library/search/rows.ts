import type { AccountId, PlaylistId, TrackId } from "../../../../../core/ids.js";
import {
  type SearchableTrack,
  type SearchTexts,
  textsOfTitle,
  textsOfTrack,
} from "../../../../../core/library/search-texts.js";
import type { Playlist } from "../../../../../core/library/playlist.js";
import type { Track } from "../../../../../core/library/track.js";
import type { Table } from "../../session.js";

/** The searchable items. Each word has a blank before it, each tag a line of its own. */
export interface ItemRow {
  shelf: string;
  created_at: number;
  item_id: TrackId | PlaylistId;
  title: string;
  label: string;
  prompt: string;
  tags: string;
}

const ITEM: Omit<Table<ItemRow>, "name"> = {
  columns: ["shelf", "created_at", "item_id", "title", "label", "prompt", "tags"],
  key: ["shelf", "created_at", "item_id"],
};

/** All of them, each with its `slot` in a segment ({@link slotOf}), or null while it is in none. */
export const SEARCH_ITEMS: Table<ItemRow> = { name: "search_items", ...ITEM };

/** Those that are in no segment once more, side by side: every search goes through them. */
export const SEARCH_UNINDEXED: Table<ItemRow> = { name: "search_loose", ...ITEM };

/**
 * A note that a partition got new items. Each is a row of its own, so that concurrent writers do not wait for each
 * other.
 */
export interface DueRow {
  shelf: string;
  item_id: ItemRow["item_id"];
  created_at: number;
}

export const SEARCH_DUE: Table<DueRow> = {
  name: "search_due",
  columns: ["shelf", "item_id", "created_at"],
  key: ["shelf", "item_id"],
};

/**
 * A number of items of a partition, with an index of their words. A segment never changes, except that items are
 * deleted from it.
 */
export interface SegmentRow {
  shelf: string;
  segment: number;
  /** Of its items; those of other segments may lie between. */
  newest: number;
  oldest: number;
  /** Positions that were deleted, as bits; null: none */
  dead: Buffer | null;
}

export const SEARCH_SEGMENTS: Table<SegmentRow> = {
  name: "search_segments",
  columns: ["shelf", "segment", "newest", "oldest", "dead"],
  key: ["shelf", "segment"],
};

/**
 * Where a word, the beginning of words or a tag stands in a segment ({@link encodePlaces}). The rows of a segment are
 * written one behind another.
 */
export interface PostingRow {
  shelf: string;
  segment: number;
  term: string;
  places: Buffer;
}

export const SEARCH_POSTINGS: Table<PostingRow> = {
  name: "search_postings",
  columns: ["shelf", "segment", "term", "places"],
  key: ["shelf", "segment", "term"],
};

/** What the words of an item are listed in, in the order of relevance. */
export const PLACES = ["title", "label", "prompt"] as const;
export type Place = (typeof PLACES)[number];

/** What begins the tags of each group, in items and in postings. */
export const TAG_PLACES = { mood: "m", activity: "a" } as const;

export type Kind = "tracks" | "playlists";

/**
 * A partition: all public items, or the private items of one account; null for items that no viewer sees.
 */
export function partitionOf(
  kind: Kind,
  { visibility, accountId }: Pick<Track, "visibility" | "accountId">,
): string | null {
  const prefix = kind === "tracks" ? "" : "pls/";
  if (visibility === "public") return `${prefix}public`;
  return accountId === null ? null : prefix + accountId;
}

/** The partitions that this viewer sees. No item is in two of them. */
export function partitionsOf(kind: Kind, viewer: AccountId): string[] {
  const [shared, own] = (["public", "private"] as const).map((visibility) =>
    partitionOf(kind, { visibility, accountId: viewer }),
  );
  return [shared ?? "", own ?? ""];
}

export function searchRowsOfTracks(tracks: readonly SearchableTrack[]): ItemRow[] {
  return tracks.flatMap((track) => rowOf(partitionOf("tracks", track), track, textsOfTrack(track)));
}

export function searchRowsOfPlaylists(playlists: readonly Playlist[]): ItemRow[] {
  return playlists.flatMap((playlist) =>
    rowOf(partitionOf("playlists", playlist), playlist, textsOfTitle(playlist.title)),
  );
}

/** A word as the item's text has its beginning. */
export function wordMark(word: string): string {
  return ` ${word}`;
}

/** A tag as the item's text has it. */
export function tagMark(place: keyof typeof TAG_PLACES, tag: string): string {
  return `\n${TAG_PLACES[place]}${tag}\n`;
}

function rowOf(
  shelf: string | null,
  item: { readonly id: ItemRow["item_id"]; readonly createdAt: number },
  texts: SearchTexts | null,
): ItemRow[] {
  if (shelf === null || texts === null) return [];
  const { title, label, prompt, moods, activities } = texts;
  const inLine = (words: readonly string[]): string => words.map(wordMark).join("");
  const tags = [...moods.map((tag) => tagMark("mood", tag)), ...activities.map((tag) => tagMark("activity", tag))].join(
    "",
  );
  const key = { shelf, created_at: item.createdAt, item_id: item.id };
  return [{ ...key, title: inLine(title), label: inLine(label), prompt: inLine(prompt), tags }];
}
