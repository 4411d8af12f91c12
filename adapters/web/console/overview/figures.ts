import type { Schemas } from "../api.js";

export type Series = Schemas["AdminSeries"];
export type Figures = readonly (number | null)[];

/** All of it together; what is not known counts as nothing. */
export function total(figures: Figures): number {
  return figures.reduce<number>((sum, figure) => sum + (figure ?? 0), 0);
}

/** Several together, step by step. */
export function together(...all: readonly Figures[]): Figures {
  const [first = []] = all;
  return first.map((_, index) => {
    const step = all.map((figures) => figures[index] ?? null);
    return step.includes(null) ? null : step.reduce<number>((sum, figure) => sum + (figure ?? 0), 0);
  });
}

/** When each step begins, in seconds since 1970. */
export function timesOf({ from, step_seconds: step, steps }: Series): readonly number[] {
  const first = Date.parse(from) / 1_000;
  return Array.from({ length: steps }, (_, index) => first + index * step);
}

/** `45 s`, `12 min`, `3 h`. */
export function spanOf(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  return seconds < 5_400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}
