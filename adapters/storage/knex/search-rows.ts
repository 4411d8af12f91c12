import type { AccountId, PlaylistId, TrackId } from "../../../core/ids.js";
import { type SearchableTrack, type SearchTexts, textsOfTitle, textsOfTrack } from "../../../core/library/search-texts.js";
import type { Playlist } from "../../../core/library/playlist.js";
import type { Track } from "../../../core/library/track.js";
import type { Session, Table } from "./session.js";

/** Characters of a word or tag that stand in the index. What is longer is looked up by its beginning, and then compared. */
export const TERM_LENGTH = 40;

/** Where a word was found, in the order of relevance. The first character of its entries. */
export const PLACES = { title: "0", label: "1", prompt: "2" } as const;
/** The same for whole tags. */
export const TAG_PLACES = { mood: "m", activity: "a" } as const;

/** An entry that every item has: what is counted off on the way through them. */
export const EVERY = "*";

/**
 * One word of an item. Entries of a shelf and a term lie side by side in the order of time, and are all there is of a row: a prefix
 * is a range, a tag is a sorted list.
 */
export interface TermRow {
  shelf: string;
  term: string;
  created_at: number;
  item_id: TrackId | PlaylistId;
}

export const SEARCH_TERMS: Table<TermRow> = {
  name: "search_terms",
  columns: ["shelf", "term", "created_at", "item_id"],
  key: ["shelf", "term", "created_at", "item_id"],
};

/** What can be found, newest last. The words stand with a blank before each, the tags each as a line of its own. */
export interface ItemRow {
  shelf: string;
  created_at: number;
  item_id: TrackId | PlaylistId;
  title: string;
  label: string;
  prompt: string;
  tags: string;
}

export const SEARCH_ITEMS: Table<ItemRow> = {
  name: "search_items",
  columns: ["shelf", "created_at", "item_id", "title", "label", "prompt", "tags"],
  key: ["shelf", "created_at", "item_id"],
};

const DELETE_ITEM = "DELETE FROM search_items WHERE shelf = ? AND created_at = ? AND item_id = ?";
const DELETE_TERM = "DELETE FROM search_terms WHERE shelf = ? AND term = ? AND created_at = ? AND item_id = ?";

export type Kind = "tracks" | "playlists";

/** What some viewers see together: all that is public, or what is private to one account; null for what nobody sees. */
export function shelfOf(kind: Kind, { visibility, accountId }: Pick<Track, "visibility" | "accountId">): string | null {
  const prefix = kind === "tracks" ? "" : "pls/";
  if (visibility === "public") return `${prefix}public`;
  return accountId === null ? null : prefix + accountId;
}

/** What this viewer sees. Nothing stands on both. */
export function shelvesOf(kind: Kind, viewer: AccountId): string[] {
  const [shared, own] = (["public", "private"] as const).map((visibility) => shelfOf(kind, { visibility, accountId: viewer }));
  return [shared ?? "", own ?? ""];
}

export interface SearchRows {
  readonly items: readonly ItemRow[];
  readonly terms: readonly TermRow[];
}

export function searchRowsOfTracks(tracks: readonly SearchableTrack[]): SearchRows {
  return together(tracks.map((track) => rowsOf(shelfOf("tracks", track), track, textsOfTrack(track))));
}

export function searchRowsOfPlaylists(playlists: readonly Playlist[]): SearchRows {
  return together(playlists.map((playlist) => rowsOf(shelfOf("playlists", playlist), playlist, textsOfTitle(playlist.title))));
}

export async function insertSearchRows(session: Session, { items, terms }: SearchRows): Promise<void> {
  await session.insert(SEARCH_ITEMS, items);
  await session.insert(SEARCH_TERMS, terms);
}

export async function deleteSearchRows(session: Session, { items, terms }: SearchRows): Promise<void> {
  await session.runEach(DELETE_ITEM, items.map(({ shelf, created_at, item_id }) => [shelf, created_at, item_id]));
  await session.runEach(DELETE_TERM, terms.map(({ shelf, term, created_at, item_id }) => [shelf, term, created_at, item_id]));
}

/** A word as the item's text has its beginning. */
export function wordMark(word: string): string {
  return ` ${word}`;
}

/** A tag as the item's text has it. */
export function tagMark(place: keyof typeof TAG_PLACES, tag: string): string {
  return `\n${TAG_PLACES[place]}${tag}\n`;
}

/** The entry of a word or tag, whole or cut. */
export function termOf(place: string, text: string): string {
  // Most are short, and those that are not may have characters of two units.
  return place + (text.length <= TERM_LENGTH ? text : [...text].slice(0, TERM_LENGTH).join(""));
}

function rowsOf(shelf: string | null, item: { readonly id: ItemRow["item_id"]; readonly createdAt: number }, texts: SearchTexts | null): SearchRows {
  if (shelf === null || texts === null) return { items: [], terms: [] };
  const { title, label, prompt, moods, activities } = texts;
  const terms = [
    EVERY,
    ...title.map((word) => termOf(PLACES.title, word)),
    ...label.map((word) => termOf(PLACES.label, word)),
    ...prompt.map((word) => termOf(PLACES.prompt, word)),
    ...moods.map((tag) => termOf(TAG_PLACES.mood, tag)),
    ...activities.map((tag) => termOf(TAG_PLACES.activity, tag)),
  ];
  const key = { shelf, created_at: item.createdAt, item_id: item.id };
  const inLine = (words: readonly string[]): string => words.map(wordMark).join("");
  const tags = [...moods.map((tag) => tagMark("mood", tag)), ...activities.map((tag) => tagMark("activity", tag))].join("");
  return {
    items: [{ ...key, title: inLine(title), label: inLine(label), prompt: inLine(prompt), tags }],
    terms: [...new Set(terms)].map((term) => ({ ...key, term })),
  };
}

/** In the order of the keys: rows that lie side by side are written one after another. */
function together(rows: readonly SearchRows[]): SearchRows {
  const terms = rows.flatMap((one) => one.terms);
  return {
    items: rows.flatMap((one) => one.items),
    terms: terms.sort((a, b) => compare(a.shelf, b.shelf) || compare(a.term, b.term) || a.created_at - b.created_at || compare(a.item_id, b.item_id)),
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
