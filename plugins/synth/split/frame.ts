/** The spectrum of one moment of a stereo sound. */
export interface Frame {
  /** The transform of left as the real part and right as the imaginary part. */
  readonly re: Float32Array;
  readonly im: Float32Array;
  /** Mean of both channels' power, per frequency. */
  readonly power: Float32Array;
  /** The common part of both channels: the real part of left times conjugate of right, per frequency. */
  readonly common: Float32Array;
  /** Root of `power`. */
  readonly level: Float32Array;
}

/** Frequencies of a transform of so many samples, from nought to half the sample rate. */
export function binsOf(size: number): number {
  return size / 2 + 1;
}

export function silentFrame(size: number): Frame {
  const bins = binsOf(size);
  return {
    re: new Float32Array(size),
    im: new Float32Array(size),
    power: new Float32Array(bins),
    common: new Float32Array(bins),
    level: new Float32Array(bins),
  };
}

/** Reads a transformed stretch of sound. */
export function fillFrame({ re, im, power, common, level }: Frame, fromRe: Float64Array, fromIm: Float64Array): void {
  re.set(fromRe);
  im.set(fromIm);
  const size = fromRe.length;
  for (let bin = 0; bin < power.length; bin += 1) {
    const mirrored = (size - bin) % size;
    const leftRe = ((fromRe[bin] as number) + (fromRe[mirrored] as number)) / 2;
    const leftIm = ((fromIm[bin] as number) - (fromIm[mirrored] as number)) / 2;
    const rightRe = ((fromIm[bin] as number) + (fromIm[mirrored] as number)) / 2;
    const rightIm = ((fromRe[mirrored] as number) - (fromRe[bin] as number)) / 2;
    const mean = (leftRe * leftRe + leftIm * leftIm + rightRe * rightRe + rightIm * rightIm) / 2;
    power[bin] = mean;
    level[bin] = Math.sqrt(mean);
    common[bin] = leftRe * rightRe + leftIm * rightIm;
  }
}
