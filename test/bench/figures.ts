/** One line of the table. */
export interface Figure {
  readonly name: string;
  /** What was measured, with its unit. */
  readonly value: string;
  /** The baseline, measured in the same run; empty without one. */
  readonly baseline: string;
  readonly ratio: number | null;
  /** null for a figure without a target. */
  readonly target: Target | null;
}

export interface Target {
  readonly text: string;
  readonly met: boolean;
}

/** One benchmark: `npm run bench -- <name>` runs it alone. */
export interface Bench {
  readonly name: string;
  readonly compares: string;
  run(): Promise<readonly Figure[]>;
}

export function atLeast(value: number, minimum: number, unit = ""): Target {
  return { text: `>= ${minimum}${unit}`, met: value >= minimum };
}

export function below(value: number, limit: number, unit = ""): Target {
  return { text: `< ${limit}${unit}`, met: value < limit };
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** @param share from 0 to 1 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** A duration and the median of a baseline; both in milliseconds. */
export function spread(
  name: string,
  taken: readonly number[],
  baseline: { readonly ms: number; readonly name: string },
): Figure {
  const [p50, p95] = [percentile(taken, 0.5), percentile(taken, 0.95)];
  return {
    name,
    value: `p50 ${milliseconds(p50)}, p95 ${milliseconds(p95)}`,
    baseline: `p50 ${milliseconds(baseline.ms)} (${baseline.name})`,
    ratio: p50 / baseline.ms,
    target: null,
  };
}

export function perSecond(value: number): string {
  return `${Math.round(value).toLocaleString("en")} /s`;
}

export function milliseconds(value: number): string {
  return `${value < 10 ? value.toFixed(2) : Math.round(value)} ms`;
}

const COLUMNS = ["figure", "value", "baseline", "ratio", "target", ""] as const;

/** The figures as a table, one line each under a heading. */
export function toTable(figures: readonly Figure[]): string {
  const rows = [COLUMNS, ...figures.map(toRow)];
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return [lines[0], widths.map((width) => "-".repeat(width)).join("  "), ...lines.slice(1)].join("\n");
}

function toRow({ name, value, baseline, ratio, target }: Figure): string[] {
  const met = target === null ? "" : target.met ? "met" : "MISSED";
  return [name, value, baseline, ratio === null ? "" : ratio.toFixed(2), target?.text ?? "", met];
}
