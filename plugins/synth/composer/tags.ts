import type { TrackTags } from "../../sdk/index.js";
import type { Brief } from "./brief.js";
import { isDark } from "./theory.js";

/** Tags of a track: the words that the prompt used, or the composer's choice where it used none. */
export function tagsOf(brief: Brief, isSong: boolean): TrackTags {
  const speed = brief.bpm < 80 ? "slow" : brief.bpm > 125 ? "fast" : "mid-tempo";
  return {
    mood: brief.moods.length > 0 ? brief.moods : [impliedMood(brief)],
    activity: brief.activities,
    genre: brief.genres,
    other: [
      ...new Set([
        ...brief.instruments,
        speed,
        isDark(brief.key.mode) ? "minor" : "major",
        isSong ? "vocal" : "instrumental",
        ...(brief.hasRain ? ["rain"] : []),
      ]),
    ],
  };
}

function impliedMood({ valence, energy }: Brief): string {
  if (energy > 0.7) return valence < 0 ? "intense" : "energetic";
  if (energy < 0.4) return valence < 0 ? "melancholic" : "calm";
  return valence < 0 ? "moody" : "upbeat";
}
