import { ACOUSTIC_INSTRUMENTS } from "./acoustic-instruments.js";
import { frequencyOf } from "./dsp.js";
import { ELECTRONIC_INSTRUMENTS } from "./electronic-instruments.js";
import { renderAdditive, renderFm, renderModal, renderSubtractive } from "./engines.js";
import type { Tone } from "./engines.js";
import type { InstrumentSpec } from "./instrument-spec.js";
import { renderString } from "./strings.js";

const SPECS = { ...ACOUSTIC_INSTRUMENTS, ...ELECTRONIC_INSTRUMENTS };

export type InstrumentName = keyof typeof SPECS;

/** Loudest tenth of a second of every note at full velocity, so that instruments can be balanced by one number. */
const NOTE_RMS = 0.2;
const WINDOW = 4_096;
/** Every so many samples are enough to measure it. */
const MEASURE_STRIDE = 3;

export interface SoundedNote {
  /** Mono. */
  readonly samples: Float32Array;
  /** Evens out the loudness of instruments and ranges. */
  readonly gain: number;
}

/** Cents between the sides of a doubled instrument that has no detune of its own. */
const DOUBLED_CENTS = 5;

/**
 * Sounds one note of an instrument.
 *
 * @param gate seconds until the note is released; its release follows
 * @param side -1 or 1 for one half of a doubled instrument, 0 for a single one
 */
export function soundNote(
  name: InstrumentName,
  midi: number,
  gate: number,
  velocity: number,
  seed: number,
  side: -1 | 0 | 1,
): SoundedNote {
  const spec: InstrumentSpec = SPECS[name];
  const detune = spec.engine === "subtractive" ? (spec.detune ?? DOUBLED_CENTS) : DOUBLED_CENTS;
  const tone: Tone = { hz: frequencyOf(midi + (side * detune) / 200), gate, velocity, seed };
  // Two sides out of tune are as thick as one with twice the oscillators.
  const samples = render(side !== 0 && spec.engine === "subtractive" ? { ...spec, voices: 1 } : spec, tone);
  return { samples, gain: NOTE_RMS / loudestRms(samples) };
}

function render(spec: InstrumentSpec, tone: Tone): Float32Array {
  switch (spec.engine) {
    case "modal":
      return renderModal(spec, tone);
    case "subtractive":
      return renderSubtractive(spec, tone);
    case "additive":
      return renderAdditive(spec, tone);
    case "fm":
      return renderFm(spec, tone);
    case "string":
      return renderString(spec, tone);
  }
}

function loudestRms(samples: Float32Array): number {
  let loudest = 1e-9;
  for (let start = 0; start < samples.length; start += WINDOW) {
    const end = Math.min(samples.length, start + WINDOW);
    let sum = 0;
    for (let index = start; index < end; index += MEASURE_STRIDE)
      sum += (samples[index] as number) * (samples[index] as number);
    loudest = Math.max(loudest, (sum * MEASURE_STRIDE) / Math.max(end - start, WINDOW / 2));
  }
  return Math.sqrt(loudest);
}
