import { signal } from "@preact/signals";
import { moment } from "./format.js";

const STEP_MS = 10_000;
const now = signal(Date.now());
setInterval(() => (now.value = Date.now()), STEP_MS);

/** How long ago it was, or how long it is until then; the moment itself is in the title. */
export function Time({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={moment(at)}>
      {distance(Date.parse(at) - Math.max(now.value, Date.now() - STEP_MS))}
    </time>
  );
}

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
] as const;

function distance(ms: number): string {
  const [unit, size] = UNITS.find(([, one]) => Math.abs(ms) >= one) ?? ["min", 60_000];
  // What is to come is said of the whole span: a week until then is 7 days in its first minute too.
  const count = ms < 0 ? Math.floor(-ms / size) : Math.round(ms / size);
  if (count === 0) return ms > STEP_MS ? "in a moment" : "just now";
  return ms < 0 ? `${count} ${unit} ago` : `in ${count} ${unit}`;
}
