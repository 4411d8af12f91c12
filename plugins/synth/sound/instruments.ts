import { frequencyOf } from "./dsp.js";
import { renderAdditive, renderFm, renderModal, renderSubtractive } from "./engines.js";
import type { AdditiveSpec, FmSpec, ModalSpec, SubtractiveSpec, Tone } from "./engines.js";
import { renderString } from "./strings.js";
import type { StringSpec } from "./strings.js";

type InstrumentSpec = ModalSpec | SubtractiveSpec | AdditiveSpec | FmSpec | StringSpec;

/** Level of a partial over its order, as a hammer at an eighth of the string leaves it. */
function hammered(count: number, softness: number, seconds: number): [number, number, number][] {
  return Array.from({ length: count }, (_, index): [number, number, number] => {
    const order = index + 1;
    const level = Math.abs(Math.sin((Math.PI * order) / 8.3)) / order ** softness;
    return [order * Math.sqrt(1 + 0.0004 * order * order), level, seconds / (1 + 0.28 * index)];
  });
}

const pad = { attack: 0.5, decay: 2, sustain: 0.85, release: 1.6 };
const bowed = { attack: 0.12, decay: 0.6, sustain: 0.85, release: 0.35 };
const blown = { attack: 0.05, decay: 0.3, sustain: 0.85, release: 0.14 };
const held = { attack: 0.006, decay: 0.3, sustain: 0.8, release: 0.09 };
const short = { attack: 0.003, decay: 0.28, sustain: 0.0, release: 0.12 };

