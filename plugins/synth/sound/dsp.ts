/** Samples per second of everything that is rendered. */
export const SAMPLE_RATE = 44_100;

/** Envelopes and filters are recomputed once per so many samples. */
export const CONTROL_SAMPLES = 32;

const SINE_BITS = 11;
const SINE_SIZE = 1 << SINE_BITS;
const SINE_MASK = SINE_SIZE - 1;
const sineTable = Float32Array.from({ length: SINE_SIZE + 1 }, (_, index) =>
  Math.sin((2 * Math.PI * index) / SINE_SIZE),
);

/** Sine of a phase counted in turns, at least 0; by table with linear interpolation (error below -100 dB). */
export function sineOf(phase: number): number {
  const position = phase * SINE_SIZE;
  const whole = position | 0;
  const low = sineTable[whole & SINE_MASK] as number;
  return low + ((sineTable[(whole & SINE_MASK) + 1] as number) - low) * (position - whole);
}

/** Frequency of a MIDI note number (69 is 440 Hz). */
export function frequencyOf(midi: number): number {
  return 440 * 2 ** ((midi - 69) / 12);
}

export function toSamples(seconds: number): number {
  return Math.round(seconds * SAMPLE_RATE);
}

/** The correction around the edge of a band-limited step; `phase` in turns, `step` the phase per sample (polyBLEP). */
export function polyBlep(phase: number, step: number): number {
  if (phase < step) {
    const t = phase / step;
    return t + t - t * t - 1;
  }
  if (phase > 1 - step) {
    const t = (phase - 1) / step;
    return t * t + t + t + 1;
  }
  return 0;
}

/** Seconds, and a level for sustain. */
export interface Envelope {
  readonly attack: number;
  readonly decay: number;
  readonly sustain: number;
  readonly release: number;
}

/** Level of an envelope `time` seconds after the note began; the note is released after `gate` seconds. */
export function envelopeAt({ attack, decay, sustain, release }: Envelope, time: number, gate: number): number {
  const held = Math.min(time, gate);
  const level = held < attack ? held / attack : sustain + (1 - sustain) * Math.exp((-3 * (held - attack)) / decay);
  if (time <= gate) return level;
  const left = 1 - (time - gate) / release;
  return left <= 0 ? 0 : level * left * left;
}

/** Cheap white noise from -1 to 1; the state of its own makes a sound repeatable. */
export class Noise {
  private state: number;

  constructor(seed: number) {
    this.state = (seed | 0) ^ 0x6d2b79f5 || 1;
  }

  next(): number {
    this.state ^= this.state << 13;
    this.state ^= this.state >>> 17;
    this.state ^= this.state << 5;
    return this.state * 4.656612873077393e-10;
  }
}

/** State-variable filter (trapezoidal): stable while its cutoff moves. Read `low` or `band` after `process`. */
export class StateFilter {
  low = 0;
  band = 0;
  private first = 0;
  private second = 0;
  private a1 = 0;
  private a2 = 0;
  private a3 = 0;
  private damping = 1;

  /** @param quality 0.7 is flat, more resonates */
  tune(cutoffHz: number, quality: number): void {
    const g = Math.tan((Math.PI * Math.min(cutoffHz, SAMPLE_RATE * 0.45)) / SAMPLE_RATE);
    this.damping = 1 / quality;
    this.a1 = 1 / (1 + g * (g + this.damping));
    this.a2 = g * this.a1;
    this.a3 = g * this.a2;
  }

  process(input: number): void {
    const difference = input - this.second;
    this.band = this.a1 * this.first + this.a2 * difference;
    this.low = this.second + this.a2 * this.first + this.a3 * difference;
    this.first = 2 * this.band - this.first;
    this.second = 2 * this.low - this.second;
  }

  /** Filters a stretch in place, with a gain that starts at `level` and moves by `slope` per sample. */
  lowPass(samples: Float32Array, start: number, end: number, level: number, slope: number): void {
    const { a1, a2, a3 } = this;
    let { first, second } = this;
    let gain = level;
    for (let index = start; index < end; index += 1) {
      const difference = (samples[index] as number) - second;
      const band = a1 * first + a2 * difference;
      const low = second + a2 * first + a3 * difference;
      first = 2 * band - first;
      second = 2 * low - second;
      samples[index] = low * gain;
      gain += slope;
    }
    this.first = first;
    this.second = second;
  }

  /** The part above the cutoff of the last `process`. */
  high(input: number): number {
    return input - this.damping * this.band - this.low;
  }
}
