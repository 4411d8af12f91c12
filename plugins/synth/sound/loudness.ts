import { SAMPLE_RATE } from "./dsp.js";

/** The two stages of the K-weighting of ITU-R BS.1770-4 at 44.1 kHz: b0, b1, b2, a1, a2. */
const PARTITION = [
  1.5308412300503478, -2.650979995154729, 1.1690790799215869, -1.663655113256963, 0.7125954280732254,
] as const;
const HIGH_PASS = [
  0.9995600645425144, -1.999120129085029, 0.9995600645425144, -1.989169673629796, 0.9891990357870393,
] as const;

const HOP = SAMPLE_RATE / 10;
/** Blocks quieter than this, in LUFS, do not count as music; nor do those this far below the mean. */
const ABSOLUTE_GATE = -70;
const RELATIVE_GATE = -10;

/** Integrated loudness in LUFS of stereo sound, gated as ITU-R BS.1770-4 says; -Infinity for silence. */
export function loudnessOf(left: Float32Array, right: Float32Array): number {
  const hops = new Float64Array(Math.ceil(left.length / HOP));
  addWeightedEnergy(left, hops);
  addWeightedEnergy(right, hops);
  const blocks: number[] = [];
  for (let index = 0; index + 4 <= hops.length; index += 1) {
    blocks.push(
      ((hops[index] ?? 0) + (hops[index + 1] ?? 0) + (hops[index + 2] ?? 0) + (hops[index + 3] ?? 0)) / (4 * HOP),
    );
  }
  const audible = blocks.filter((energy) => toLufs(energy) > ABSOLUTE_GATE);
  const threshold = toLufs(mean(audible)) + RELATIVE_GATE;
  return toLufs(mean(audible.filter((energy) => toLufs(energy) > threshold)));
}

function addWeightedEnergy(samples: Float32Array, hops: Float64Array): void {
  const [b0, b1, b2, a1, a2] = PARTITION;
  const [c0, c1, c2, d1, d2] = HIGH_PASS;
  let s1 = 0;
  let s2 = 0;
  let t1 = 0;
  let t2 = 0;
  for (let hop = 0; hop < hops.length; hop += 1) {
    const end = Math.min(samples.length, (hop + 1) * HOP);
    let energy = 0;
    for (let index = hop * HOP; index < end; index += 1) {
      const input = samples[index] as number;
      const shelved = b0 * input + s1;
      s1 = b1 * input - a1 * shelved + s2;
      s2 = b2 * input - a2 * shelved;
      const weighted = c0 * shelved + t1;
      t1 = c1 * shelved - d1 * weighted + t2;
      t2 = c2 * shelved - d2 * weighted;
      energy += weighted * weighted;
    }
    hops[hop] = (hops[hop] ?? 0) + energy;
  }
}

function toLufs(energy: number): number {
  return -0.691 + 10 * Math.log10(energy);
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
