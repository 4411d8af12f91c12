import type { ChordColour, Mode } from "./theory.js";
import type { DrumStyle } from "./drums.js";
import type { BassStyle } from "./bass.js";
import type { CompStyle } from "./comping.js";
import type { ProgressionStyle } from "./harmony.js";
import type { InstrumentName } from "../sound/instruments.js";
import type { KitName } from "../sound/drum-kit.js";

/** Everything that a style of music fixes; the mood moves what is left. */
export interface Genre {
  readonly name: string;
  /** Words of a prompt that ask for it; may hold spaces. */
  readonly words: readonly string[];
  readonly bpm: readonly [number, number];
  readonly beatsPerBar?: 3;
  /** 0.5 is straight, 0.67 a triplet shuffle; pairs are eighths, or sixteenths where `swingsSixteenths`. */
  readonly swing?: number;
  readonly swingsSixteenths?: boolean;
  readonly bright: Mode;
  readonly dark: Mode;
  /** Chance of the dark scale when the mood leaves it open. */
  readonly darkness: number;
  readonly progressions: ProgressionStyle;
  readonly colour: ChordColour;
  /** 2: a chord lasts two bars. */
  readonly barsPerChord?: 2;
  readonly drums: DrumStyle | null;
  readonly kit: KitName;
  readonly bass: BassStyle | null;
  readonly comp: CompStyle;
  readonly leads: readonly InstrumentName[];
  readonly chords: readonly InstrumentName[];
  readonly pads: readonly InstrumentName[];
  readonly basses: readonly InstrumentName[];
  /** An arpeggio in the louder sections. */
  readonly arpeggio?: InstrumentName;
  /** Notes of the melody per bar, roughly: 0 sparse, 1 busy. */
  readonly business: number;
  /** 0 calm, 1 wild. */
  readonly energy: number;
  /** 0 dry, 1 cathedral. */
  readonly space: number;
  /** Depth of the echo on the lead, 0 to 1. */
  readonly echo?: number;
  /** Everything ducks under the bass drum. */
  readonly pumps?: boolean;
  /** Crackle, wow and a duller top. */
  readonly isDusty?: boolean;
  /** Played to the grid, without human timing. */
  readonly isTight?: boolean;
}
