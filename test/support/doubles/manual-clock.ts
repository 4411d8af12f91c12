import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../../core/ports/clock.js";

interface Sleeper {
  readonly wakeAt: number;
  wake(): void;
}

/**
 * In place of the system's clock: it stands still until a test moves it.
 *
 * @example
 * const clock = new ManualClock();
 * const slept = clock.sleep(60_000);
 * await clock.advance(60_000);
 * await slept;
 */
export class ManualClock implements Clock {
  private sleepers: Sleeper[] = [];

  constructor(private time = Date.parse("2026-11-21T06:30:00.000Z")) {}

  now(): number {
    return this.time;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const sleeper: Sleeper = {
        wakeAt: this.time + Math.max(0, ms),
        wake: () => {
          this.sleepers = this.sleepers.filter((other) => other !== sleeper);
          signal?.removeEventListener("abort", sleeper.wake);
          resolve();
        },
      };
      signal?.addEventListener("abort", sleeper.wake);
      this.sleepers.push(sleeper);
    });
  }

  /** The number of sleepers. */
  get sleeping(): number {
    return this.sleepers.length;
  }

  /**
   * Advances time. Sleepers wake in order, each at its own time, and run up to their next wait before the next one
   * wakes; sleeps started meanwhile are included.
   */
  async advance(ms: number): Promise<void> {
    const target = this.time + ms;
    await nextTurn();
    for (let next = this.nextUpTo(target); next !== undefined; next = this.nextUpTo(target)) {
      this.time = Math.max(this.time, next.wakeAt);
      next.wake();
      await nextTurn();
    }
    this.time = target;
  }

  /** Sets the clock, forwards or back, as an operator does: no sleeper wakes. */
  set(time: number): void {
    this.time = time;
  }

  private nextUpTo(target: number): Sleeper | undefined {
    return this.sleepers
      .filter(({ wakeAt }) => wakeAt <= target)
      .reduce<Sleeper | undefined>(
        (first, other) => (first === undefined || other.wakeAt < first.wakeAt ? other : first),
        undefined,
      );
  }
}
