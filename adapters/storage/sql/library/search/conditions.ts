import type { Hit } from "./hits.js";
import { type ItemRow, type Place, PLACES, type TAG_PLACES, tagMark, wordMark } from "./rows.js";
import { isWhole, type Terms, termsOfTag, termsOfWord } from "./terms.js";
import type { SqlValue } from "../../session.js";

export const TRACK_CLASSES: readonly (readonly Place[])[] = [
  ["title"],
  ["title", "label"],
  ["title", "label", "prompt"],
];
/** Of a playlist only the title is searched. */
export const PLAYLIST_PLACES: readonly Place[] = ["title"];
export const PLAYLIST_CLASSES: readonly (readonly Place[])[] = [PLAYLIST_PLACES];

export interface Wanted {
  readonly words: readonly string[];
  readonly mood: string | null;
  readonly activity: string | null;
}

/** Something that an item must have: a word that begins so, or a tag. */
export interface Condition {
  readonly terms: Terms;
  /** Where the postings have to have it, as numbers in `PLACES`. */
  readonly places: readonly number[];
  /** Its postings say all: nothing of it was cut off. */
  readonly isWhole: boolean;
  /** Where an item stores its mark. */
  readonly columns: readonly (keyof ItemRow)[];
  readonly mark: string;
}

/** A search of one partition. */
export interface PartitionSearch {
  readonly partition: string;
  /** The conditions of each class, in the same order; each class has what those before it have. */
  readonly classes: readonly (readonly Condition[])[];
  readonly limit: number;
  /** Only what comes behind this one; null: from the best on. */
  readonly after: Hit | null;
  /** Unindexed items that are looked at in the first go. */
  readonly stride: number;
}

export function conditionsOf({ words, mood, activity }: Wanted, places: readonly Place[]): Condition[] {
  // An item with "rain" has "ra". The longest are the rarest, as a rule: where they are missing, no other is looked
  // for.
  const needed = [...new Set(words)]
    .filter((word) => !words.some((other) => other !== word && other.startsWith(word)))
    .sort((a, b) => b.length - a.length);
  return [
    ...(mood === null ? [] : [tagCondition("mood", mood)]),
    ...(activity === null ? [] : [tagCondition("activity", activity)]),
    ...needed.map((word) => wordCondition(word, places)),
  ];
}

function wordCondition(word: string, places: readonly Place[]): Condition {
  const numbers = places.map((place) => PLACES.indexOf(place));
  return { terms: termsOfWord(word), places: numbers, isWhole: isWhole(word), columns: places, mark: wordMark(word) };
}

function tagCondition(group: keyof typeof TAG_PLACES, tag: string): Condition {
  return {
    terms: termsOfTag(group, tag),
    places: [0],
    isWhole: isWhole(tag),
    columns: ["tags"],
    mark: tagMark(group, tag),
  };
}

/** A fragment of SQL with its values. */
export interface Fragment {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** The conditions as they are asked of an item `i` by its texts. */
export function testsOf(conditions: readonly Condition[]): Fragment {
  if (conditions.length === 0) return { text: "1 = 1", values: [] };
  const tests = conditions.map(
    ({ columns }) => `(${columns.map((column) => `INSTR(i.${column}, ?) > 0`).join(" OR ")})`,
  );
  return { text: tests.join(" AND "), values: conditions.flatMap(({ columns, mark }) => columns.map(() => mark)) };
}

/** What comes behind a hit, asked of an item `i` whose class is known by `rank`. */
export function behind(after: Hit | null, rank: Fragment): Fragment {
  if (after === null) return { text: "1 = 1", values: [] };
  const { class: number, created_at: createdAt, item_id: id } = after;
  const older = "(i.created_at < ? OR (i.created_at = ? AND i.item_id < ?))";
  return {
    text: `(${rank.text} > ? OR (${rank.text} = ? AND ${older}))`,
    values: [...rank.values, number, ...rank.values, number, createdAt, createdAt, id],
  };
}

/** The number of the first class whose conditions an item `i` meets by its texts, if it meets those of the last. */
export function classOf(classes: readonly (readonly Condition[])[]): Fragment {
  const tests = classes.slice(0, -1).map(testsOf);
  if (tests.length === 0) return { text: "0", values: [] };
  const cases = tests.map(({ text }, index) => `WHEN ${text} THEN ${index}`).join(" ");
  return { text: `CASE ${cases} ELSE ${tests.length} END`, values: tests.flatMap(({ values }) => values) };
}
