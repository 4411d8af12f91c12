import type { Track, TrackAsset } from "./track.js";
import { foldTag, foldWords } from "./words.js";

/**
 * What is searched of a track or a playlist. A word stands only in the best of the three lists that it belongs to,
 * once.
 */
export interface SearchTexts {
  readonly title: readonly string[];
  /** Of artist and tags. */
  readonly label: readonly string[];
  readonly prompt: readonly string[];
  readonly moods: readonly string[];
  readonly activities: readonly string[];
}

/** As much of a track as searches look at. */
export interface SearchableTrack extends Pick<
  Track,
  "id" | "accountId" | "visibility" | "title" | "artistLabel" | "prompt" | "tags" | "createdAt"
> {
  readonly assets: readonly Pick<TrackAsset, "role">[];
}

/** @returns null when the track is not playable, and so not found */
export function textsOfTrack({ title, artistLabel, prompt, tags, assets }: SearchableTrack): SearchTexts | null {
  if (!assets.some(({ role }) => role === "mix")) return null;
  const seen = new Set<string>();
  const fresh = (texts: readonly string[]): string[] => {
    const words = [...new Set(texts.flatMap(foldWords))].filter((word) => !seen.has(word));
    for (const word of words) seen.add(word);
    return words;
  };
  return {
    title: fresh([title]),
    label: fresh([artistLabel, ...tags.mood, ...tags.activity, ...tags.genre, ...tags.other]),
    prompt: fresh(prompt === null ? [] : [prompt]),
    moods: foldTags(tags.mood),
    activities: foldTags(tags.activity),
  };
}

/** What is searched of a playlist: its title. */
export function textsOfTitle(title: string): SearchTexts {
  return { title: [...new Set(foldWords(title))], label: [], prompt: [], moods: [], activities: [] };
}

function foldTags(tags: readonly string[]): string[] {
  return [...new Set(tags.map(foldTag))].filter((tag) => tag !== "");
}
