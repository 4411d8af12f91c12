import type { ChordColour, Mode } from "./theory.js";
import type { DrumStyle } from "./drums.js";
import type { BassStyle } from "./bass.js";
import type { CompStyle } from "./comping.js";
import type { ProgressionStyle } from "./harmony.js";
import type { InstrumentName } from "../sound/instruments.js";
import type { KitName } from "../sound/drum-kit.js";

export interface Tempo {
  /** Range of beats per minute. */
  readonly bpm: readonly [number, number];
  readonly beatsPerBar?: 3;
  /** 0.5 is straight, 0.67 a triplet shuffle; pairs are eighths, or sixteenths where `swingsSixteenths`. */
  readonly swing?: number;
  readonly swingsSixteenths?: boolean;
}

export interface Tonality {
  readonly bright: Mode;
  readonly dark: Mode;
  /** Chance of the dark scale when the mood does not decide. */
  readonly darkness: number;
  readonly progressions: ProgressionStyle;
  readonly colour: ChordColour;
  /** 2: a chord lasts two bars. */
  readonly barsPerChord?: 2;
}

export interface Patterns {
  readonly drums: DrumStyle | null;
  readonly kit: KitName;
  readonly bass: BassStyle | null;
  readonly comp: CompStyle;
}

export interface MainInstruments {
  readonly leads: readonly InstrumentName[];
  readonly chords: readonly InstrumentName[];
}

export interface Accompaniment {
  readonly pads: readonly InstrumentName[];
  readonly basses: readonly InstrumentName[];
  /** An arpeggio in the louder sections. */
  readonly arpeggio?: InstrumentName;
}

export interface Feeling {
  /** Notes of the melody per bar, roughly: 0 sparse, 1 busy. */
  readonly business: number;
  /** 0 calm, 1 wild. */
  readonly energy: number;
  /** 0 dry, 1 cathedral. */
  readonly space: number;
  /** Depth of the echo on the lead, 0 to 1. */
  readonly echo?: number;
  /** The bass drum ducks all other sound. */
  readonly pumps?: boolean;
  /** Crackle, wow and a duller top. */
  readonly isDusty?: boolean;
  /** Quantised to the grid, without human timing. */
  readonly isTight?: boolean;
}

/** What a style of music decides; the mood decides the rest. */
export interface Genre extends Tempo, Tonality, Patterns, MainInstruments, Accompaniment, Feeling {
  readonly name: string;
  /** Words of a prompt that ask for it; may contain spaces. */
  readonly words: readonly string[];
}

/** @param words separated by commas */
export function defineGenre(
  name: string,
  words: string,
  tempo: Tempo,
  tonality: Tonality,
  patterns: Patterns,
  main: MainInstruments,
  accompaniment: Accompaniment,
  feeling: Feeling,
): Genre {
  return { name, words: words.split(", "), ...tempo, ...tonality, ...patterns, ...main, ...accompaniment, ...feeling };
}
