import { CONTROL_SAMPLES, Noise, SAMPLE_RATE, StateFilter, envelopeAt, sineOf, toSamples } from "./dsp.js";
import type { Envelope } from "./dsp.js";
import { Oscillators } from "./oscillators.js";
import type { OscillatorSpec } from "./oscillators.js";

/** One note for an engine to sound. */
export interface Tone {
  readonly hz: number;
  /** Seconds until the note is released. */
  readonly gate: number;
  /** 0 to 1; engines sound brighter when struck harder. */
  readonly velocity: number;
  readonly seed: number;
}

/** Struck instruments: decaying sine waves. */
export interface ModalSpec {
  readonly engine: "modal";
  /** Ratio to the note, level, seconds to fall by 60 dB at middle C. */
  readonly partials: readonly (readonly [ratio: number, level: number, seconds: number])[];
  /** Noise of the hammer or mallet. */
  readonly knock: number;
  readonly release: number;
}

/** Oscillators through a filter. */
export interface SubtractiveSpec extends OscillatorSpec {
  readonly engine: "subtractive";
  /** Cutoff in multiples of the note at rest, and what the envelope adds on top. */
  readonly cutoff: number;
  readonly sweep: number;
  readonly sweepSeconds: number;
  readonly resonance: number;
  readonly vibrato?: number;
  /** Filter movements per second. */
  readonly wobble?: number;
  readonly envelope: Envelope;
}

/** A fixed spectrum with breath and vibrato: pipes, reeds, organs. */
export interface AdditiveSpec {
  readonly engine: "additive";
  readonly harmonics: readonly number[];
  readonly breath: number;
  readonly vibrato: number;
  readonly envelope: Envelope;
}

/** One sine modulating another: electric pianos and bells. */
export interface FmSpec {
  readonly engine: "fm";
  readonly ratio: number;
  readonly index: number;
  readonly indexSeconds: number;
  readonly envelope: Envelope;
}

/** Middle C, to which the decay times of struck and plucked instruments refer. */
const REFERENCE_HZ = 261.6;

export function renderModal(spec: ModalSpec, { hz, gate, velocity, seed }: Tone): Float32Array {
  const stretch = Math.min(2, Math.max(0.3, Math.sqrt(REFERENCE_HZ / hz)));
  const longest = Math.max(...spec.partials.map(([, , seconds]) => seconds)) * stretch;
  const length = toSamples(Math.min(gate + spec.release, longest));
  const out = new Float32Array(length);
  spec.partials.forEach(([ratio, level, seconds], index) => {
    const frequency = hz * ratio;
    if (frequency > 16_000) return;
    const loudness = level * (index === 0 ? 1 : 0.45 + 0.55 * velocity);
    const radius = 10 ** (-3 / (seconds * stretch * SAMPLE_RATE));
    const angle = (2 * Math.PI * frequency) / SAMPLE_RATE;
    addDecayingSine(out, loudness, radius, angle, Math.min(length, toSamples(seconds * stretch * 1.2)));
  });
  addKnock(out, spec.knock * velocity, hz, seed);
  return damp(out, gate, spec.release);
}

function addDecayingSine(out: Float32Array, level: number, radius: number, angle: number, length: number): void {
  const first = 2 * radius * Math.cos(angle);
  const second = radius * radius;
  let previous = 0;
  let beforeThat = (-level * Math.sin(angle)) / radius;
  for (let index = 0; index < length; index += 1) {
    const value = first * previous - second * beforeThat;
    out[index] = (out[index] as number) + value;
    beforeThat = previous;
    previous = value;
  }
}

function addKnock(out: Float32Array, level: number, hz: number, seed: number): void {
  const noise = new Noise(seed);
  const length = Math.min(out.length, toSamples(0.03));
  const smoothing = Math.min(0.8, 0.08 + hz / 4_000);
  let smooth = 0;
  for (let index = 0; index < length; index += 1) {
    smooth += smoothing * (noise.next() - smooth);
    const fall = 1 - index / length;
    out[index] = (out[index] as number) + level * smooth * fall * fall * fall;
  }
}

/** Fades a note in over half a millisecond, and out after its release. */
export function damp(out: Float32Array, gate: number, release: number): Float32Array {
  const start = Math.min(out.length, toSamples(gate));
  const fade = Math.min(out.length - start, toSamples(release));
  for (let index = 0; index < 24 && index < out.length; index += 1) out[index] = (out[index] as number) * (index / 24);
  for (let index = start; index < out.length; index += 1) {
    const left = Math.max(0, 1 - (index - start) / Math.max(1, fade));
    out[index] = (out[index] as number) * left * left;
  }
  // A note that was still sounding where its time ran out must not click.
  const edge = Math.min(256, out.length);
  for (let index = 0; index < edge; index += 1)
    out[out.length - 1 - index] = (out[out.length - 1 - index] as number) * (index / edge);
  return out;
}

