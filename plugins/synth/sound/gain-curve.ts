/** Highest sample value: leaves headroom for inter-sample peaks (true peak below -1 dBFS). */
const CEILING = 10 ** (-2.5 / 20);
/** The curve has a point every so many samples and is straight between them. */
const STRIDE = 64;
/** How fast the limiter attacks before a peak and releases after it, as a share of full gain per point. */
const ATTACK = 0.05;
const RELEASE = 0.004;
const FADE_IN_SECONDS = 0.012;
const FADE_OUT_SECONDS = 1.1;
/** Silence at the very end. */
const SILENT_SECONDS = 0.03;

/** The final gain over a whole track: its loudness, a look-ahead limiter, and fades at both edges. */
export class GainCurve {
  private readonly points: Float32Array;

  constructor(left: Float32Array, right: Float32Array, gain: number, sampleRate: number) {
    const stretches = Math.ceil(left.length / STRIDE);
    const allowed = new Float32Array(stretches + 2).fill(1);
    for (let stretch = 0; stretch < stretches; stretch += 1) {
      const end = Math.min(left.length, (stretch + 1) * STRIDE);
      let peak = 0;
      for (let index = stretch * STRIDE; index < end; index += 1) {
        const a = Math.abs(left[index] as number);
        const b = Math.abs(right[index] as number);
        if (a > peak) peak = a;
        if (b > peak) peak = b;
      }
      allowed[stretch] = Math.min(1, CEILING / Math.max(1e-9, peak * gain));
    }
    this.points = shape(allowed);
    this.addFades(left.length, sampleRate);
    for (let point = 0; point < this.points.length; point += 1)
      this.points[point] = (this.points[point] as number) * gain;
  }

  /** Applies the curve in place. */
  apply(samples: Float32Array): void {
    const { points } = this;
    for (let start = 0, point = 0; start < samples.length; start += STRIDE, point += 1) {
      const end = Math.min(samples.length, start + STRIDE);
      let gain = points[point] as number;
      const slope = ((points[point + 1] as number) - gain) / STRIDE;
      for (let index = start; index < end; index += 1) {
        samples[index] = (samples[index] as number) * gain;
        gain += slope;
      }
    }
  }

  /** Applies the curve in place to interleaved stereo of 16 bits whose full scale stands for `scale`. */
  applyInterleaved(samples: Int16Array, scale: number): void {
    const { points } = this;
    for (let start = 0, point = 0; start < samples.length; start += 2 * STRIDE, point += 1) {
      const end = Math.min(samples.length, start + 2 * STRIDE);
      let gain = (points[point] as number) * scale;
      const slope = ((points[point + 1] as number) * scale - gain) / STRIDE;
      for (let index = start; index < end; index += 2) {
        samples[index] = toInt16((samples[index] as number) * gain);
        samples[index + 1] = toInt16((samples[index + 1] as number) * gain);
        gain += slope;
      }
    }
  }

  private addFades(length: number, sampleRate: number): void {
    const fadeIn = FADE_IN_SECONDS * sampleRate;
    const fadeOut = Math.min(FADE_OUT_SECONDS * sampleRate, length * 0.15);
    const silence = SILENT_SECONDS * sampleRate;
    for (let point = 0; point < this.points.length; point += 1) {
      const position = point * STRIDE;
      const left = Math.max(0, length - silence - position);
      const rise = Math.min(1, position / fadeIn);
      const fall = Math.min(1, left / fadeOut);
      this.points[point] = (this.points[point] as number) * smooth(rise) * smooth(fall);
    }
  }
}

function smooth(share: number): number {
  return share * share * (3 - 2 * share);
}

/** Turns the highest gain of each segment into a curve that stays below it, dips ahead of peaks and recovers slowly. */
function shape(allowed: Float32Array): Float32Array {
  const points = new Float32Array(allowed.length);
  for (let point = 0; point < points.length; point += 1) {
    // A point borders two stretches and must suit both.
    points[point] = Math.min(allowed[Math.max(0, point - 1)] as number, allowed[point] as number);
  }
  for (let point = 1; point < points.length; point += 1) {
    points[point] = Math.min(points[point] as number, (points[point - 1] as number) + RELEASE);
  }
  for (let point = points.length - 2; point >= 0; point -= 1) {
    points[point] = Math.min(points[point] as number, (points[point + 1] as number) + ATTACK);
  }
  return points;
}

/** Rounds to the nearest 16-bit number and clips. */
export function toInt16(value: number): number {
  const rounded = ((value + 32_768.5) | 0) - 32_768;
  return rounded > 32_767 ? 32_767 : rounded < -32_767 ? -32_767 : rounded;
}
