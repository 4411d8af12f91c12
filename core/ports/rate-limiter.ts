/**
 * Fixed windows that start with the first request they count. One subject has several at once (a minute, a day); a
 * request passes only if every one of them has capacity, and a refused one changes nothing.
 *
 * @see decisions, "Rate limits"
 */
export interface WindowRule {
  readonly limit: number;
  readonly windowSeconds: number;
}

export interface WindowState {
  /** When the window's first request was counted. */
  readonly startedAt: number;
  readonly count: number;
}

export interface WindowStatus extends WindowRule {
  readonly remaining: number;
  /** Seconds, rounded up, until the window ends; the whole window when none is running. */
  readonly resetSeconds: number;
}

export interface RateDecision {
  readonly allowed: boolean;
  /** The windows after the decision, in the order of the rules. */
  readonly windows: readonly WindowStatus[];
}

/**
 * Counts requests in windows, which are identified by their length: a change of limits keeps the counts. Over several
 * processes limits may be approximate; credits and concurrency never are. Nothing here rejects: where counts cannot be
 * shared, each process counts by itself. A subject begins with its kind and a blank (`read acct_1`); there are few
 * kinds. Selected by `rateLimits.store`; the override `rateLimiter` of `compose` replaces it.
 */
export interface RateLimiter {
  /** Counts one request of `subject` if every window has capacity; a refused request changes nothing. */
  consume(subject: string, rules: readonly WindowRule[]): Promise<RateDecision>;
  /** The windows as they are, counting nothing. `allowed`: whether one more request would pass. */
  peek(subject: string, rules: readonly WindowRule[]): Promise<RateDecision>;
  /** Takes back one counted request of windows that still run. */
  giveBack(subject: string, rules: readonly WindowRule[]): void;
  /** Shares its unsent counts with other processes, waiting only briefly; it keeps counting locally. */
  close(): Promise<void>;
}
