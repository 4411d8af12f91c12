import type { Sound } from "./sound.js";

/** The best excerpt is looked for in steps of so long. */
export const HOP_SECONDS = 0.5;
/** A later excerpt must be so much louder, so that the first good one stays. */
const BETTER = 1.03;
const FULL_SCALE = 32_767;

/** Two channels of 16 bits: the format in which samples are kept. */
export interface Excerpt {
  readonly left: Int16Array;
  readonly right: Int16Array;
  readonly isMono: boolean;
  readonly sampleRate: number;
}

/** Keeps the last segment of a streamed sound, and a copy of the loudest segment so far. */
export class PreviewWindow {
  private readonly last: readonly [Int16Array, Int16Array];
  private readonly best: readonly [Int16Array, Int16Array];
  private bestLoudness = 0;
  private hasBest = false;
  private written = 0;
  private isMono = true;
  private readonly hopLoudness: number[] = [];

  constructor(
    private readonly sampleRate: number,
    hopSamples: number,
    private readonly hops: number,
  ) {
    const room = (): Int16Array => new Int16Array(hopSamples * hops);
    this.last = [room(), room()];
    this.best = [room(), room()];
  }

  /** Of more than two channels the first two are kept: front left and right, in every format. */
  write({ channels, samples }: Sound): void {
    const [left, right = left] = channels;
    if (left === undefined || right === undefined) return;
    const [lastLeft, lastRight] = this.last;
    for (let index = 0; index < samples; index++) {
      const at = (this.written + index) % lastLeft.length;
      const [one, other] = [toInt16(left[index] as number), toInt16(right[index] as number)];
      lastLeft[at] = one;
      lastRight[at] = other;
      if (one !== other) this.isMono = false;
    }
    this.written += samples;
  }

  /** Called after each whole hop. */
  endHop(loudness: number): void {
    this.hopLoudness.push(loudness);
    if (this.hopLoudness.length < this.hops) return;
    const mean = this.hopLoudness.reduce((sum, value) => sum + value, 0) / this.hops;
    this.hopLoudness.shift();
    if (this.hasBest && mean <= this.bestLoudness * BETTER) return;
    this.hasBest = true;
    this.bestLoudness = mean;
    for (const [index, last] of this.last.entries()) unroll(last, this.written, this.best[index] as Int16Array);
  }

  excerpt(): Excerpt {
    const { isMono, sampleRate } = this;
    const [left, right] = this.hasBest
      ? this.best
      : (this.last.map((channel) => channel.subarray(0, this.written)) as [Int16Array, Int16Array]);
    return { left, right, isMono, sampleRate };
  }
}

/** Copies a full ring in the order of time. */
function unroll(ring: Int16Array, written: number, to: Int16Array): void {
  const start = written % ring.length;
  to.set(ring.subarray(start));
  to.set(ring.subarray(0, start), ring.length - start);
}

function toInt16(value: number): number {
  return Math.round(FULL_SCALE * Math.max(-1, Math.min(1, value))) || 0;
}
