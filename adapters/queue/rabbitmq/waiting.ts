import { setTimeout as sleep } from "node:timers/promises";

export const LATE: unique symbol = Symbol("late");

/** What `work` brings, or {@link LATE} after `ms`; what comes later is dropped. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T | typeof LATE> {
  const settled = new AbortController();
  const limit = sleep<typeof LATE>(ms, LATE, { signal: settled.signal }).catch((): typeof LATE => LATE);
  try {
    return await Promise.race([work, limit]);
  } finally {
    settled.abort();
  }
}

/** Waits, or less when `signal` aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
