import { SharedRateLimiter } from "../../adapters/rate-limits/shared/rate-limiter.js";
import type { Clock } from "../../core/ports/clock.js";
import type { RateCountStore } from "../../core/ports/rate-count-store.js";
import type { RateLimiter, WindowRule } from "../../core/ports/rate-limiter.js";
import type { UnitOfWork } from "../../core/ports/unit-of-work.js";
import { SILENT } from "../support/databases.js";
import type { SeededRandom } from "../support/chaos/seeded-random.js";

/** The kinds of storage in which processes share their counts. */
export interface SharedCounts {
  readonly counts: RateCountStore;
  readonly unitOfWork: UnitOfWork;
}

/** Limiters on one storage, each as in a separate process. */
export function openProcesses(count: number, shared: SharedCounts, clock: Clock, syncMs = 200): SharedRateLimiter[] {
  return Array.from({ length: count }, () => new SharedRateLimiter({ ...shared, clock, logger: SILENT }, { syncMs }));
}

/** Sends so many requests, one after another. @returns how many passed */
export const passes = async (
  limiter: RateLimiter,
  times: number,
  rules: readonly WindowRule[],
  subject = "a",
): Promise<number> => {
  let passed = 0;
  for (let count = 0; count < times; count++) if ((await limiter.consume(subject, rules)).allowed) passed += 1;
  return passed;
};
/** The remainder of each window. */
export const remaining = async (limiter: RateLimiter, rules: readonly WindowRule[], subject = "a"): Promise<number[]> =>
  (await limiter.peek(subject, rules)).windows.map((window) => window.remaining);

export interface Rush {
  readonly subject: string;
  readonly rules: readonly WindowRule[];
  readonly attempts: number;
  readonly random: SeededRandom;
  /** Called now and then, between two requests. */
  pause?(): Promise<void>;
}

const OPEN_MAX = 40;

/**
 * Sends requests to several limiters, many at once and in any order: for a while mostly to one, so that the others fall
 * behind, then mostly to another.
 *
 * @returns how many passed
 */
export async function rush(
  limiters: readonly RateLimiter[],
  { subject, rules, attempts, random: seeded, pause }: Rush,
): Promise<number> {
  let passed = 0;
  let favourite = seeded.pick(limiters) as RateLimiter;
  const open = new Set<Promise<void>>();
  for (let sent = 0; sent < attempts; sent++) {
    if (seeded.fraction() < 0.03) favourite = seeded.pick(limiters) as RateLimiter;
    const limiter = seeded.fraction() < 0.7 ? favourite : (seeded.pick(limiters) as RateLimiter);
    const request = limiter.consume(subject, rules).then(({ allowed }) => {
      if (allowed) passed += 1;
      open.delete(request);
    });
    open.add(request);
    const chance = seeded.fraction();
    if (chance < 0.05) await Promise.all(open);
    else if (chance < 0.4 || open.size >= OPEN_MAX) await Promise.race(open);
    if (pause !== undefined && seeded.fraction() < 0.01) await pause();
  }
  await Promise.all(open);
  return passed;
}
