import { ProviderFailure, type ProviderFailureKind } from "../ports/music-provider.js";

export interface RetryPolicy {
  /** Submissions a provider may refuse before the job fails. */
  readonly maxAttempts: number;
  /** The wait before the second attempt; it doubles with each further one, up to a minute. */
  readonly backoffMs: number;
}

const BACKOFF_MAX_MS = 60_000;
const RETRY_AFTER_MAX_MS = 15 * 60_000;

/** Failures after which nothing was accepted and a retry, at this or another provider, may succeed. */
const RETRYABLE: ReadonlySet<ProviderFailureKind> = new Set([
  "unavailable",
  "rate_limited",
  "timeout",
  "misconfigured",
  "out_of_credit",
  "model_unavailable",
]);

/** True for failures after which nothing was accepted and a retry may succeed. */
export function isRetryable(kind: ProviderFailureKind): boolean {
  return RETRYABLE.has(kind);
}

/** True for failures that only the operator can fix: waiting does not. */
export function needsOperator(kind: ProviderFailureKind): boolean {
  return kind === "misconfigured" || kind === "out_of_credit" || kind === "model_unavailable";
}

/**
 * How long to wait before the next attempt, in milliseconds; null when there is none. Between half and all of the
 * doubled backoff (jitter), and never less than what the provider asked for.
 *
 * @param refusals how often the provider refused so far, this time included
 * @param fraction random, from 0 to 1
 */
export function retryDelayMs(
  policy: RetryPolicy,
  refusals: number,
  retryAfterMs: number | null,
  fraction: number,
): number | null {
  if (refusals >= policy.maxAttempts) return null;
  const backoff = backoffMs(policy.backoffMs, refusals, fraction);
  return Math.max(backoff, boundedRetryAfterMs(retryAfterMs));
}

/** The wait that a provider asks for, at most 15 minutes; 0 when it asks for none, or the value is not a number. */
export function boundedRetryAfterMs(retryAfterMs: number | null): number {
  return Number.isFinite(retryAfterMs) ? Math.min(retryAfterMs ?? 0, RETRY_AFTER_MAX_MS) : 0;
}

/** `baseMs` doubled for every attempt after the first, capped at a minute, with jitter over its upper half. */
export function backoffMs(baseMs: number, tries: number, fraction: number): number {
  const full = Math.min(baseMs * 2 ** (tries - 1), BACKOFF_MAX_MS);
  return Math.round(full * (0.5 + fraction / 2));
}

const LASTING = [
  "failed",
  "content_rejected",
  "invalid_input",
  "cancelled",
  "gone",
] as const satisfies readonly ProviderFailureKind[];

/** A failure that a retry does not fix. */
export type LastingFailure = ProviderFailure & { readonly kind: (typeof LASTING)[number] };

/** True for a failure that a retry does not fix. */
export function isLasting(error: unknown): error is LastingFailure {
  return ProviderFailure.is(error) && LASTING.some((kind) => kind === error.kind);
}
