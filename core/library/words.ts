/** Letters that are accented, or joined from others, to a reader, and have no decomposition in Unicode. */
const PLAIN: Readonly<Record<string, string>> = {
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  ħ: "h",
  ŧ: "t",
  ƀ: "b",
  ǥ: "g",
  ƶ: "z",
  ɨ: "i",
  ŋ: "n",
  æ: "ae",
  œ: "oe",
  þ: "th",
  ς: "σ",
};
const UNPLAIN = new RegExp(`[${Object.keys(PLAIN).join("")}]`, "gu");

const ASCII = /^[\0-\x7F]*$/;

/** Typed, typeset, as a letter of its own, or between others: all mean the same inside a word. */
const APOSTROPHES = /[’‘‛ʼʻʹ`´＇]/gu;

/**
 * The words of a text as searches compare them, in their order: case, accents and the width of letters are ignored,
 * apostrophes inside a word are dropped, and any other character that is neither letter nor number separates words.
 *
 * @see decisions, "Library"
 */
export function foldWords(text: string): string[] {
  const joined = fold(text.replace(APOSTROPHES, "'"))
    .replace(APOSTROPHES, "'")
    .replace(/(?<=[\p{L}\p{N}])'(?=[\p{L}\p{N}])/gu, "");
  return joined.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** A tag as searches compare it, as a whole: case and accents are ignored, white space counts as one blank. */
export function foldTag(text: string): string {
  return fold(text).replace(/\s+/gu, " ").trim();
}

function fold(text: string): string {
  // Most texts: what follows changes nothing else of them.
  if (ASCII.test(text)) return text.toLowerCase();
  // Half of a pair is no character; engines store something of their own in its place.
  const decomposed = withoutMarks(text.replace(/\p{Cs}/gu, "\uFFFD"));
  // By way of capitals, since some letters are several then: ß is SS. And down first, since the capital ẞ is none of
  // them.
  const folded = decomposed.toLowerCase().toUpperCase().toLowerCase();
  return withoutMarks(folded).replace(UNPLAIN, (letter) => PLAIN[letter] ?? letter);
}

function withoutMarks(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "");
}
