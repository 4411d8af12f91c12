/** A figure that was sampled again and again. */
export interface Series {
  readonly name: string;
  readonly unit: string;
  /** Minutes since the beginning, and the figure. */
  readonly samples: readonly (readonly [number, number])[];
  readonly tolerance: Tolerance;
}

/** By how much the end may be above the beginning: a share of the beginning, and so much in any case. */
export interface Tolerance {
  readonly share: number;
  readonly amount: number;
}

export interface Trend {
  readonly name: string;
  readonly unit: string;
  /** Medians of the first and of the last third after the warm-up. */
  readonly first: number;
  readonly last: number;
  /** The greatest value that the last median may have. */
  readonly allowed: number;
  /** Of the line that fits best, per hour. */
  readonly slopePerHour: number;
  readonly isFlat: boolean;
}

/** The part of a run in which caches fill and code is compiled; it does not count. */
const WARM_UP = 0.25;
/** Two thirds of fewer samples than this say nothing. */
const SAMPLES_MIN = 6;

/** @throws {Error} there are too few samples */
export function trendOf({ name, unit, samples, tolerance }: Series): Trend {
  const counted = samples.slice(Math.floor(samples.length * WARM_UP));
  if (counted.length < SAMPLES_MIN)
    throw new Error(`${name}: ${counted.length} samples after the warm-up, ${SAMPLES_MIN} at least are needed.`);
  const third = Math.floor(counted.length / 3);
  const first = median(counted.slice(0, third).map(([, value]) => value));
  const last = median(counted.slice(-third).map(([, value]) => value));
  const allowed = first * (1 + tolerance.share) + tolerance.amount;
  return { name, unit, first, last, allowed, slopePerHour: 60 * slopeOf(counted), isFlat: last <= allowed };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] as number) + (sorted[Math.ceil(middle)] as number)) / 2;
}

/** Of the line through the samples with the least squares. */
function slopeOf(samples: readonly (readonly [number, number])[]): number {
  const mean = (index: 0 | 1): number => samples.reduce((sum, sample) => sum + sample[index], 0) / samples.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  const varied = samples.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return varied === 0 ? 0 : samples.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / varied;
}

/** A table in Markdown, a line for each figure. */
export function tableOf(trends: readonly Trend[]): string {
  const rows = trends.map(({ name, unit, first, last, allowed, slopePerHour, isFlat }) => {
    const figures = [first, last, allowed, slopePerHour].map(shown);
    return [`${name}, ${unit}`, ...figures, isFlat ? "yes" : "**no**"];
  });
  const head = ["Figure", "First third", "Last third", "Allowed", "Slope per hour", "Flat"];
  const lines = [head, head.map((_, index) => (index === 0 ? "---" : "--:")), ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function shown(value: number): string {
  return Math.abs(value) >= 100 ? String(Math.round(value)) : String(Math.round(value * 10) / 10);
}
