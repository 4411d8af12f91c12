import { type ItemRow, PLACES, tagMark, TAG_PLACES, TERM_LENGTH, termOf, wordMark } from "./search-rows.js";
import type { SqlValue } from "./session.js";

/** Behind every word that begins with what is before it. */
const LAST = "\u{10FFFF}";

export type Places = readonly (keyof typeof PLACES)[];

export const TRACK_CLASSES: readonly Places[] = [["title"], ["title", "label"], ["title", "label", "prompt"]];
/** Of a playlist only the title is searched. */
export const PLAYLIST_PLACES: Places = ["title"];
export const PLAYLIST_CLASSES: readonly Places[] = [PLAYLIST_PLACES];

export interface Wanted {
  readonly words: readonly string[];
  readonly mood: string | null;
  readonly activity: string | null;
}

/** Something that an item must have: a word that begins so, or a tag. */
export interface Condition {
  /** The first of its entries, and what is behind the last, in each of these places. */
  readonly ranges: readonly Range[];
  /** Its entries say all: nothing of it was cut off. */
  readonly isWhole: boolean;
  /** Where its mark stands in an item. */
  readonly columns: readonly (keyof ItemRow)[];
  readonly mark: string;
}

export interface Range {
  readonly from: string;
  /** null: entries are equal to `from` */
  readonly below: string | null;
}

export function conditionsOf({ words, mood, activity }: Wanted, places: Places): Condition[] {
  // Whoever has "rain" has "ra".
  const needed = [...new Set(words)].filter((word) => !words.some((other) => other !== word && other.startsWith(word)));
  return [
    ...(mood === null ? [] : [tagCondition("mood", mood)]),
    ...(activity === null ? [] : [tagCondition("activity", activity)]),
    ...needed.map((word) => wordCondition(word, places)),
  ];
}

function wordCondition(word: string, places: Places): Condition {
  const ranges = places.map((place) => termOf(PLACES[place], word)).map((from) => ({ from, below: from + LAST }));
  return { ranges, isWhole: isWhole(word), columns: places, mark: wordMark(word) };
}

function tagCondition(place: keyof typeof TAG_PLACES, tag: string): Condition {
  return { ranges: [{ from: termOf(TAG_PLACES[place], tag), below: null }], isWhole: isWhole(tag), columns: ["tags"], mark: tagMark(place, tag) };
}

function isWhole(text: string): boolean {
  return [...text].length <= TERM_LENGTH;
}

/** The conditions as they are asked of an item `i` by its texts. */
export function testsOf(conditions: readonly Condition[]): { readonly text: string; readonly values: readonly SqlValue[] } {
  if (conditions.length === 0) return { text: "1 = 1", values: [] };
  const tests = conditions.map(({ columns }) => `(${columns.map((column) => `INSTR(i.${column}, ?) > 0`).join(" OR ")})`);
  return { text: tests.join(" AND "), values: conditions.flatMap(({ columns, mark }) => columns.map(() => mark)) };
}
