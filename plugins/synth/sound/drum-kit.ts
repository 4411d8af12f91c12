import type { DrumSound } from "../composer/drums.js";
import { Noise, SAMPLE_RATE, StateFilter, sineOf, toSamples } from "./dsp.js";

/** The common parameters of the drums of one kit. */
interface KitSpec {
  /** Lowest pitch of the bass drum in hertz, its length in seconds and the loudness of its click. */
  readonly kick: readonly [hz: number, seconds: number, click: number];
  /** Pitch of the snare, share of rattle, seconds. */
  readonly snare: readonly [hz: number, rattle: number, seconds: number];
  /** Lowest frequency of the cymbals, and seconds of a closed hat. */
  readonly metal: readonly [hz: number, seconds: number];
  /** Pitch of the lowest tom, seconds. */
  readonly tom: readonly [hz: number, seconds: number];
  /** Everything above is cut. */
  readonly cutoffHz: number;
  /** Loudness of sounds against the kit's own balance. */
  readonly levels?: Partial<Record<DrumSound, number>>;
}

const KITS = {
  acoustic: { kick: [52, 0.32, 0.4], snare: [190, 0.65, 0.22], metal: [7_000, 0.06], tom: [85, 0.4], cutoffHz: 15_000 },
  rock: {
    kick: [55, 0.34, 0.7],
    snare: [175, 0.75, 0.28],
    metal: [6_000, 0.07],
    tom: [80, 0.5],
    cutoffHz: 16_000,
    levels: { kick: 1.1, snare: 1.15 },
  },
  electronic: {
    kick: [46, 0.4, 0.55],
    snare: [200, 0.7, 0.2],
    metal: [8_500, 0.045],
    tom: [90, 0.35],
    cutoffHz: 18_000,
    levels: { kick: 1 },
  },
  eight08: {
    kick: [42, 0.55, 0.3],
    snare: [210, 0.6, 0.18],
    metal: [9_000, 0.04],
    tom: [75, 0.5],
    cutoffHz: 18_000,
    levels: { kick: 0.85 },
  },
  dusty: {
    kick: [54, 0.26, 0.2],
    snare: [170, 0.55, 0.18],
    metal: [5_500, 0.05],
    tom: [90, 0.3],
    cutoffHz: 6_500,
    levels: { hat: 0.8 },
  },
  brush: {
    kick: [58, 0.22, 0.1],
    snare: [200, 0.9, 0.2],
    metal: [5_000, 0.07],
    tom: [95, 0.4],
    cutoffHz: 12_000,
    levels: { kick: 0.75, snare: 0.8, hat: 1.1, ride: 1.7, rim: 1.2 },
  },
  gated: {
    kick: [50, 0.3, 0.5],
    snare: [165, 0.85, 0.32],
    metal: [7_500, 0.06],
    tom: [80, 0.5],
    cutoffHz: 16_000,
    levels: { snare: 1.2 },
  },
  chip: {
    kick: [60, 0.14, 0],
    snare: [220, 0.95, 0.12],
    metal: [6_000, 0.03],
    tom: [110, 0.2],
    cutoffHz: 12_000,
    levels: { kick: 0.9, crash: 0.5 },
  },
  orchestral: {
    kick: [44, 0.9, 0.15],
    snare: [180, 0.8, 0.25],
    metal: [4_500, 0.12],
    tom: [62, 0.9],
    cutoffHz: 11_000,
    levels: { kick: 0.5, tomLow: 0.62, tomMid: 0.6, tomHigh: 0.6, hat: 0.5, crash: 0.8 },
  },
  hand: {
    kick: [64, 0.24, 0.15],
    snare: [210, 0.5, 0.15],
    metal: [6_500, 0.05],
    tom: [110, 0.3],
    cutoffHz: 12_000,
    levels: { kick: 0.85, clap: 0.8, crash: 0.4 },
  },
} as const satisfies Record<string, KitSpec>;

export type KitName = keyof typeof KITS;

