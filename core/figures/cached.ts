import type { Clock } from "../ports/clock.js";

/**
 * Reads at most once in so many milliseconds, however many ask meanwhile. A failure is not kept.
 *
 * @returns a function that returns what was read last, or reads it
 */
export function cached<Read>(
  read: () => Promise<Read>,
  everyMs: number,
  clock: Pick<Clock, "now">,
): () => Promise<Read> {
  let latest: { readonly at: number; readonly value: Promise<Read> } | null = null;
  return () => {
    const now = clock.now();
    if (latest !== null && now - latest.at < everyMs) return latest.value;
    const reading = { at: now, value: read() };
    latest = reading;
    reading.value.catch(() => (latest = latest === reading ? null : latest));
    return reading.value;
  };
}
