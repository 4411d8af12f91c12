import type { Envelope } from "./dsp.js";
import type { AdditiveSpec, FmSpec, ModalSpec, SubtractiveSpec } from "./engines.js";
import type { StringSpec } from "./strings.js";

export type InstrumentSpec = ModalSpec | SubtractiveSpec | AdditiveSpec | FmSpec | StringSpec;

/** Slow attack and release, for choirs and synthesiser pads. */
export const PAD_ENVELOPE: Envelope = { attack: 0.5, decay: 2, sustain: 0.85, release: 1.6 };