/** Loudness and place of each sound within a kit. */
const PLACES: Record<DrumSound, { readonly level: number; readonly pan: number }> = {
  kick: { level: 0.85, pan: 0 },
  snare: { level: 0.55, pan: 0.04 },
  clap: { level: 0.45, pan: -0.06 },
  rim: { level: 0.3, pan: 0.2 },
  hat: { level: 0.17, pan: 0.3 },
  openHat: { level: 0.19, pan: 0.3 },
  ride: { level: 0.16, pan: -0.35 },
  crash: { level: 0.26, pan: -0.25 },
  tomHigh: { level: 0.5, pan: 0.3 },
  tomMid: { level: 0.52, pan: 0 },
  tomLow: { level: 0.6, pan: -0.3 },
  shaker: { level: 0.13, pan: -0.3 },
};

export interface DrumVoice {
  /** Mono, at full velocity. */
  readonly samples: Float32Array;
  readonly pan: number;
}

const known = new Map<string, DrumVoice>();

/**
 * One stroke of a drum; `take` varies it slightly, so that no two strokes in a row are the same. Cached for later
 * tracks.
 */
export function soundDrum(kit: KitName, sound: DrumSound, take: number): DrumVoice {
  const key = `${kit} ${sound} ${take}`;
  const voice = known.get(key) ?? renderDrum(kit, sound, take);
  known.set(key, voice);
  return voice;
}

function renderDrum(kit: KitName, sound: DrumSound, take: number): DrumVoice {
  const spec: KitSpec = KITS[kit];
  const { level, pan } = PLACES[sound];
  const samples = render(spec, sound, 31 + take * 97);
  const loudness = level * (spec.levels?.[sound] ?? 1);
  let peak = 1e-9;
  for (const value of samples) peak = Math.max(peak, Math.abs(value));
  const edge = Math.min(64, samples.length);
  for (let index = 0; index < samples.length; index += 1) {
    const left = samples.length - 1 - index;
    samples[index] = ((samples[index] as number) * loudness * Math.min(1, left / edge)) / peak;
  }
  return { samples, pan };
}

function render(spec: KitSpec, sound: DrumSound, seed: number): Float32Array {
  const noise = new Noise(seed);
  const detune = 1 + 0.012 * noise.next();
  const [metalHz, hatSeconds] = spec.metal;
  const [tomHz, tomSeconds] = spec.tom;
  const [snareHz, rattle, snareSeconds] = spec.snare;
  switch (sound) {
    case "kick":
      return sweep(spec.kick[0] * detune, 4.5, 0.035, spec.kick[1], spec.kick[2], noise);
    case "tomHigh":
      return sweep(tomHz * 1.9 * detune, 1.6, 0.06, tomSeconds * 0.7, 0.15, noise);
    case "tomMid":
      return sweep(tomHz * 1.4 * detune, 1.6, 0.06, tomSeconds * 0.85, 0.15, noise);
    case "tomLow":
      return sweep(tomHz * detune, 1.6, 0.07, tomSeconds, 0.15, noise);
    case "snare":
      return snare(snareHz * detune, rattle, snareSeconds, spec.cutoffHz, noise);
    case "clap":
      return clap(spec.cutoffHz, noise);
    case "rim":
      return ping([420 * detune, 1_680 * detune], 0.05, noise);
    case "hat":
      return cymbal(metalHz, hatSeconds * 3, 0.35, spec.cutoffHz, noise);
    case "openHat":
      return cymbal(metalHz, 0.38, 0.35, spec.cutoffHz, noise);
    case "ride":
      return cymbal(metalHz * 0.6, 0.9, 0.75, spec.cutoffHz, noise);
    case "crash":
      return cymbal(metalHz * 0.45, 2.2, 0.25, spec.cutoffHz, noise);
    case "shaker":
      return shaker(metalHz * 0.8, noise);
  }
}

/** A sine that falls from `ratio` times its pitch. */
function sweep(
  hz: number,
  ratio: number,
  fallSeconds: number,
  seconds: number,
  click: number,
  noise: Noise,
): Float32Array {
  const out = new Float32Array(toSamples(seconds * 1.3));
  let phase = 0;
  for (let index = 0; index < out.length; index += 1) {
    const time = index / SAMPLE_RATE;
    phase += (hz * (1 + (ratio - 1) * Math.exp(-time / fallSeconds))) / SAMPLE_RATE;
    const body = Math.tanh(1.6 * sineOf(phase)) * Math.exp((-4 * time) / seconds);
    const tick = time < 0.012 ? click * noise.next() * (1 - time / 0.012) ** 2 : 0;
    out[index] = Math.min(1, index / 20) * body + tick;
  }
  return out;
}

