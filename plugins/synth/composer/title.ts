import { FILLER_WORDS } from "./words.js";

const TITLE_MAX = 80;
const WORDS_MAX = 7;
const LEADING_FILLER = new Set([
  "a",
  "an",
  "the",
  "please",
  "make",
  "create",
  "generate",
  "compose",
  "write",
  "give",
  "me",
  "i",
  "want",
  "need",
  "some",
  "we",
  "song",
  "track",
  "piece",
]);
const LOWER_INSIDE = new Set(["a", "an", "and", "the", "of", "for", "to", "in", "on", "at", "by", "with", "or"]);

/** A title of at most 80 characters from the first words of a prompt; `Untitled` where it has none. */
export function titleOf(prompt: string): string {
  const sentence =
    prompt
      .replace(/\s+/gu, " ")
      .trim()
      .split(/[\n.!?;:。！？]/u)
      .find((part) => /[\p{L}\p{N}]/u.test(part)) ?? "";
  const words = sentence
    .replace(/["“”«»()[\]{}<>*_#`~|\\]/gu, " ")
    .split(" ")
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
  while (words.length > 1 && LEADING_FILLER.has(bare(words[0]))) words.shift();
  const kept = words.slice(0, WORDS_MAX);
  while (kept.length > 1 && words.length > kept.length && FILLER_WORDS.has(bare(kept[kept.length - 1]))) kept.pop();
  const title = kept
    .map((word, index) => capitalise(word, index))
    .join(" ")
    .replace(/[\s,\-–—/&+]+$/u, "");
  return shorten(title) || "Untitled";
}

function bare(word: string | undefined): string {
  return (word ?? "").toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

function capitalise(word: string, index: number): string {
  if (index > 0 && LOWER_INSIDE.has(word.toLowerCase())) return word.toLowerCase();
  const [first = "", ...rest] = word;
  return first.toUpperCase() + rest.join("");
}

/** Cuts between code points, so that no half of an emoji is left. */
function shorten(title: string): string {
  const points = [...title];
  return points.length <= TITLE_MAX && title.length <= TITLE_MAX
    ? title
    : [...title.slice(0, TITLE_MAX - 1)]
        .filter((point) => !/\p{Cs}/u.test(point))
        .join("")
        .trimEnd() + "…";
}
