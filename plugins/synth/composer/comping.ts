import type { Random } from "../random.js";
import type { Section } from "./form.js";
import type { HarmonicSpan } from "./harmony.js";
import type { Step } from "./notes.js";
import { voiceChord } from "./theory.js";

export type CompStyle =
  | "sustain"
  | "pulse"
  | "arpeggio"
  | "alberti"
  | "stabs"
  | "chop"
  | "skank"
  | "strum"
  | "lazy"
  | "charleston"
  | "shuffle"
  | "chug"
  | "drive"
  | "bossa"
  | "ostinato"
  | "waltz";

/** Strokes of whole chords in a bar of sixteenths: step, length in sixteenths, level. */
type Stroke = readonly [step: number, steps: number, level: number];

/** Two bars of each style; a one-bar style repeats its own. Rolled styles play one note at a time instead. */
const CHORD_BARS: Record<
  Exclude<CompStyle, "arpeggio" | "alberti" | "ostinato" | "waltz">,
  readonly (readonly Stroke[])[]
> = {
  sustain: [[[0, 15.8, 0.7]]],
  pulse: [
    [
      [0, 3.6, 0.8],
      [4, 3.6, 0.62],
      [8, 3.6, 0.72],
      [12, 3.6, 0.62],
    ],
    [
      [0, 5.5, 0.8],
      [6, 1.8, 0.6],
      [8, 5.5, 0.72],
      [14, 1.8, 0.6],
    ],
  ],
  stabs: [
    [
      [2, 1.4, 0.8],
      [6, 1.4, 0.7],
      [11, 1.4, 0.75],
    ],
    [
      [0, 1.4, 0.8],
      [3, 1.4, 0.7],
      [6, 1.4, 0.75],
      [10, 1.4, 0.7],
    ],
  ],
  chop: [
    [
      [2, 0.8, 0.6],
      [4, 1.2, 0.8],
      [7, 0.7, 0.55],
      [10, 0.8, 0.6],
      [12, 1.2, 0.8],
      [15, 0.7, 0.5],
    ],
    [
      [0, 1, 0.7],
      [3, 0.7, 0.6],
      [4, 1.2, 0.8],
      [10, 0.8, 0.65],
      [12, 1.2, 0.8],
      [14, 0.7, 0.5],
    ],
  ],
  skank: [
    [
      [4, 1.2, 0.8],
      [12, 1.2, 0.8],
    ],
    [
      [4, 1, 0.8],
      [6, 0.8, 0.5],
      [12, 1.2, 0.8],
    ],
  ],
  strum: [
    [
      [0, 3.8, 0.85],
      [4, 1.9, 0.6],
      [6, 1.9, 0.5],
      [10, 1.9, 0.6],
      [12, 1.9, 0.7],
      [14, 1.9, 0.5],
    ],
    [
      [0, 3.8, 0.85],
      [4, 1.9, 0.65],
      [6, 3.8, 0.55],
      [10, 1.9, 0.6],
      [12, 3.8, 0.65],
    ],
  ],
  lazy: [
    [
      [0, 7, 0.7],
      [10, 5, 0.52],
    ],
    [
      [0, 5, 0.7],
      [7, 3, 0.5],
      [11, 4.5, 0.55],
    ],
  ],
  charleston: [
    [
      [0, 2.5, 0.7],
      [6, 1.8, 0.62],
    ],
    [
      [4, 1.6, 0.6],
      [10, 3, 0.65],
    ],
    [
      [2, 1.6, 0.55],
      [8, 3, 0.65],
      [14, 1.6, 0.55],
    ],
  ],
  shuffle: [
    [
      [0, 2.6, 0.7],
      [4, 2, 0.6],
      [8, 2.6, 0.7],
      [12, 2, 0.6],
      [14, 1.5, 0.5],
    ],
  ],
  chug: [
    [
      [0, 1.7, 0.95],
      [2, 1.3, 0.8],
      [4, 1.7, 0.9],
      [6, 1.3, 0.8],
      [8, 1.7, 0.95],
      [10, 1.3, 0.8],
      [12, 1.7, 0.9],
      [14, 1.3, 0.8],
    ],
    [
      [0, 3.8, 1],
      [4, 0.9, 0.8],
      [5, 0.9, 0.75],
      [6, 1.8, 0.85],
      [8, 0.9, 0.8],
      [9, 0.9, 0.75],
      [10, 1.8, 0.85],
      [12, 3.8, 0.95],
    ],
  ],
  drive: [
    [
      [0, 5.8, 0.95],
      [6, 1.8, 0.75],
      [8, 3.8, 0.85],
      [12, 3.8, 0.8],
    ],
    [
      [0, 3.8, 0.95],
      [4, 1.8, 0.7],
      [6, 5.8, 0.85],
      [12, 3.8, 0.8],
    ],
  ],
  bossa: [
    [
      [0, 2.5, 0.65],
      [3, 2.5, 0.6],
      [6, 3.5, 0.62],
      [10, 2.5, 0.6],
      [13, 2.5, 0.58],
    ],
    [
      [0, 3.5, 0.65],
      [6, 3.5, 0.6],
      [10, 3, 0.62],
    ],
  ],
};

