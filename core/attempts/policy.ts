import type { ProviderCapabilities, ProviderCost } from "../ports/music-provider.js";
import type { RetryPolicy } from "./retry-policy.js";

/** The settings and capabilities that decisions about a job depend on. Durations are in milliseconds. */
export interface ExecutionPolicy {
  readonly retry: RetryPolicy;
  /** A job without a purchase ends this long after its creation. */
  readonly queueDeadlineMs: number;
  /** An accepted attempt is given up this long after its acceptance. */
  readonly renderDeadlineMs: number;
  /** How long an attempt with an unknown outcome waits for a report. */
  readonly unknownGraceMs: number;
  /** How long a reported end of paid work is confirmed by polling again before it is believed. */
  readonly confirmMs: number;
  readonly capabilities: Pick<
    ProviderCapabilities,
    "idempotentSubmit" | "lookup" | "lookupSettlesMs" | "cancel" | "callbacks"
  >;
  /** The expected cost of an attempt; null when the provider does not declare it. */
  readonly expectedCost: ProviderCost | null;
  /** Random, from 0 to 1: the jitter of this decision. */
  readonly fraction: number;
}

/** How many workers in a row may be lost on a job, or fail on it, before the job counts as the cause. */
export const CRASHES_MAX = 3;

/** How many calls of a provider in a row may get no reply before the next one may be the last. */
export const UNHEARD_MAX = 3;

/** How many workers may be lost while they collect a job's files before the files count as the cause. */
const LOST_COLLECTIONS_MAX = 2;

/** Whether the provider's files are stored without analysis, because analysing them may have crashed workers. */
export function isStoredPlain({ collectionsBegun }: { readonly collectionsBegun: number }): boolean {
  return collectionsBegun >= LOST_COLLECTIONS_MAX;
}

/** The pause between polls that confirm a reported end. */
const CONFIRM_POLL_MS = 10_000;
/** The least number of polls within `confirmMs`. */
const CONFIRM_POLLS_MIN = 6;

/** The wait between two polls that confirm a reported end. */
export function confirmPollMs({ confirmMs }: Pick<ExecutionPolicy, "confirmMs">): number {
  return Math.min(CONFIRM_POLL_MS, confirmMs / CONFIRM_POLLS_MIN);
}

/**
 * An attempt past its deadline whose provider cannot be polled stays open for this long after a worker first noticed
 * it.
 */
export const LAST_POLL_WINDOW_MS = 10 * 60_000;

export const POLL_MIN_MS = 50;
const POLL_MAX_MS = 24 * 3_600_000;
export const POLL_RETRY_MS = 2_000;
/** About how long a worker waits before it fetches files again. */
export const FETCH_RETRY_MS = 20_000;
const CRASH_DELAY_MS = 5_000;
/** Each further crash waits this much longer: a disk may be full for minutes. */
const CRASH_GROWTH = 4;
const CRASH_DELAY_MAX_MS = 60_000;

/** The wait before the next step after an unexpected failure, the one after `crashes` earlier failures. */
export function crashDelayMs(crashes: number): number {
  return Math.min(CRASH_DELAY_MS * CRASH_GROWTH ** crashes, CRASH_DELAY_MAX_MS);
}

const SUSPECTED_DELAY_MS = 60_000;
const SUSPECTED_DELAY_MAX_MS = 10 * 60_000;

/** How long a job that may be bought is left alone after more than {@link CRASHES_MAX} lost workers. */
export function suspectedDelayMs(crashes: number): number {
  return Math.min(SUSPECTED_DELAY_MS * 2 ** (crashes - CRASHES_MAX - 1), SUSPECTED_DELAY_MAX_MS);
}

/** A plugin may report a wait that is not a finite number; the job is due within a day nevertheless. */
export function pollDelayMs(nextPollMs: number): number {
  if (!Number.isFinite(nextPollMs)) return POLL_RETRY_MS;
  return Math.min(POLL_MAX_MS, Math.max(POLL_MIN_MS, Math.round(nextPollMs)));
}
