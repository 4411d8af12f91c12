import { Fourier } from "./fourier.js";
import { fillFrame, silentFrame } from "./frame.js";
import type { Frame } from "./frame.js";
import { Masks } from "./masks.js";

export type Part = "drums" | "bass" | "vocals";

/** A stretch of stereo sound. */
export interface Stretch {
  readonly left: Float32Array;
  readonly right: Float32Array;
}

/** Length of one frame. */
const FRAME_SECONDS = 0.093;
/** Hops per frame. */
const OVERLAP = 4;
/** A squared Hann window at this overlap adds up to this. */
const WINDOW_SUM = 1.5;

/**
 * Splits a sound as a stream. The output lags the input by a second or two; `write` gets each stretch of the source
 * with its parts, from the first sample on, and some silence behind the last.
 */
export class Separator {
  readonly hop: number;
  private readonly size: number;
  private readonly window: Float64Array;
  /** The window again, for the output of an inverse transform. */
  private readonly returnWindow: Float64Array;
  private readonly fourier: Fourier;
  private readonly masks: Masks;
  private readonly ring: Frame[];
  private readonly overlaps: Map<Part, Stretch>;
  /** The newest samples, as many as a frame has. */
  private readonly recent: Stretch;
  private readonly re: Float64Array;
  private readonly im: Float64Array;
  /** Stretches of the source whose parts are still to come. */
  private readonly sources: Stretch[] = [];
  private filled = 0;
  private hops = 0;

  constructor(
    options: { readonly sampleRate: number; readonly isMono: boolean; readonly parts: readonly Part[] },
    private readonly write: (source: Stretch, parts: ReadonlyMap<Part, Stretch>) => void,
  ) {
    const size = 2 ** Math.round(Math.log2(FRAME_SECONDS * options.sampleRate));
    this.size = size;
    this.hop = size / OVERLAP;
    this.window = Float64Array.from({ length: size }, (_, index) => 0.5 - 0.5 * Math.cos((2 * Math.PI * index) / size));
    this.returnWindow = this.window.map((weight) => weight / (WINDOW_SUM * size));
    this.fourier = new Fourier(size);
    this.masks = new Masks(size, options.sampleRate, options.isMono);
    this.ring = Array.from({ length: 2 * this.masks.lag + 2 }, () => silentFrame(size));
    this.overlaps = new Map(options.parts.map((part) => [part, silence(size)]));
    this.recent = silence(size);
    this.re = new Float64Array(size);
    this.im = new Float64Array(size);
  }

  /** Takes any number of samples. */
  add({ left, right }: Stretch): void {
    for (let start = 0; start < left.length;) {
      const end = Math.min(left.length, start + this.hop - this.filled);
      const at = this.size - this.hop + this.filled;
      this.recent.left.set(left.subarray(start, end), at);
      this.recent.right.set(right.subarray(start, end), at);
      this.filled += end - start;
      start = end;
      if (this.filled === this.hop) this.endHop();
    }
  }

  /** Feeds silence until the last sample has been written. */
  end(): void {
    const quiet = silence(this.hop - this.filled + (this.masks.lag + OVERLAP) * this.hop);
    this.add(quiet);
  }

  private endHop(): void {
    const { recent, size, hop, hops } = this;
    this.sources.push({ left: recent.left.slice(size - hop), right: recent.right.slice(size - hop) });
    const newest = this.frameAt(hops);
    for (let index = 0; index < size; index += 1) {
      const weight = this.window[index] as number;
      this.re[index] = weight * (recent.left[index] as number);
      this.im[index] = weight * (recent.right[index] as number);
    }
    this.fourier.forward(this.re, this.im);
    fillFrame(newest, this.re, this.im);
    this.separate(hops - this.masks.lag);
    for (const channel of [recent.left, recent.right]) channel.copyWithin(0, hop);
    this.filled = 0;
    this.hops += 1;
  }

  /** Adds the parts of one frame to those of its neighbours and writes the samples that are complete. */
  private separate(number: number): void {
    const frameAt = (distance: number): Frame => this.frameAt(number + distance);
    this.masks.advance(frameAt);
    if (number < 0) return;
    this.masks.weigh(frameAt);
    const frame = this.frameAt(number);
    for (const [part, { left, right }] of this.overlaps) {
      if (part === "vocals") this.takeCentre(frame, this.masks.vocals);
      else this.take(frame, this.masks[part]);
      this.fourier.backward(this.re, this.im);
      addWeighted(left, this.re, this.returnWindow);
      addWeighted(right, this.im, this.returnWindow);
    }
    // The first frames reach back before the beginning.
    const source = number >= OVERLAP - 1 ? this.sources.shift() : undefined;
    const { hop } = this;
    if (source !== undefined) {
      const finished = (part: Stretch): Stretch => ({
        left: part.left.subarray(0, hop),
        right: part.right.subarray(0, hop),
      });
      this.write(source, new Map([...this.overlaps].map(([part, stretch]) => [part, finished(stretch)])));
    }
    for (const { left, right } of this.overlaps.values()) {
      for (const channel of [left, right]) {
        channel.copyWithin(0, hop);
        channel.fill(0, this.size - hop);
      }
    }
  }

  /** Applies one mask to both channels. */
  private take(frame: Frame, mask: Float32Array): void {
    const { size, re, im } = this;
    for (let index = 0; index < size; index += 1) {
      const weight = mask[index <= size / 2 ? index : size - index] as number;
      re[index] = weight * (frame.re[index] as number);
      im[index] = weight * (frame.im[index] as number);
    }
  }

  /** Applies the mask to the mean of both channels, and adds the result to both. */
  private takeCentre(frame: Frame, mask: Float32Array): void {
    const { size, re, im } = this;
    for (let index = 0; index < size; index += 1) {
      const mirrored = (size - index) % size;
      const weight = (mask[index <= size / 2 ? index : size - index] as number) / 4;
      const [one, other] = [frame.re[index] as number, frame.re[mirrored] as number];
      const [oneIm, otherIm] = [frame.im[index] as number, frame.im[mirrored] as number];
      // Left plus right, by the symmetry of the transform of real numbers.
      const meanRe = weight * (one + other + oneIm + otherIm);
      const meanIm = weight * (oneIm - otherIm + other - one);
      re[index] = meanRe - meanIm;
      im[index] = meanRe + meanIm;
    }
  }

  private frameAt(number: number): Frame {
    const { ring } = this;
    return ring[((number % ring.length) + ring.length) % ring.length] as Frame;
  }
}

function addWeighted(sum: Float32Array, values: Float64Array, weights: Float64Array): void {
  for (let index = 0; index < sum.length; index += 1) {
    sum[index] = (sum[index] as number) + (weights[index] as number) * (values[index] as number);
  }
}

function silence(samples: number): Stretch {
  return { left: new Float32Array(samples), right: new Float32Array(samples) };
}
