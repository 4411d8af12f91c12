import type { CoverSubject } from "../../core/ports/cover-painter.js";
import type { SeededRandom } from "./seeded-random.js";

/** Red, green and blue from 0 to 255. */
export type Rgb = readonly [red: number, green: number, blue: number];

export interface Palette {
  /** The ground, from the top to the bottom. */
  readonly high: Rgb;
  readonly low: Rgb;
  /** A sheet's colour, from the widest (0) to the smallest (1). */
  sheet(share: number): Rgb;
  /** The point in their middle. */
  readonly point: Rgb;
}

/** The hue of a mood, in degrees of the colour wheel. */
const MOOD_HUES: readonly (readonly [words: RegExp, hue: number])[] = [
  [/\b(happy|joy|bright|cheer|sunny|upbeat|playful)/, 38],
  [/\b(warm|romantic|love|tender|nostalgi|sentimental)/, 8],
  [/\b(angry|aggressive|intense|epic|powerful|energetic|fierce)/, 352],
  [/\b(dark|mysteri|eerie|tense|ominous)/, 268],
  [/\b(dream|ethereal|ambient|spacey)/, 292],
  [/\b(sad|melanchol|lonely|blue|wistful)/, 224],
  [/\b(calm|peace|relax|serene|gentle|quiet|sleep)/, 186],
  [/\b(fresh|hopeful|natur|organic|uplift)/, 150],
];
/** The share of pictures that go from light to dark; the others go from dark to light. */
const LIGHT_SHARE = 0.4;

/** Colours that go together: a mood's own, or any, and their neighbours on the wheel. */
export function paletteOf({ tags }: CoverSubject, random: SeededRandom): Palette {
  const words = [...tags.mood, ...tags.genre, ...tags.activity].join(" ").toLowerCase();
  const any = random.between(0, 360);
  const mood = MOOD_HUES.find(([pattern]) => pattern.test(words))?.[1];
  const hue = mood === undefined ? any : mood + random.between(-14, 14);
  const turn = random.pick([-1, 1]) * random.between(38, 92);
  if (random.fraction() < LIGHT_SHARE) {
    return {
      high: hsl(hue - turn * 0.2, 0.6, 0.93),
      low: hsl(hue - turn * 0.1, 0.6, 0.88),
      sheet: (share) => hsl(hue + turn * share, 0.62, 0.84 - 0.56 * share ** 1.15),
      point: hsl(hue - turn * 0.3, 0.92, 0.76),
    };
  }
  return {
    high: hsl(hue - turn * 0.2, 0.55, 0.07),
    low: hsl(hue - turn * 0.1, 0.55, 0.1),
    sheet: (share) => hsl(hue + turn * share, 0.55 + 0.25 * share, 0.15 + 0.55 * share ** 1.1),
    point: hsl(hue + turn * 1.2, 0.95, 0.92),
  };
}

export function mix(from: Rgb, to: Rgb, share: number): Rgb {
  return [
    from[0] + (to[0] - from[0]) * share,
    from[1] + (to[1] - from[1]) * share,
    from[2] + (to[2] - from[2]) * share,
  ];
}

function hsl(hue: number, saturation: number, lightness: number): Rgb {
  const chroma = saturation * Math.min(lightness, 1 - lightness);
  const channel = (offset: number): number => {
    const k = (((offset + hue / 30) % 12) + 12) % 12;
    return 255 * (lightness - chroma * Math.max(-1, Math.min(k - 3, 9 - k, 1)));
  };
  return [channel(0), channel(8), channel(4)];
}
