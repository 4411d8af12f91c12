import type { TimeSpan } from "../../../../core/ports/activity-store.js";

/** A kind of span that requests are counted by, in UTC. */
export type CountSpan = "day" | "hour";

const HOUR_MS = 3_600_000;
export const SPAN_MS: Readonly<Record<CountSpan, number>> = { day: 24 * HOUR_MS, hour: HOUR_MS };

/** A window of time, cut so that each of its moments is in exactly one part. */
export interface CutWindow {
  /** Less than an hour each, unless the whole window is shorter than two: counted in the log. */
  readonly edges: readonly TimeSpan[];
  /** Whole spans. */
  readonly whole: readonly (TimeSpan & { readonly span: CountSpan })[];
}

/** Cuts a window into as many whole days as it holds, whole hours before and after them, and what is left. */
export function cutWindow({ from, to }: TimeSpan): CutWindow {
  const hours = wholeSpans({ from, to }, "hour");
  if (hours === null) return { edges: from < to ? [{ from, to }] : [], whole: [] };
  const days = wholeSpans(hours, "day");
  const parts =
    days === null
      ? [{ ...hours, span: "hour" } as const]
      : [
          { from: hours.from, to: days.from, span: "hour" } as const,
          { ...days, span: "day" } as const,
          { from: days.to, to: hours.to, span: "hour" } as const,
        ];
  const edges = [
    { from, to: hours.from },
    { from: hours.to, to },
  ];
  return { edges: edges.filter(isLonger), whole: parts.filter(isLonger) };
}

/** When the span began that a moment is in. */
export function startOf(at: number, span: CountSpan): number {
  return at - (((at % SPAN_MS[span]) + SPAN_MS[span]) % SPAN_MS[span]);
}

/** null when the window holds none. */
function wholeSpans(window: TimeSpan, span: CountSpan): TimeSpan | null {
  const from = startOf(window.from + SPAN_MS[span] - 1, span);
  const to = startOf(window.to, span);
  return from < to ? { from, to } : null;
}

function isLonger({ from, to }: TimeSpan): boolean {
  return from < to;
}
