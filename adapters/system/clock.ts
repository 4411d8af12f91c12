import type { Clock } from "../../core/ports/clock.js";

/** The longest that one Node timer can wait; a longer one would fire at once. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** The machine's clock. */
export class SystemClock implements Clock {
  now(): number {
    return Date.now();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const wake = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const wait = (restMs: number): void => {
        const stepMs = Math.min(restMs, TIMER_MAX_MS);
        timer = setTimeout(() => (restMs > stepMs ? wait(restMs - stepMs) : wake()), stepMs);
      };
      if (signal?.aborted) return resolve();
      signal?.addEventListener("abort", wake);
      wait(ms);
    });
  }
}