const SPECS = {
  piano: {
    engine: "modal",
    partials: [...hammered(9, 1.0, 5.5), [1.0011, 0.3, 4.5], [2.003, 0.12, 3.5]],
    knock: 0.25,
    release: 0.28,
  },
  softPiano: { engine: "modal", partials: [...hammered(5, 1.7, 4.5), [1.0013, 0.35, 4]], knock: 0.1, release: 0.35 },
  vibraphone: {
    engine: "modal",
    partials: [
      [1, 1, 3.2],
      [3.98, 0.22, 0.9],
      [9.9, 0.06, 0.25],
    ],
    knock: 0.08,
    release: 0.7,
  },
  musicBox: {
    engine: "modal",
    partials: [
      [1, 1, 2.2],
      [2.002, 0.3, 1.4],
      [5.4, 0.18, 0.6],
      [8.9, 0.08, 0.25],
    ],
    knock: 0.12,
    release: 1.2,
  },
  bell: {
    engine: "modal",
    partials: [
      [1, 0.8, 3.4],
      [2.01, 0.5, 2.4],
      [3.01, 0.25, 1.6],
      [4.17, 0.25, 1.1],
      [5.43, 0.15, 0.8],
    ],
    knock: 0.05,
    release: 2,
  },
  electricPiano: {
    engine: "fm",
    ratio: 1,
    index: 1.6,
    indexSeconds: 1.4,
    envelope: { attack: 0.002, decay: 2.6, sustain: 0.05, release: 0.25 },
  },
  clavinet: { engine: "string", seconds: 1.6, brightness: 0.85, position: 0.08, release: 0.05 },
  organ: {
    engine: "additive",
    harmonics: [0.8, 0.7, 0.55, 0.4, 0, 0.3, 0, 0.22],
    breath: 0,
    vibrato: 0.004,
    envelope: { attack: 0.008, decay: 0.1, sustain: 0.95, release: 0.07 },
  },
  accordion: {
    engine: "additive",
    harmonics: [0.7, 0.5, 0.45, 0.35, 0.3, 0.22, 0.2, 0.14, 0.1, 0.08],
    breath: 0.01,
    vibrato: 0.005,
    envelope: blown,
  },
  flute: {
    engine: "additive",
    harmonics: [1, 0.28, 0.12, 0.04],
    breath: 0.09,
    vibrato: 0.006,
    envelope: { ...blown, attack: 0.07 },
  },
  saxophone: {
    engine: "additive",
    harmonics: [0.7, 0.6, 0.5, 0.42, 0.28, 0.22, 0.15, 0.1, 0.08, 0.05],
    breath: 0.06,
    vibrato: 0.008,
    envelope: blown,
  },
  trumpet: {
    engine: "subtractive",
    wave: "saw",
    cutoff: 3.2,
    sweep: 4,
    sweepSeconds: 0.3,
    resonance: 0.8,
    vibrato: 0.004,
    envelope: { ...blown, attack: 0.035 },
  },
  brass: {
    engine: "subtractive",
    wave: "saw",
    voices: 2,
    detune: 7,
    cutoff: 3,
    sweep: 3.5,
    sweepSeconds: 0.5,
    resonance: 0.7,
    vibrato: 0.003,
    envelope: { ...blown, attack: 0.06, release: 0.22 },
  },
  fiddle: {
    engine: "subtractive",
    wave: "saw",
    cutoff: 5,
    sweep: 1.5,
    sweepSeconds: 0.3,
    resonance: 0.9,
    vibrato: 0.009,
    envelope: { ...bowed, attack: 0.07, release: 0.18 },
  },
  strings: {
    engine: "subtractive",
    wave: "saw",
    voices: 2,
    detune: 9,
    cutoff: 4,
    sweep: 0,
    sweepSeconds: 1,
    resonance: 0.6,
    vibrato: 0.005,
    envelope: { ...bowed, attack: 0.2, release: 0.6 },
  },
  spiccato: {
    engine: "subtractive",
    wave: "saw",
    voices: 2,
    detune: 9,
    cutoff: 2.5,
    sweep: 4,
    sweepSeconds: 0.15,
    resonance: 0.7,
    envelope: { attack: 0.012, decay: 0.3, sustain: 0.25, release: 0.16 },
  },
  celloBass: {
    engine: "subtractive",
    wave: "saw",
    voices: 2,
    detune: 6,
    cutoff: 4.5,
    sweep: 1,
    sweepSeconds: 0.4,
    resonance: 0.7,
    vibrato: 0.004,
    envelope: { ...bowed, attack: 0.09 },
  },
  choir: {
    engine: "additive",
    harmonics: [1, 0.75, 0.42, 0.2, 0.1, 0.14, 0.1, 0.04],
    breath: 0.05,
    vibrato: 0.007,
    envelope: { ...pad, attack: 0.35, release: 0.9 },
  },
  harp: { engine: "string", seconds: 3.4, brightness: 0.42, position: 0.4, release: 0.9 },
  nylonGuitar: { engine: "string", seconds: 2.8, brightness: 0.3, position: 0.25, release: 0.16 },
  steelGuitar: { engine: "string", seconds: 3.6, brightness: 0.68, position: 0.15, release: 0.16 },
  cleanGuitar: { engine: "string", seconds: 3, brightness: 0.6, position: 0.2, release: 0.07 },
  powerGuitar: {
    engine: "string",
    seconds: 5,
    brightness: 0.7,
    position: 0.12,
    release: 0.08,
    drive: 9,
    isPowerChord: true,
  },
  leadGuitar: { engine: "string", seconds: 6, brightness: 0.6, position: 0.2, release: 0.1, drive: 7 },
  warmPad: {
    engine: "subtractive",
    wave: "saw",
    voices: 2,
    detune: 11,
    cutoff: 2.6,
    sweep: 0.6,
    sweepSeconds: 3,
    resonance: 0.6,
    envelope: pad,
  },
  darkPad: {
    engine: "subtractive",
    wave: "saw",
    voices: 2,
    detune: 14,
    sub: 0.3,
    cutoff: 1.7,
    sweep: 0.7,
    sweepSeconds: 4,
    resonance: 0.8,
    envelope: pad,
  },
  glassPad: {
    engine: "fm",
    ratio: 3.003,
    index: 0.9,
    indexSeconds: 6,
    envelope: { ...pad, attack: 0.7, release: 2.2 },
  },
  brassPad: {
    engine: "subtractive",
    wave: "saw",
    voices: 2,
    detune: 10,
    cutoff: 2,
    sweep: 3,
    sweepSeconds: 1.2,
    resonance: 0.7,
    envelope: { attack: 0.08, decay: 1.2, sustain: 0.75, release: 0.5 },
  },
  stab: {
    engine: "subtractive",
    wave: "saw",
    voices: 2,
    detune: 12,
    cutoff: 1.6,
    sweep: 6,
    sweepSeconds: 0.22,
    resonance: 1,
    envelope: { attack: 0.003, decay: 0.35, sustain: 0.1, release: 0.2 },
  },
  pluck: {
    engine: "subtractive",
    wave: "saw",
    voices: 2,
    detune: 8,
    cutoff: 1.4,
    sweep: 7,
    sweepSeconds: 0.2,
    resonance: 1.1,
    envelope: { attack: 0.002, decay: 0.5, sustain: 0.05, release: 0.22 },
  },
  superLead: {
    engine: "subtractive",
    wave: "saw",
    voices: 3,
    detune: 18,
    cutoff: 7,
    sweep: 5,
    sweepSeconds: 0.5,
    resonance: 0.7,
    envelope: { attack: 0.005, decay: 0.8, sustain: 0.75, release: 0.2 },
  },
  sawLead: {
    engine: "subtractive",
    wave: "saw",
    voices: 2,
    detune: 7,
    cutoff: 4,
    sweep: 3,
    sweepSeconds: 0.5,
    resonance: 1,
    vibrato: 0.005,
    envelope: held,
  },
  squareLead: {
    engine: "subtractive",
    wave: "pulse",
    width: 0.4,
    cutoff: 5,
    sweep: 2,
    sweepSeconds: 0.4,
    resonance: 0.9,
    vibrato: 0.005,
    envelope: held,
  },
  softLead: {
    engine: "subtractive",
    wave: "triangle",
    voices: 2,
    detune: 5,
    cutoff: 6,
    sweep: 2,
    sweepSeconds: 0.4,
    resonance: 0.7,
    vibrato: 0.005,
    envelope: { ...held, attack: 0.02, release: 0.25 },
  },
  acidLead: {
    engine: "subtractive",
    wave: "saw",
    cutoff: 1.5,
    sweep: 9,
    sweepSeconds: 0.16,
    resonance: 4.5,
    envelope: { attack: 0.002, decay: 0.3, sustain: 0.3, release: 0.06 },
  },
  chipLead: {
    engine: "subtractive",
    wave: "pulse",
    width: 0.25,
    cutoff: 24,
    sweep: 0,
    sweepSeconds: 1,
    resonance: 0.7,
    vibrato: 0.006,
    envelope: { attack: 0.002, decay: 0.2, sustain: 0.7, release: 0.03 },
  },
  chipPulse: {
    engine: "subtractive",
    wave: "pulse",
    width: 0.125,
    cutoff: 24,
    sweep: 0,
    sweepSeconds: 1,
    resonance: 0.7,
    envelope: { attack: 0.002, decay: 0.25, sustain: 0.4, release: 0.03 },
  },
  chipBass: {
    engine: "subtractive",
    wave: "triangle",
    cutoff: 30,
    sweep: 0,
    sweepSeconds: 1,
    resonance: 0.7,
    envelope: { attack: 0.002, decay: 0.2, sustain: 0.9, release: 0.03 },
  },
  synthBass: {
    engine: "subtractive",
    wave: "saw",
    sub: 0.5,
    voices: 1,
    cutoff: 2.4,
    sweep: 6,
    sweepSeconds: 0.22,
    resonance: 1,
    envelope: { attack: 0.004, decay: 0.4, sustain: 0.6, release: 0.07 },
  },
  acidBass: {
    engine: "subtractive",
    wave: "saw",
    sub: 0.4,
    cutoff: 1.8,
    sweep: 7,
    sweepSeconds: 0.13,
    resonance: 2.6,
    envelope: { ...short, sustain: 0.4 },
  },
  reeseBass: {
    engine: "subtractive",
    wave: "saw",
    voices: 2,
    detune: 17,
    sub: 0.6,
    cutoff: 6,
    sweep: 1,
    sweepSeconds: 0.8,
    resonance: 0.8,
    wobble: 2.9,
    envelope: { attack: 0.01, decay: 0.5, sustain: 0.9, release: 0.1 },
  },
  subBass: {
    engine: "additive",
    harmonics: [1, 0.16, 0.06],
    breath: 0,
    vibrato: 0,
    envelope: { attack: 0.008, decay: 1.4, sustain: 0.7, release: 0.12 },
  },
  roundBass: {
    engine: "subtractive",
    wave: "triangle",
    sub: 0.25,
    cutoff: 3,
    sweep: 2,
    sweepSeconds: 0.2,
    resonance: 0.7,
    envelope: { attack: 0.008, decay: 0.8, sustain: 0.6, release: 0.1 },
  },
  fingerBass: { engine: "string", seconds: 2.2, brightness: 0.2, position: 0.3, release: 0.09 },
  pickBass: { engine: "string", seconds: 2.4, brightness: 0.5, position: 0.14, release: 0.07, drive: 1.6 },
  uprightBass: { engine: "string", seconds: 1.5, brightness: 0.1, position: 0.42, release: 0.1 },
} as const satisfies Record<string, InstrumentSpec>;

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

/** Cents by which the sides of a doubled instrument are apart, where it has no detune of its own. */
const DOUBLED_CENTS = 5;

/**
 * Sounds one note of an instrument.
 *
 * @param gate seconds until the note is let go; its release comes on top
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
