import type { InstrumentName } from "../sound/instruments.js";

/** A sounding note, in seconds from the start. */
export interface Note {
  readonly start: number;
  /** Until the note is released; the instrument's release follows. */
  readonly seconds: number;
  readonly midi: number;
  /** 0 to 1. */
  readonly velocity: number;
}

/** A note still in musical time. */
export interface Step {
  readonly beat: number;
  readonly beats: number;
  readonly midi: number;
  readonly velocity: number;
}

/** What one instrument plays. */
export interface Part {
  readonly name: string;
  readonly instrument: InstrumentName;
  readonly stem: "bass" | "other";
  readonly gain: number;
  /** -1 left, 1 right. */
  readonly pan: number;
  /** Doubled left and right, slightly out of tune. */
  readonly isWide: boolean;
  /** Share that goes to the reverb and to the echo. */
  readonly reverb: number;
  readonly echo: number;
  readonly notes: readonly Note[];
}
