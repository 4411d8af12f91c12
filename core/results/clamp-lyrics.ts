import type { LyricsWord, ProviderLyrics, ProviderTrack } from "../ports/music-provider.js";
import { withoutControls } from "../printable.js";

/** Lengths in code points. */
export const LYRICS_LIMITS = {
  textLength: 50_000,
  words: 10_000,
  wordLength: 200,
  seconds: 86_400,
  /** Of all tracks of a result together, as JSON in UTF-8: a row of the storage holds them until the job is settled. */
  resultBytes: 2_097_152,
} as const;

/** Line separators of all kinds. */
const LINE_BREAK = /\r\n|[\n\r\u0085\u2028\u2029]/u;

/**
 * Lyrics within {@link LYRICS_LIMITS}; null for none. A text is cut where it is too long. Times of words are kept all
 * or none: some of them would leave gaps in the song.
 */
export function lyricsWithin(lyrics: unknown): ProviderLyrics | null {
  if (typeof lyrics !== "object" || lyrics === null) return null;
  const { text: given, words } = lyrics as { readonly [Name in keyof ProviderLyrics]?: unknown };
  const text = textWithin(given, LYRICS_LIMITS.textLength);
  if (text === null) return null;
  const kept = wordsWithin(words);
  return kept === null ? { text } : { text, words: kept };
}

/** Tracks from whose lyrics on all together would be too large lose theirs: the music is worth more. */
export function withLyricsWithin(tracks: readonly ProviderTrack[]): ProviderTrack[] {
  let bytes = 0;
  return tracks.map(({ lyrics, ...track }) => {
    if (lyrics === undefined) return track;
    bytes += new TextEncoder().encode(JSON.stringify(lyrics)).length;
    return bytes <= LYRICS_LIMITS.resultBytes ? { ...track, lyrics } : track;
  });
}

function wordsWithin(words: unknown): LyricsWord[] | null {
  if (!Array.isArray(words) || words.length === 0 || words.length > LYRICS_LIMITS.words) return null;
  const kept: LyricsWord[] = [];
  for (const word of words as readonly unknown[]) {
    const within = wordWithin(word);
    if (within === null) return null;
    kept.push(within);
  }
  return kept.sort((one, other) => one.startSeconds - other.startSeconds);
}

function wordWithin(word: unknown): LyricsWord | null {
  if (typeof word !== "object" || word === null) return null;
  const { text: given, startSeconds, endSeconds } = word as { readonly [Name in keyof LyricsWord]?: unknown };
  const text = textWithin(given, LYRICS_LIMITS.wordLength)?.replace(/\s+/gu, " ");
  if (text === undefined || !isTime(startSeconds) || !isTime(endSeconds) || startSeconds > endSeconds) return null;
  return { text, startSeconds: toMilliseconds(startSeconds), endSeconds: toMilliseconds(endSeconds) };
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= LYRICS_LIMITS.seconds;
}

/** Seconds with at most 3 decimals, as the API shows them. */
function toMilliseconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

/** Lines without control characters and invisible formatting; null for what is no text, or has nothing else. */
function textWithin(text: unknown, maxLength: number): string | null {
  if (typeof text !== "string") return null;
  // A first cut, so that a text of megabytes is not gone through.
  const lines = text.slice(0, maxLength * 4).split(LINE_BREAK);
  const whole = lines.map(withoutControls).join("\n").trim();
  const characters = [...whole];
  const kept = characters.length > maxLength ? characters.slice(0, maxLength).join("").trim() : whole;
  return kept === "" ? null : kept;
}
