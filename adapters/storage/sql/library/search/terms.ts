import { type ItemRow, PLACES, TAG_PLACES } from "./rows.js";

/**
 * Characters of a word or tag that stand in the index. What is longer is looked up by its beginning, and then compared.
 */
export const TERM_LENGTH = 40;

/** Beginnings of words up to this length have postings of their own: "ra" begins a great many words. */
const BEGINNING_LENGTH = 4;

const WORD = "w";
const BEGINNING = "b";
/** Behind every word that begins with what is before it. */
const LAST = "\u{10FFFF}";

/** Terms side by side. */
export interface Terms {
  readonly from: string;
  /** null: the one that is equal to `from` */
  readonly below: string | null;
}

/** The postings of all words that begin so. */
export function termsOfWord(word: string): Terms {
  const characters = [...word];
  if (characters.length <= BEGINNING_LENGTH) return { from: BEGINNING + word, below: null };
  const from = WORD + cut(word);
  return { from, below: from + LAST };
}

/** The postings of a tag. */
export function termsOfTag(group: keyof typeof TAG_PLACES, tag: string): Terms {
  return { from: TAG_PLACES[group] + cut(tag), below: null };
}

/** Whether the index has all of it. */
export function isWhole(text: string): boolean {
  return [...text].length <= TERM_LENGTH;
}

/**
 * What an item is found by: terms, and the place of each as its number in `PLACES`. Tags are their own place, and stand
 * in the first.
 */
export function* termsOfItem(item: ItemRow): Generator<{ readonly term: string; readonly place: number }> {
  for (const [place, name] of PLACES.entries()) {
    for (const word of item[name].split(" ")) {
      if (word === "") continue;
      yield { term: WORD + cut(word), place };
      const beginning = [...word.slice(0, 2 * BEGINNING_LENGTH)].slice(0, BEGINNING_LENGTH);
      for (let length = 1; length <= beginning.length; length++)
        yield { term: BEGINNING + beginning.slice(0, length).join(""), place };
    }
  }
  for (const tag of item.tags.split("\n")) {
    if (tag !== "") yield { term: tag.slice(0, 1) + cut(tag.slice(1)), place: 0 };
  }
}

function cut(text: string): string {
  // Most are short, and those that are not may have characters of two units.
  return text.length <= TERM_LENGTH ? text : [...text].slice(0, TERM_LENGTH).join("");
}
