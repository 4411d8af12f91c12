import { PAD_ENVELOPE, type InstrumentSpec } from "./instrument-spec.js";

/** Level of a partial by its order, for a hammer at an eighth of the string. */
function hammered(count: number, softness: number, seconds: number): [number, number, number][] {
  return Array.from({ length: count }, (_, index): [number, number, number] => {
    const order = index + 1;
    const level = Math.abs(Math.sin((Math.PI * order) / 8.3)) / order ** softness;
    return [order * Math.sqrt(1 + 0.0004 * order * order), level, seconds / (1 + 0.28 * index)];
  });
}

const bowed = { attack: 0.12, decay: 0.6, sustain: 0.85, release: 0.35 };
const blown = { attack: 0.05, decay: 0.3, sustain: 0.85, release: 0.14 };

/** Struck, plucked, bowed, blown and sung instruments. */
export const ACOUSTIC_INSTRUMENTS = {
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
    envelope: { ...PAD_ENVELOPE, attack: 0.35, release: 0.9 },
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
  fingerBass: { engine: "string", seconds: 2.2, brightness: 0.2, position: 0.3, release: 0.09 },
  pickBass: { engine: "string", seconds: 2.4, brightness: 0.5, position: 0.14, release: 0.07, drive: 1.6 },
  uprightBass: { engine: "string", seconds: 1.5, brightness: 0.1, position: 0.42, release: 0.1 },
} as const satisfies Record<string, InstrumentSpec>;
