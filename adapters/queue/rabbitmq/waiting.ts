import { setTimeout as sleep } from "node:timers/promises";

export const LATE: unique symbol = Symbol("late");

/** The result of `work`, or {@link LATE} after `ms`; a later result is dropped. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T | typeof LATE> {
  const settled = new AbortController();
  const limit = sleep<typeof LATE>(ms, LATE, { signal: settled.signal }).catch((): typeof LATE => LATE);
  try {
    return await Promise.race([work, limit]);
  } finally {
    settled.abort();
  }
}

/** Waits for `ms`, or until `signal` aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
