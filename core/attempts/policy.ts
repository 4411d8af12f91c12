import type { ProviderCapabilities, ProviderCost } from "../ports/music-provider.js";
import type { RetryPolicy } from "./retry-policy.js";

/** What decisions about a job go by. Durations are in milliseconds. */
export interface ExecutionPolicy {
  readonly retry: RetryPolicy;
  /** A job of which nothing is bought ends this long after its creation. */
  readonly queueDeadlineMs: number;
  /** An accepted attempt is given up this long after its acceptance. */
  readonly renderDeadlineMs: number;
  /** How long an attempt with an unknown outcome waits for word of it. */
  readonly unknownGraceMs: number;
  /** How long a final word that ends paid work is doubted: the provider is asked again meanwhile. */
  readonly confirmMs: number;
  readonly capabilities: Pick<
    ProviderCapabilities,
    "idempotentSubmit" | "lookup" | "lookupSettlesMs" | "cancel" | "callbacks"
  >;
  /** What an attempt is expected to cost; null when the provider did not say. */
  readonly expectedCost: ProviderCost | null;
  /** Random, from 0 to 1: draws the jitter of this decision. */
  readonly fraction: number;
}

/** Times in a row that a worker may be lost on a job before the job is suspected of it. */
export const CRASHES_MAX = 3;

/** Collections of a job's files that a worker began and was lost in, before the files are suspected of it. */
const LOST_COLLECTIONS_MAX = 2;

/** Whether what the provider made is stored as it came, since listening to it may have ended its workers. */
export function isStoredPlain({ collectionsBegun }: { readonly collectionsBegun: number }): boolean {
  return collectionsBegun >= LOST_COLLECTIONS_MAX;
}

/** How often a provider is asked again while its final word is doubted. */
const CONFIRM_POLL_MS = 10_000;
/** The least often, in parts of the time for which it is doubted. */
const CONFIRM_POLLS_MIN = 6;

/** The wait between two polls that confirm a final word. */
export function confirmPollMs({ confirmMs }: Pick<ExecutionPolicy, "confirmMs">): number {
  return Math.min(CONFIRM_POLL_MS, confirmMs / CONFIRM_POLLS_MIN);
}

/**
 * An attempt past its deadline whose provider cannot be asked is kept for this long, counted from when a worker first
 * noticed.
 */
export const LAST_POLL_WINDOW_MS = 10 * 60_000;

export const POLL_MIN_MS = 50;
const POLL_MAX_MS = 24 * 3_600_000;
export const POLL_RETRY_MS = 2_000;
/** What a provider made and could not be fetched now is fetched again after about this time. */
export const FETCH_RETRY_MS = 20_000;
const CRASH_DELAY_MS = 5_000;
/** Each further crash waits this much longer: a disk may be full for minutes. */
const CRASH_GROWTH = 4;
const CRASH_DELAY_MAX_MS = 60_000;

/** The wait before the next try after a worker failed unexpectedly, having done so `crashes` times before. */
export function crashDelayMs(crashes: number): number {
  return Math.min(CRASH_DELAY_MS * CRASH_GROWTH ** crashes, CRASH_DELAY_MAX_MS);
}

/**
 * A plugin may report a wait that is no number, or that ends at no moment; the job is due within a day nevertheless.
 */
export function pollDelayMs(nextPollMs: number): number {
  if (!Number.isFinite(nextPollMs)) return POLL_RETRY_MS;
  return Math.min(POLL_MAX_MS, Math.max(POLL_MIN_MS, Math.round(nextPollMs)));
}
