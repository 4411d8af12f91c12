import { Noise, SAMPLE_RATE, toSamples } from "./dsp.js";
import { damp } from "./engines.js";
import type { Tone } from "./engines.js";

/** A plucked string (Karplus-Strong). */
export interface StringSpec {
  readonly engine: "string";
  /** Seconds to fall by 60 dB at middle C. */
  readonly seconds: number;
  /** 0 dull, 1 wiry: the plectrum and the string itself. */
  readonly brightness: number;
  /** Where it is plucked, as a share of its length. */
  readonly position: number;
  readonly release: number;
  /** Gain into a tube amplifier; none where left out. */
  readonly drive?: number;
  /** Also sounds the fifth and the octave into the same amplifier. */
  readonly isPowerChord?: boolean;
}

const REFERENCE_HZ = 261.6;

export function renderString(spec: StringSpec, tone: Tone): Float32Array {
  const seconds = Math.min(6, spec.seconds * Math.min(2, Math.max(0.4, Math.sqrt(REFERENCE_HZ / tone.hz))));
  const out = new Float32Array(toSamples(Math.min(tone.gate + spec.release, seconds)));
  pluck(out, spec, tone, seconds, 1);
  if (spec.isPowerChord === true) {
    pluck(out, spec, { ...tone, hz: tone.hz * 1.4983, seed: tone.seed + 1 }, seconds, 0.8);
    pluck(out, spec, { ...tone, hz: tone.hz * 2.001, seed: tone.seed + 2 }, seconds, 0.6);
  }
  if (spec.drive !== undefined) amplify(out, spec.drive);
  return damp(out, tone.gate, spec.release);
}

function pluck(
  out: Float32Array,
  spec: StringSpec,
  { hz, velocity, seed }: Tone,
  seconds: number,
  level: number,
): void {
  const smoothing = 0.5 - 0.42 * spec.brightness;
  const period = SAMPLE_RATE / hz - smoothing;
  const size = Math.max(2, Math.floor(period - 0.3));
  const fraction = period - size;
  const allpass = (1 - fraction) / (1 + fraction);
  const loss = 10 ** (-3 / (hz * seconds));
  const line = excite(size, spec, velocity, seed);
  let previous = 0;
  let passedIn = 0;
  let passedOut = 0;
  let position = 0;
  for (let index = 0; index < out.length; index += 1) {
    const value = line[position] as number;
    const smooth = (1 - smoothing) * value + smoothing * previous;
    previous = value;
    passedOut = allpass * (smooth - passedOut) + passedIn;
    passedIn = smooth;
    line[position] = passedOut * loss;
    position = position + 1 === size ? 0 : position + 1;
    out[index] = (out[index] as number) + value * level;
  }
}

/** A burst of noise, duller for soft strokes, combed by where the string is plucked, without a mean. */
function excite(size: number, { brightness, position }: StringSpec, velocity: number, seed: number): Float32Array {
  const noise = new Noise(seed);
  const line = new Float32Array(size);
  const opening = Math.min(0.95, 0.15 + 0.45 * brightness + 0.35 * velocity);
  let smooth = 0;
  let sum = 0;
  for (let round = 0; round < 2; round += 1) {
    for (let index = 0; index < size; index += 1) {
      if (round === 0) smooth += opening * (noise.next() - smooth);
      line[index] = round === 0 ? smooth : (line[index] as number);
    }
  }
  const offset = Math.max(1, Math.round(size * position));
  const combed = new Float32Array(size);
  for (let index = 0; index < size; index += 1) {
    combed[index] = (line[index] as number) - 0.9 * (line[(index + size - offset) % size] as number);
    sum += combed[index] as number;
  }
  for (let index = 0; index < size; index += 1) combed[index] = (combed[index] as number) - sum / size;
  return combed;
}

/** A tube stage and the cabinet after it, which lets little through above 5 kHz. */
function amplify(out: Float32Array, drive: number): void {
  let low = 0;
  let lower = 0;
  let blocked = 0;
  let before = 0;
  for (let index = 0; index < out.length; index += 1) {
    const input = drive * (out[index] as number);
    const shaped = input / (1 + Math.abs(input)) + 0.12 * (input / (1 + input * input));
    low += 0.42 * (shaped - low);
    lower += 0.42 * (low - lower);
    blocked = 0.985 * (blocked + lower - before);
    before = lower;
    out[index] = blocked;
  }
}
