import type { Sound } from "./sound.js";

/** Loudness is measured for so long at a time. */
const CELL_SECONDS = 0.02;
/** Bass has much power and little loudness: it is damped below this frequency. */
const HIGH_PASS_HZ = 120;
/** Perceived loudness is this power of the level (Stevens: twice as loud takes about 10 dB). */
const LOUDNESS_EXPONENT = 0.6;
/** Below -60 dB nothing is drawn as loud, however quiet the rest is. */
const LEVEL_FLOOR = 0.001;
const POINT_MAX = 255;

/** Gathers how loud a sound is along its time. */
export class LoudnessCurve {
  private readonly cells: number[] = [];
  private sum = 0;
  private count = 0;
  private readonly lastIn: number[] = [];
  private readonly lastOut: number[] = [];

  /** @returns the power of all samples together, for {@link loudnessOf} */
  add({ channels, samples, sampleRate }: Sound): number {
    const cellSamples = Math.max(1, Math.round(sampleRate * CELL_SECONDS));
    const keep = 1 / (1 + (2 * Math.PI * HIGH_PASS_HZ) / sampleRate);
    const power = new Float32Array(samples);
    let total = 0;
    for (const [index, channel] of channels.entries()) {
      let [lastIn, lastOut] = [this.lastIn[index] ?? 0, this.lastOut[index] ?? 0];
      for (let at = 0; at < samples; at++) {
        // A file of floating point numbers may hold none at all.
        const value = finite(channel[at] as number);
        lastOut = keep * (lastOut + value - lastIn);
        lastIn = value;
        power[at] = (power[at] as number) + (lastOut * lastOut) / channels.length;
      }
      [this.lastIn[index], this.lastOut[index]] = [lastIn, lastOut];
    }
    for (const value of power) {
      total += value;
      this.sum += value;
      if (++this.count >= cellSamples) this.endCell();
    }
    return total;
  }

  /** So many points at most, each from 0 to 255; the loudest is 255. */
  waveform(pointsMax: number): number[] {
    if (this.count > 0) this.endCell();
    const points = Math.min(pointsMax, this.cells.length);
    const levels = Array.from({ length: points }, (_, index) => {
      const [start, end] = [index, index + 1].map((edge) => Math.floor((edge * this.cells.length) / points)) as [
        number,
        number,
      ];
      let sum = 0;
      for (let cell = start; cell < end; cell++) sum += this.cells[cell] as number;
      return Math.sqrt(sum / (end - start));
    });
    const loudest = levels.reduce((most, level) => Math.max(most, level), LEVEL_FLOOR);
    return levels.map((level) => Math.round(POINT_MAX * loudnessOf(level / loudest)));
  }

  private endCell(): void {
    this.cells.push(this.sum / this.count);
    this.sum = 0;
    this.count = 0;
  }
}

/** How loud a level from 0 to 1 seems, from 0 to 1. */
export function loudnessOf(level: number): number {
  return level ** LOUDNESS_EXPONENT;
}

function finite(value: number): number {
  return Number.isFinite(value) ? Math.max(-4, Math.min(4, value)) : 0;
}
