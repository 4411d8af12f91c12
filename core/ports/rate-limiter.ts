import type { WindowRule, WindowStatus } from "../rate-limits/window.js";

export interface RateDecision {
  readonly allowed: boolean;
  /** The windows after the decision, in the order of the rules. */
  readonly windows: readonly WindowStatus[];
}

/** Counts requests in windows. Limits are approximate over several processes; credits and concurrency never are. */
export interface RateLimiter {
  /** Counts one request of `subject` if every window has room; a refused request changes nothing. */
  consume(subject: string, rules: readonly WindowRule[]): RateDecision;
  /** The windows as they are, counting nothing. `allowed` tells whether one more request would pass. */
  peek(subject: string, rules: readonly WindowRule[]): RateDecision;
  /** Takes back one counted request of windows that still run. */
  giveBack(subject: string, rules: readonly WindowRule[]): void;
}
