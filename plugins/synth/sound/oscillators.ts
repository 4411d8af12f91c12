import type { Noise } from "./dsp.js";
import { sineOf } from "./dsp.js";

export interface OscillatorSpec {
  readonly wave: "saw" | "pulse" | "triangle";
  /** Share of a turn that a pulse is up. */
  readonly width?: number;
  readonly voices?: number;
  /** Cents from the lowest voice to the middle. */
  readonly detune?: number;
  /** Level of a sine an octave below. */
  readonly sub?: number;
}

/**
 * Some oscillators that play the same note slightly out of tune. Saw and pulse are differences of parabolas, which
 * keeps what aliases far below the note without a branch in the loop.
 */
export class Oscillators {
  private readonly phases: Float64Array;
  private readonly rates: Float64Array;
  private subPhase = 0;

  constructor(
    private readonly spec: OscillatorSpec,
    noise: Noise,
  ) {
    const { voices = 1, detune = 0 } = spec;
    this.phases = Float64Array.from({ length: voices }, () => 0.5 + noise.next() / 2);
    this.rates = Float64Array.from(
      { length: voices },
      (_, index) => 2 ** ((voices > 1 ? (detune * (2 * index - voices + 1)) / (voices - 1) : 0) / 1_200),
    );
  }

  /** Adds to `out` from `start` to `end`; `step` is the phase per sample, in turns. */
  fill(out: Float32Array, start: number, end: number, step: number): void {
    const { phases, rates, spec } = this;
    for (let voice = 0; voice < phases.length; voice += 1) {
      const phase = phases[voice] as number;
      const voiceStep = step * (rates[voice] as number);
      if (spec.wave === "saw") phases[voice] = addSaw(out, start, end, phase, voiceStep, 1);
      else if (spec.wave === "triangle") phases[voice] = addTriangle(out, start, end, phase, voiceStep);
      else {
        phases[voice] = addSaw(out, start, end, phase, voiceStep, 1);
        addSaw(out, start, end, (phase + (spec.width ?? 0.5)) % 1, voiceStep, -1);
      }
    }
    if (spec.sub !== undefined)
      this.subPhase = addSine(out, start, end, this.subPhase, step / 2, spec.sub * phases.length);
  }
}

function addSaw(out: Float32Array, start: number, end: number, from: number, step: number, level: number): number {
  const scale = level / (4 * step);
  let phase = from;
  let value = 2 * phase - 1;
  let square = value * value;
  for (let index = start; index < end; index += 1) {
    phase += step;
    phase -= phase | 0;
    value = 2 * phase - 1;
    const next = value * value;
    out[index] = (out[index] as number) + (next - square) * scale;
    square = next;
  }
  return phase;
}

function addTriangle(out: Float32Array, start: number, end: number, from: number, step: number): number {
  let phase = from;
  for (let index = start; index < end; index += 1) {
    phase += step;
    phase -= phase | 0;
    out[index] = (out[index] as number) + 4 * Math.abs(phase - 0.5) - 1;
  }
  return phase;
}

function addSine(out: Float32Array, start: number, end: number, from: number, step: number, level: number): number {
  let phase = from;
  for (let index = start; index < end; index += 1) {
    phase += step;
    out[index] = (out[index] as number) + level * sineOf(phase);
  }
  return phase % 1;
}
