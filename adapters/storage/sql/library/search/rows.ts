import type { AccountId, PlaylistId, TrackId } from "../../../../../core/ids.js";
import {
  type SearchableTrack,
  type SearchTexts,
  textsOfTitle,
  textsOfTrack,
} from "../../../../../core/library/search-texts.js";
import type { Playlist } from "../../../../../core/library/playlist.js";
import type { Track } from "../../../../../core/library/track.js";
import { named, plain, type RowOf, table } from "../../table.js";

const ITEM = {
  partition: named("shelf", plain<string>()),
  createdAt: plain<number>(),
  itemId: plain<TrackId | PlaylistId>(),
  title: plain<string>(),
  label: plain<string>(),
  prompt: plain<string>(),
  tags: plain<string>(),
};

/** All of them, each with its `slot` in a segment ({@link slotOf}), or null while it is in none. */
export const SEARCH_ITEMS = table("search_items", ITEM, ["partition", "createdAt", "itemId"]);

/** Those that are in no segment once more: every search goes through them. */
export const SEARCH_UNINDEXED = table("search_loose", ITEM, ["partition", "createdAt", "itemId"]);

/** What can be found. The words stand with a blank before each, the tags each as a line of its own. */
export type ItemRow = RowOf<typeof SEARCH_ITEMS>;

/**
 * A note that a partition got new items. Each is a row of its own, so that concurrent writers do not wait for each
 * other.
 */
export const SEARCH_DUE = table(
  "search_due",
  { partition: named("shelf", plain<string>()), itemId: plain<ItemRow["item_id"]>(), createdAt: plain<number>() },
  ["partition", "itemId"],
);

export type DueRow = RowOf<typeof SEARCH_DUE>;

/**
 * A number of items of a partition, with an index of their words. A segment is never changed, apart from items that are
 * deleted. `newest` and `oldest` are of its items; those of other segments may lie between. `dead` has the positions
 * that were deleted, as bits; null: none.
 */
export const SEARCH_SEGMENTS = table(
  "search_segments",
  {
    partition: named("shelf", plain<string>()),
    segment: plain<number>(),
    newest: plain<number>(),
    oldest: plain<number>(),
    dead: plain<Buffer | null>(),
  },
  ["partition", "segment"],
);

export type SegmentRow = RowOf<typeof SEARCH_SEGMENTS>;

/**
 * Where a word, the beginning of words or a tag stands in a segment ({@link encodePlaces}). The rows of a segment are
 * written one behind another.
 */
export const SEARCH_POSTINGS = table(
  "search_postings",
  {
    partition: named("shelf", plain<string>()),
    segment: plain<number>(),
    term: plain<string>(),
    places: plain<Buffer>(),
  },
  ["partition", "segment", "term"],
);

export type PostingRow = RowOf<typeof SEARCH_POSTINGS>;

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
  partition: string | null,
  { id: itemId, createdAt }: { readonly id: ItemRow["item_id"]; readonly createdAt: number },
  texts: SearchTexts | null,
): ItemRow[] {
  if (partition === null || texts === null) return [];
  const [title, label, prompt] = PLACES.map((place) => texts[place].map(wordMark).join("")) as [string, string, string];
  const moods = texts.moods.map((tag) => tagMark("mood", tag));
  const tags = [...moods, ...texts.activities.map((tag) => tagMark("activity", tag))].join("");
  return [SEARCH_ITEMS.toRow({ partition, createdAt, itemId, title, label, prompt, tags })];
}
