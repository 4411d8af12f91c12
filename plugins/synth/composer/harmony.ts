import type { Random } from "../random.js";
import type { Form, Section, SectionKind } from "./form.js";
import { chordOn, isDark } from "./theory.js";
import type { Chord, ChordColour, Key } from "./theory.js";

export type ProgressionStyle =
  | "pop"
  | "anthem"
  | "jazz"
  | "blues"
  | "rock"
  | "metal"
  | "folk"
  | "classical"
  | "epic"
  | "modal"
  | "loop"
  | "drift";

/** A chord and the beats it lasts. */
export interface HarmonicSpan {
  readonly startBeat: number;
  readonly beats: number;
  readonly chord: Chord;
}

type Progressions = readonly (readonly number[])[];

/** Steps of the scale, one per bar. Each style has some for bright scales and some for dark ones. */
const PROGRESSIONS: Record<ProgressionStyle, { readonly bright: Progressions; readonly dark: Progressions }> = {
  pop: {
    bright: [
      [0, 4, 5, 3],
      [0, 5, 3, 4],
      [5, 3, 0, 4],
      [0, 2, 3, 4],
      [0, 3, 5, 4],
    ],
    dark: [
      [0, 5, 2, 6],
      [0, 3, 5, 4],
      [0, 2, 6, 3],
      [0, 5, 3, 4],
    ],
  },
  anthem: {
    bright: [
      [0, 4, 5, 3],
      [3, 4, 5, 2],
      [3, 0, 4, 5],
      [0, 4, 1, 3],
    ],
    dark: [
      [0, 5, 2, 6],
      [5, 6, 0, 0],
      [0, 5, 3, 6],
      [0, 6, 5, 6],
    ],
  },
  jazz: {
    bright: [
      [1, 4, 0, 5],
      [0, 5, 1, 4],
      [2, 5, 1, 4],
      [3, 2, 1, 0],
    ],
    dark: [
      [0, 3, 6, 2],
      [1, 4, 0, 0],
      [0, 5, 1, 4],
      [3, 6, 2, 5],
    ],
  },
  blues: {
    bright: [
      [0, 0, 3, 0, 4, 3, 0, 4],
      [0, 3, 0, 0, 3, 3, 0, 4],
    ],
    dark: [
      [0, 0, 3, 0, 4, 3, 0, 4],
      [0, 3, 0, 0, 5, 4, 0, 4],
    ],
  },
  rock: {
    bright: [
      [0, 6, 3, 0],
      [0, 3, 0, 4],
      [0, 3, 6, 3],
      [0, 4, 3, 3],
    ],
    dark: [
      [0, 6, 5, 6],
      [0, 2, 6, 3],
      [0, 5, 6, 0],
      [0, 3, 5, 6],
    ],
  },
  metal: {
    bright: [
      [0, 0, 5, 6],
      [0, 5, 3, 4],
      [0, 2, 5, 6],
    ],
    dark: [
      [0, 0, 1, 0],
      [0, 5, 1, 6],
      [0, 0, 5, 1],
      [0, 2, 1, 0],
    ],
  },
  folk: {
    bright: [
      [0, 3, 0, 4],
      [0, 4, 3, 0],
      [0, 5, 3, 4],
      [0, 0, 3, 4],
    ],
    dark: [
      [0, 6, 0, 6],
      [0, 2, 6, 0],
      [0, 3, 6, 0],
      [0, 6, 5, 6],
    ],
  },
  classical: {
    bright: [
      [0, 4, 5, 2, 3, 0, 3, 4],
      [0, 3, 4, 0],
      [0, 5, 1, 4],
      [0, 1, 4, 0],
    ],
    dark: [
      [0, 3, 4, 0],
      [0, 5, 3, 4],
      [0, 3, 6, 2, 5, 1, 4, 0],
      [0, 4, 0, 4],
    ],
  },
  epic: {
    bright: [
      [0, 1, 0, 4],
      [0, 4, 1, 3],
      [3, 4, 5, 0],
    ],
    dark: [
      [0, 5, 2, 6],
      [0, 5, 3, 4],
      [0, 2, 6, 5],
      [0, 6, 5, 4],
    ],
  },
  modal: {
    bright: [
      [0, 3, 0, 3],
      [0, 6, 3, 0],
      [0, 1, 3, 0],
    ],
    dark: [
      [0, 3, 0, 3],
      [0, 6, 0, 3],
      [0, 4, 3, 0],
    ],
  },
  loop: {
    bright: [
      [0, 3, 5, 4],
      [0, 2, 5, 3],
      [3, 0, 4, 5],
    ],
    dark: [
      [0, 0, 5, 6],
      [0, 5, 3, 6],
      [0, 2, 6, 5],
      [0, 6, 0, 5],
    ],
  },
  drift: {
    bright: [
      [0, 1, 0, 4],
      [0, 3, 5, 3],
      [0, 4, 1, 3],
    ],
    dark: [
      [0, 5, 0, 3],
      [0, 2, 5, 6],
      [0, 3, 6, 0],
    ],
  },
};

