import type { WindowState } from "./rate-limiter.js";
import type { Transaction } from "./unit-of-work.js";

/** A window of a known length. */
export interface WindowCount extends WindowState {
  readonly windowSeconds: number;
}

/** What all processes together have counted of one subject in one window. */
export interface RateCount extends WindowCount {
  readonly subject: string;
}

/**
 * The counts of rate limits that processes share: one per subject and length of window, whether that window still runs
 * or not. It stores counts and decides nothing. Selected by `storage.url`.
 */
export interface RateCountStore {
  /**
   * Reads the counts of these subjects and keeps them from changing until `tx` ends. A subject or window without a
   * count is missing from the result; of two transactions that both insert it, one runs again.
   */
  lockCounts(tx: Transaction, subjects: readonly string[]): Promise<RateCount[]>;

  /** Adds counts that were missing. */
  insertCounts(tx: Transaction, counts: readonly RateCount[]): Promise<void>;

  /** Puts these in the place of the counts of the same subjects and windows, which `tx` holds. */
  replaceCounts(tx: Transaction, counts: readonly RateCount[]): Promise<void>;

  /** Deletes at most `limit` counts whose windows were over at `before`, those that ended first. @returns how many */
  deleteEnded(tx: Transaction, before: number, limit: number): Promise<number>;
}
