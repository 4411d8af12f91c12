import type { LyricsWord, ProviderTrack } from "../../core/ports/music-provider.js";

/** Placeholders that providers return for instrumental tracks: `[Instrumental]`, `[inst]`, `N/A`. */
const NOTHING_SUNG: readonly string[] = ["", "instrumental", "inst", "n a"];

/**
 * The `lyrics` of a track, to be spread into it: none where the text is not a string, or marks an instrumental.
 *
 * @param words in their order; empty where the provider gives no times
 */
export function lyricsOf(text: unknown, words: readonly LyricsWord[] = []): Pick<ProviderTrack, "lyrics"> {
  if (typeof text !== "string" || isNothing(text)) return {};
  return { lyrics: { text: text.trim(), ...(words.length === 0 ? {} : { words }) } };
}

/**
 * A word with times in milliseconds; none where its text is blank. A time that is no number stays none, so that the
 * host drops the times of all words.
 */
export function timedWord(text: unknown, startMs: unknown, endMs: unknown): LyricsWord[] {
  if (typeof text !== "string" || text.trim() === "") return [];
  return [{ text: text.trim(), startSeconds: secondsOf(startMs), endSeconds: secondsOf(endMs) }];
}

function isNothing(text: string): boolean {
  const words = text.replace(/[^\p{L}\p{N}]+/gu, " ").trim();
  return NOTHING_SUNG.includes(words.toLowerCase());
}

function secondsOf(milliseconds: unknown): number {
  return typeof milliseconds === "number" ? milliseconds / 1_000 : Number.NaN;
}