interface Style {
  readonly progressions: ProgressionStyle;
  readonly colour: ChordColour;
  readonly barsPerChord: number;
}

/** The chords of the whole track: verse, chorus and bridge have a progression each; the last chord is the tonic. */
export function harmonise(key: Key, form: Form, beatsPerBar: number, style: Style, random: Random): HarmonicSpan[] {
  const progressions = assignProgressions(key, style.progressions, random);
  const spans: HarmonicSpan[] = [];
  let played = 0;
  form.sections.forEach((section, index) => {
    const progression = progressions[section.kind];
    // Short parts of one kind in a row share one run through the progression.
    played = form.sections[index - 1]?.kind === section.kind ? played : 0;
    for (let bar = 0; bar < section.bars; bar += style.barsPerChord) {
      const startBeat = (section.startBar + bar) * beatsPerBar;
      const beats = Math.min(style.barsPerChord, section.bars - bar) * beatsPerBar;
      if (startBeat >= form.endBeat) break;
      const degree = degreeAt(progression, section, bar, played, style.barsPerChord, form);
      spans.push({
        startBeat,
        beats: Math.min(beats, form.endBeat - startBeat),
        chord: chordOn(key, degree, style.colour),
      });
    }
    played += section.bars;
  });
  return spans;
}

/** The last chord. */
export function finalChord(key: Key, colour: ChordColour): Chord {
  return chordOn(key, 0, colour === "sus" ? "triad" : colour);
}

/** The chord that sounds at a beat. */
export function chordAt(spans: readonly HarmonicSpan[], beat: number): Chord {
  let low = 0;
  let high = spans.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((spans[middle]?.startBeat ?? 0) <= beat + 1e-6) low = middle;
    else high = middle - 1;
  }
  const span = spans[low];
  if (span === undefined) throw new RangeError("a composition has at least one chord");
  return span.chord;
}

function assignProgressions(key: Key, style: ProgressionStyle, random: Random): Record<SectionKind, readonly number[]> {
  const pool = [...PROGRESSIONS[style][isDark(key.mode) ? "dark" : "bright"]];
  const take = (): readonly number[] => {
    const chosen = random.pick(pool);
    if (pool.length > 1) pool.splice(pool.indexOf(chosen), 1);
    return chosen;
  };
  const verse = take();
  const chorus = take();
  return { intro: verse, verse, chorus, bridge: take(), outro: chorus };
}

/**
 * The last bar before a new part, and before the end, leans on the fifth step, or on the flat seventh in dark modes.
 */
function degreeAt(
  progression: readonly number[],
  section: Section,
  bar: number,
  played: number,
  barsPerChord: number,
  form: Form,
): number {
  const degree = progression[Math.floor((played + bar) / barsPerChord) % progression.length] ?? 0;
  const isLastChord = bar + barsPerChord >= section.bars && section.bars > 1;
  const endsTrack = section === form.sections[form.sections.length - 1];
  if (isLastChord && (endsTrack || section.kind === "bridge") && degree === 0) return 4;
  return degree;
}