export function renderSubtractive(spec: SubtractiveSpec, { hz, gate, velocity, seed }: Tone): Float32Array {
  const { envelope, vibrato = 0, wobble = 0 } = spec;
  const length = toSamples(gate + envelope.release);
  const out = new Float32Array(length);
  const oscillators = new Oscillators(spec, new Noise(seed));
  const filter = new StateFilter();
  const sweepScale = 0.4 + 0.6 * velocity;
  for (let start = 0; start < length; start += CONTROL_SAMPLES) {
    const time = start / SAMPLE_RATE;
    const end = Math.min(length, start + CONTROL_SAMPLES);
    const opening = spec.cutoff + spec.sweep * sweepScale * Math.exp((-3 * time) / spec.sweepSeconds);
    const moved = wobble > 0 ? opening * (0.25 + 0.75 * (0.5 + 0.5 * sineOf(wobble * time + 0.25))) : opening;
    filter.tune(Math.max(60, hz * moved), spec.resonance);
    const depth = Math.min(1, Math.max(0, (time - 0.2) * 3)) * vibrato;
    oscillators.fill(out, start, end, (hz * (1 + depth * sineOf(5.2 * time))) / SAMPLE_RATE);
    const level = envelopeAt(envelope, time, gate);
    const slope = (envelopeAt(envelope, end / SAMPLE_RATE, gate) - level) / (end - start);
    filter.lowPass(out, start, end, level, slope);
  }
  return out;
}

const TABLE_SIZE = 2_048;
const tables = new Map<readonly number[], Float32Array>();

/** One turn of a wave with these harmonics; one sample more than a turn, for interpolation. */
function tableOf(harmonics: readonly number[]): Float32Array {
  const known = tables.get(harmonics);
  if (known !== undefined) return known;
  const table = Float32Array.from({ length: TABLE_SIZE + 1 }, (_, index) =>
    harmonics.reduce(
      (sum, level, order) => sum + level * Math.sin((2 * Math.PI * (order + 1) * index) / TABLE_SIZE),
      0,
    ),
  );
  tables.set(harmonics, table);
  return table;
}

export function renderAdditive(spec: AdditiveSpec, { hz, gate, velocity, seed }: Tone): Float32Array {
  const audible = Math.max(1, Math.min(spec.harmonics.length, Math.floor(16_000 / hz)));
  const table = tableOf(audible === spec.harmonics.length ? spec.harmonics : spec.harmonics.slice(0, audible));
  const length = toSamples(gate + spec.envelope.release);
  const out = new Float32Array(length);
  const noise = new Noise(seed);
  const breath = new StateFilter();
  breath.tune(hz * 2, 1.5);
  let phase = 0;
  for (let start = 0; start < length; start += CONTROL_SAMPLES) {
    const time = start / SAMPLE_RATE;
    const end = Math.min(length, start + CONTROL_SAMPLES);
    const depth = Math.min(1, Math.max(0, (time - 0.15) * 2.5)) * spec.vibrato;
    const swell = sineOf(5.1 * time);
    const step = (hz * (1 + depth * swell)) / SAMPLE_RATE;
    const tremolo = (1 + depth * 12 * swell) * (0.7 + 0.3 * velocity);
    let level = envelopeAt(spec.envelope, time, gate) * tremolo;
    const slope = (envelopeAt(spec.envelope, end / SAMPLE_RATE, gate) * tremolo - level) / (end - start);
    const puff = spec.breath * (1 + 3 * Math.exp(-time * 25));
    for (let index = start; index < end; index += 1) {
      phase += step;
      if (phase >= 1) phase -= 1;
      const position = phase * TABLE_SIZE;
      const whole = position | 0;
      const low = table[whole] as number;
      let value = low + ((table[whole + 1] as number) - low) * (position - whole);
      if (puff > 0) {
        breath.process(noise.next());
        value += puff * breath.band;
      }
      out[index] = value * level;
      level += slope;
    }
  }
  return out;
}

export function renderFm(spec: FmSpec, { hz, gate, velocity }: Tone): Float32Array {
  const length = toSamples(gate + spec.envelope.release);
  const out = new Float32Array(length);
  const carrierStep = hz / SAMPLE_RATE;
  const modulatorStep = carrierStep * spec.ratio;
  // High notes get less modulation, or they alias and bite.
  const index0 = (spec.index * (0.35 + 0.65 * velocity) * Math.min(1, 900 / hz)) / (2 * Math.PI);
  let carrier = 0;
  let modulator = 0;
  for (let start = 0; start < length; start += CONTROL_SAMPLES) {
    const time = start / SAMPLE_RATE;
    const end = Math.min(length, start + CONTROL_SAMPLES);
    const depth = index0 * Math.exp((-3 * time) / spec.indexSeconds);
    let level = envelopeAt(spec.envelope, time, gate);
    const slope = (envelopeAt(spec.envelope, end / SAMPLE_RATE, gate) - level) / (end - start);
    for (let index = start; index < end; index += 1) {
      modulator += modulatorStep;
      if (modulator >= 1) modulator -= 1;
      carrier += carrierStep;
      if (carrier >= 1) carrier -= 1;
      out[index] = sineOf(carrier + 8 + depth * sineOf(modulator)) * level;
      level += slope;
    }
  }
  return out;
}
