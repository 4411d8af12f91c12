import type { TrackTags } from "../sdk/index.js";

/** Style is free text there: what is longer than this is a sentence, no tag. */
const TAG_MAX_LENGTH = 40;

/** A tag is of the kind of its last word: "dream pop" is a pop. */
const GENRES: ReadonlySet<string> = new Set(
  [
    "acoustic ambient blues classical country dance disco drill dubstep edm electronic electronica emo folk funk " +
      "gospel grime grunge",
    "hip-hop house indie jazz k-pop j-pop latin lo-fi metal opera pop punk r&b rap reggae reggaeton rock shoegaze " +
      "ska soul swing",
    "synthwave techno trance trap",
  ].flatMap((line) => line.split(" ")),
);
const MOODS: ReadonlySet<string> = new Set(
  [
    "angry calm chill dark dreamy energetic epic gentle happy hopeful joyful melancholic melancholy mellow moody " +
      "nostalgic peaceful",
    "playful relaxed romantic sad sombre somber tense uplifting upbeat warm",
  ].flatMap((line) => line.split(" ")),
);

/** Sorts words that commas part; the response does not say which kind each is. */
export function tagsOf(tags: unknown): TrackTags {
  const words = (typeof tags === "string" ? tags.split(/[,;\n]/) : []).map((word) => word.trim().toLowerCase());
  const kept = [...new Set(words)].filter((word) => word !== "" && word.length <= TAG_MAX_LENGTH);
  const kindOf = (word: string): keyof TrackTags => {
    if (MOODS.has(word)) return "mood";
    return GENRES.has(word) || GENRES.has(word.split(" ").at(-1) ?? "") ? "genre" : "other";
  };
  const of = (kind: keyof TrackTags): string[] => kept.filter((word) => kindOf(word) === kind);
  return { mood: of("mood"), activity: [], genre: of("genre"), other: of("other") };
}