interface CompTrack {
  readonly style: CompStyle;
  readonly sections: readonly Section[];
  readonly spans: readonly HarmonicSpan[];
  readonly beatsPerBar: number;
  /** MIDI note at the centre of the chords. */
  readonly centre: number;
  /** Sections calmer than this are left out. */
  readonly from: number;
}

/** The chords of a composition in a style, each voiced as close to the previous one as possible. */
export function playChords(track: CompTrack, random: Random): Step[] {
  const { sections, spans, beatsPerBar, centre, from } = track;
  const steps: Step[] = [];
  let voicing: number[] = [];
  for (const span of spans) {
    voicing = voiceChord(span.chord, voicing, centre);
    const section = sections.findLast(({ startBar }) => startBar * beatsPerBar <= span.startBeat);
    if (section === undefined || section.intensity < from) continue;
    const level = 0.75 + 0.25 * section.intensity;
    for (let start = 0; start < span.beats; start += track.style === "sustain" ? span.beats : beatsPerBar) {
      const beats = track.style === "sustain" ? span.beats : Math.min(beatsPerBar, span.beats - start);
      const bar = barOf(track.style, voicing, beats, section, random);
      steps.push(
        ...bar.map((step) => ({ ...step, beat: step.beat + span.startBeat + start, velocity: step.velocity * level })),
      );
    }
  }
  return steps;
}

/** One bar, in beats from its start. */
function barOf(style: CompStyle, voicing: readonly number[], beats: number, section: Section, random: Random): Step[] {
  switch (style) {
    case "sustain":
      return voicing.map((midi) => ({ beat: 0, beats: beats * 0.99, midi, velocity: 0.7 }));
    case "arpeggio":
      return broken(voicing, beats, section.intensity > 0.75 ? [0, 1, 2, 3, 4, 3, 2, 1] : [0, 1, 2, 3, 2, 1], 0.5, 1.6);
    case "alberti":
      return broken(voicing, beats, [0, 2, 1, 2], 0.5, 0.55);
    case "ostinato":
      return broken(
        voicing,
        beats,
        section.intensity > 0.75 ? [0, 0, 1, 0, 2, 0, 1, 0] : [0, 0, 1, 1],
        section.intensity > 0.75 ? 0.25 : 0.5,
        0.22,
      );
    case "waltz":
      return [1, 2]
        .filter((beat) => beat < beats)
        .flatMap((beat) => voicing.map((midi) => ({ beat, beats: 0.6, midi, velocity: beat === 1 ? 0.6 : 0.52 })));
    default:
      return struck(style, voicing, beats, section, random);
  }
}

function struck(
  style: keyof typeof CHORD_BARS,
  voicing: readonly number[],
  beats: number,
  section: Section,
  random: Random,
): Step[] {
  const bars = CHORD_BARS[style];
  const bar = section.intensity < 0.45 ? bars[0] : random.pick(bars);
  const isStrummed = style === "strum" || style === "bossa";
  return (bar ?? [])
    .filter(([step]) => step / 4 < beats)
    .flatMap(([step, length, level], index) => {
      const strings = isStrummed && index % 2 === 1 ? [...voicing].reverse() : voicing;
      // A strum touches one string after the other.
      return strings.map((midi, string) => ({
        beat: step / 4 + (isStrummed ? string * 0.018 : 0),
        beats: Math.min(length / 4, beats - step / 4),
        midi,
        velocity: level * random.between(0.88, 1),
      }));
    });
}

/** One note after the other; `order` counts up the chord and on into the next octave. */
function broken(
  voicing: readonly number[],
  beats: number,
  order: readonly number[],
  stride: number,
  hold: number,
): Step[] {
  return Array.from({ length: Math.floor(beats / stride) }, (_, index) => {
    const rank = order[index % order.length] ?? 0;
    const midi = (voicing[rank % voicing.length] ?? 60) + 12 * Math.floor(rank / voicing.length);
    return {
      beat: index * stride,
      beats: Math.min(hold, beats - index * stride + 0.5),
      midi,
      velocity: index % order.length === 0 ? 0.75 : 0.6,
    };
  });
}