function snare(hz: number, rattle: number, seconds: number, cutoffHz: number, noise: Noise): Float32Array {
  const out = new Float32Array(toSamples(seconds * 1.6));
  const filter = new StateFilter();
  filter.tune(1_400, 0.8);
  const top = new StateFilter();
  top.tune(Math.min(cutoffHz, 9_500), 0.7);
  let phase = 0;
  for (let index = 0; index < out.length; index += 1) {
    const time = index / SAMPLE_RATE;
    phase += (hz * (1 + 0.6 * Math.exp(-time / 0.02))) / SAMPLE_RATE;
    const drum = (sineOf(phase) + 0.5 * sineOf(phase * 1.78)) * Math.exp((-7 * time) / seconds);
    const input = noise.next();
    filter.process(input);
    top.process(filter.high(input));
    out[index] = (1 - rattle) * 1.4 * drum + rattle * top.low * Math.exp((-4.5 * time) / seconds);
  }
  return out;
}

/** Three short bursts and a reverb tail. */
function clap(cutoffHz: number, noise: Noise): Float32Array {
  const out = new Float32Array(toSamples(0.26));
  const filter = new StateFilter();
  filter.tune(Math.min(1_500, cutoffHz), 1.1);
  for (let index = 0; index < out.length; index += 1) {
    const time = index / SAMPLE_RATE;
    const burst = time < 0.03 ? Math.exp(-(time % 0.01) / 0.003) : 0.8 * Math.exp(-(time - 0.03) / 0.055);
    filter.process(noise.next());
    out[index] = filter.band * burst;
  }
  return out;
}

function ping(frequencies: readonly number[], seconds: number, noise: Noise): Float32Array {
  const out = new Float32Array(toSamples(seconds * 2));
  for (let index = 0; index < out.length; index += 1) {
    const time = index / SAMPLE_RATE;
    const tone = frequencies.reduce((sum, hz) => sum + sineOf(hz * time + 0.01), 0);
    out[index] = (tone + (time < 0.004 ? noise.next() : 0)) * Math.exp((-5 * time) / seconds) * Math.min(1, index / 12);
  }
  return out;
}

const METAL_RATIOS = [1, 1.342, 1.2312, 1.6532, 1.9523, 2.1523];

/** Square waves that fit no scale, mixed with noise, above `hz`. */
function cymbal(hz: number, seconds: number, ring: number, cutoffHz: number, noise: Noise): Float32Array {
  const out = new Float32Array(toSamples(seconds));
  const filter = new StateFilter();
  filter.tune(hz, 0.9);
  const top = new StateFilter();
  top.tune(cutoffHz, 0.7);
  const base = 540 * (1 + 0.02 * noise.next());
  for (let index = 0; index < out.length; index += 1) {
    const time = index / SAMPLE_RATE;
    let metal = 0;
    for (const ratio of METAL_RATIOS) metal += (base * ratio * time) % 1 < 0.5 ? 1 : -1;
    const input = ring * metal * 0.25 + (1 - ring) * noise.next();
    filter.process(input);
    top.process(filter.high(input));
    const fall = Math.exp((-5 * time) / seconds);
    out[index] = top.low * (0.6 * fall + 0.4 * fall * fall * fall) * Math.min(1, index / 30);
  }
  return out;
}

function shaker(hz: number, noise: Noise): Float32Array {
  const out = new Float32Array(toSamples(0.11));
  const filter = new StateFilter();
  filter.tune(hz, 1.2);
  for (let index = 0; index < out.length; index += 1) {
    const time = index / SAMPLE_RATE;
    filter.process(noise.next());
    out[index] = filter.band * Math.min(1, time / 0.02) * Math.exp(-Math.max(0, time - 0.02) / 0.025);
  }
  return out;
}
