import { hashText } from "../random.js";
import type { SectionKind } from "./form.js";

/** A vowel by its sound in English: father, bed, see, go, too, cup, cat. */
export type Vowel = "ah" | "eh" | "ee" | "oh" | "oo" | "uh" | "ae";

/** The articulation of a consonant. */
export type Consonant = "s" | "sh" | "f" | "h" | "t" | "k" | "p" | "m" | "n" | "l" | "r" | "w";

/** What is sung on one note. */
export interface Syllable {
  readonly text: string;
  readonly onset: Consonant | null;
  readonly vowel: Vowel;
  /** The second vowel of a diphthong; the same vowel for a plain one. */
  readonly glide: Vowel;
  readonly coda: Consonant | null;
}

export type LyricLine = readonly Syllable[];

export interface LyricSection {
  readonly kind: SectionKind;
  readonly lines: readonly LyricLine[];
}

/** The singer breathes after this many syllables at the latest. */
const LINE_MAX = 12;
/** Of a prompt that is sung. */
const WORDS_PER_LINE = 5;
/** `[…]` always marks a part; `(…)` only with a name of one, since it also marks backing vocals. */
const MARK = /^\s*(?:\[\s*([^\]]*)\]|\(\s*([^)]*)\)|([\p{L}-]+)\s*\d*\s*:)\s*:?\s*$/u;
const MARK_KINDS: readonly (readonly [RegExp, SectionKind])[] = [
  [/^(?:pre|bridge|brücke|puente|pont|break|middle)/iu, "bridge"],
  [/^(?:post-?)?(?:chorus|hook|refrain|coro|estribillo)/iu, "chorus"],
  [/^intro/iu, "intro"],
  [/^(?:outro|ending|coda|final)/iu, "outro"],
  [/^(?:verse|vers|strophe|couplet|estrofa|part|rap)\b/iu, "verse"],
];

/** The kind of part that a line names; null for a line that is sung. */
function markOf(line: string): SectionKind | null {
  const [, square, round, plain] = MARK.exec(line) ?? [];
  const name = (square ?? round ?? plain)?.trim();
  if (name === undefined) return null;
  return MARK_KINDS.find(([words]) => words.test(name))?.[1] ?? (square === undefined ? null : "verse");
}

/** Reads lyrics into parts, lines and syllables. Text that cannot be sung gives `la la la la`. */
export function readLyrics(lyrics: string): LyricSection[] {
  const sections: { kind: SectionKind; lines: LyricLine[] }[] = [];
  let isOpen = false;
  let isMarked = false;
  for (const line of lyrics.split(/\r\n|[\n\r\u2028\u2029]/u)) {
    const mark = markOf(line);
    const syllables = mark === null ? syllablesOf(line) : [];
    if (mark !== null) {
      sections.push({ kind: mark, lines: [] });
      isOpen = true;
      isMarked = true;
    } else if (syllables.length === 0) {
      isOpen = isOpen && isMarked;
    } else {
      // Without marks an empty line ends a stanza, and so does the fourth line; stanzas take turns.
      const isFull = !isMarked && (sections.at(-1)?.lines.length ?? 0) >= 4;
      if (!isOpen || isFull) sections.push({ kind: sections.length % 2 === 1 ? "chorus" : "verse", lines: [] });
      isOpen = true;
      sections.at(-1)?.lines.push(...breathe(syllables));
    }
  }
  const sung = sections.filter(({ lines }) => lines.length > 0);
  return sung.length > 0
    ? sung
    : [{ kind: "verse", lines: [syllablesOf("la la la la"), syllablesOf("la la la la la")] }];
}

/** Lyrics for a song without any: the words of the prompt, a few to a line, and the first of them as a refrain. */
export function lyricsFrom(prompt: string): LyricSection[] {
  const words = prompt.split(/\s+/u).filter((word) => /[\p{L}\p{N}]/u.test(word));
  const lines = Array.from({ length: Math.ceil(words.length / WORDS_PER_LINE) }, (_, index) =>
    words.slice(index * WORDS_PER_LINE, (index + 1) * WORDS_PER_LINE).join(" "),
  );
  const refrain = words.slice(0, 3).join(" ");
  return readLyrics(
    [
      "[Verse]",
      ...lines,
      ...(lines.length % 2 === 1 ? [lines[0] ?? ""] : []),
      "[Chorus]",
      refrain,
      `${refrain} oh oh`,
    ].join("\n"),
  );
}

/** One syllable per note; words of any script. */
export function syllablesOf(line: string): Syllable[] {
  const words =
    line
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{M}'’]+|\p{N}/gu) ?? [];
  return words.flatMap((word) => splitWord(word).map(toSyllable));
}

/** Cuts a line that is too long for one breath into even parts. */
function breathe(line: readonly Syllable[]): LyricLine[] {
  const parts = Math.ceil(line.length / LINE_MAX);
  return Array.from({ length: parts }, (_, index) =>
    line.slice(Math.round((index * line.length) / parts), Math.round(((index + 1) * line.length) / parts)),
  );
}

const DIGITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
const TRANSLITERATION: Record<string, string> = {
  а: "a",
  б: "b",
  в: "v",
  г: "g",
  д: "d",
  е: "e",
  ё: "o",
  ж: "sh",
  з: "z",
  и: "i",
  й: "y",
  к: "k",
  л: "l",
  м: "m",
  н: "n",
  о: "o",
  п: "p",
  р: "r",
  с: "s",
  т: "t",
  у: "u",
  ф: "f",
  х: "h",
  ц: "ts",
  ч: "ch",
  ш: "sh",
  щ: "sh",
  ъ: "",
  ы: "i",
  ь: "",
  э: "e",
  ю: "u",
  я: "a",
  і: "i",
  ї: "i",
  є: "e",
  α: "a",
  β: "v",
  γ: "g",
  δ: "d",
  ε: "e",
  ζ: "z",
  η: "i",
  θ: "th",
  ι: "i",
  κ: "k",
  λ: "l",
  μ: "m",
  ν: "n",
  ξ: "x",
  ο: "o",
  π: "p",
  ρ: "r",
  σ: "s",
  ς: "s",
  τ: "t",
  υ: "i",
  φ: "f",
  χ: "h",
  ψ: "ps",
  ω: "o",
  ß: "ss",
  æ: "ae",
  ø: "o",
  œ: "oe",
  ł: "l",
  đ: "d",
  ð: "th",
  þ: "th",
  ı: "i",
};
const ONE_PER_LETTER = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

function splitWord(word: string): string[] {
  const digit = DIGITS[Number.parseInt(word, 10)];
  if (digit !== undefined) return splitLatin(digit);
  if (ONE_PER_LETTER.test(word)) return [...word.normalize("NFC")].filter((letter) => /\p{L}/u.test(letter));
  const plain = [...word.normalize("NFD").replace(/\p{M}|['’]/gu, "")]
    .map((letter) => TRANSLITERATION[letter] ?? letter)
    .join("");
  if (plain === "") return [];
  if (/^[a-z]+$/u.test(plain)) return splitLatin(plain);
  return [...plain].reduce<string[]>(
    (pairs, letter, index) =>
      index % 2 === 0 ? [...pairs, letter] : [...pairs.slice(0, -1), (pairs.at(-1) ?? "") + letter],
    [],
  );
}

/** Splits by vowels, with the silent endings of English. */
function splitLatin(word: string): string[] {
  const spoken = word
    .replace("every", "evry")
    .replace(/([^aeiouytdl])ed$/u, "$1d")
    .replace(/([aeiouy][^aeiouyszxhcg]+)es$/u, "$1s")
    .replace(/([aeiouy][^aeiouy]*[^aeiouyl])e$/u, "$1")
    .replace(/([aeiouy])le$/u, "$1l");
  const pattern =
    /(?:qu|[^aeiouy])*(?:y(?=[aeiou]))?(?:i(?=[ao](?!u))|[aeiouy]{1,3})(?:[^aeiouy]+$|[^aeiouy](?=[^aeiouy]))?/gu;
  const parts = spoken.match(pattern) ?? [];
  const covered = parts.join("").length;
  if (parts.length === 0) return [word];
  if (covered < spoken.length) parts[parts.length - 1] += spoken.slice(covered);
  return parts;
}

const VOWELS: readonly (readonly [RegExp, Vowel, Vowel])[] = [
  [/^(?:igh|ai|ay|ei|ey)/u, "eh", "ee"],
  [/^(?:ie|y$|ye|uy)/u, "ah", "ee"],
  [/^(?:ou|ow|au|aw)/u, "ah", "oo"],
  [/^(?:oi|oy)/u, "oh", "ee"],
  [/^(?:ee|ea|i|y)/u, "ee", "ee"],
  [/^(?:oo|ew|ue|ui|u)/u, "oo", "oo"],
  [/^(?:oa|oe|o)/u, "oh", "oh"],
  [/^e/u, "eh", "eh"],
  [/^a/u, "ah", "ah"],
];
const CONSONANTS: readonly (readonly [RegExp, Consonant])[] = [
  [/^(?:sh|ch|j|zh|tsch|sch)/u, "sh"],
  [/^(?:th|f|v|ph)/u, "f"],
  [/^[szxc](?=[eiy]|[^a-z]|$|[aou]|[a-z])/u, "s"],
  [/^[td]/u, "t"],
  [/^[kgq]/u, "k"],
  [/^[pb]/u, "p"],
  [/^m/u, "m"],
  [/^n/u, "n"],
  [/^l/u, "l"],
  [/^r/u, "r"],
  [/^[wy]/u, "w"],
  [/^h/u, "h"],
];

function toSyllable(text: string): Syllable {
  const start = text.search(/[aeiou]|y(?![aeiou])/u);
  if (start < 0) return foreignSyllable(text);
  const vowels = text.slice(start);
  const [, vowel, glide] = VOWELS.find(([letters]) => letters.test(vowels)) ?? [/^/u, "uh", "uh"];
  const ending = /[^aeiouy]+$/u.exec(text)?.[0] ?? "";
  return {
    text,
    onset: start === 0 ? null : consonantOf(text.replace(/^c(?=[aouklr])/u, "k")),
    vowel,
    glide,
    coda: consonantOf(ending),
  };
}

function consonantOf(letters: string): Consonant | null {
  return CONSONANTS.find(([pattern]) => pattern.test(letters))?.[1] ?? null;
}

/** A sound of its own for letters that have no spelling here; the same letter always sounds the same. */
function foreignSyllable(text: string): Syllable {
  const vowels: readonly Vowel[] = ["ah", "eh", "ee", "oh", "oo", "uh", "ae"];
  const onsets: readonly (Consonant | null)[] = ["t", "k", "s", "m", "n", "l", "r", "h", null];
  const hash = hashText(text);
  const vowel = /^[a-z]+$/u.test(text) ? "uh" : (vowels[hash % vowels.length] ?? "ah");
  const onset = consonantOf(text) ?? onsets[(hash >>> 8) % onsets.length] ?? null;
  return { text, onset, vowel, glide: vowel, coda: null };
}
