import type { WebhookFailure } from "../ports/webhook-sender.js";
import type { WebhookEndpoint } from "../ports/webhook-records.js";
import type { EndpointBreakerPolicy } from "./endpoint-health.js";

/** Delivery attempts under way at once to one host, in one process, of all accounts together. */
export const ATTEMPTS_PER_HOST_MAX = 10;

/** Failures in a row, of whichever endpoints, after which a host counts as failing. */
const HOST_FAILURES = 5;

/** Say nothing of the host: nothing was sent, or one endpoint is over for good. */
const NOT_OF_THE_HOST: ReadonlySet<WebhookFailure> = new Set<WebhookFailure>(["blocked_address", "gone"]);

/** Failures with a response: the host is there, and may serve other endpoints well. */
const RESPONDED: ReadonlySet<WebhookFailure> = new Set<WebhookFailure>(["redirect", "http_4xx", "http_5xx"]);

/** What delivery attempts have shown of a host since its last success. */
export interface HostHealth {
  /** In a row. */
  readonly failures: number;
  /** Whether its last failure was a response. */
  readonly responds: boolean;
  /** Until then the endpoints that it holds back wait; from then on they have one attempt at a time, all together. */
  readonly openUntil: number;
  /** How long that was last; 0 while it does not count as failing. */
  readonly openMs: number;
}

/** The health of a host after an attempt; null while all is well. @param failure null: it was delivered */
export function afterAttempt(
  before: HostHealth | null,
  failure: WebhookFailure | null,
  { openMs: firstMs, openMaxMs }: EndpointBreakerPolicy,
  now: number,
): HostHealth | null {
  if (failure === null) return null;
  if (NOT_OF_THE_HOST.has(failure)) return before;
  const responds = RESPONDED.has(failure);
  const failures = (before?.failures ?? 0) + 1;
  if (failures < HOST_FAILURES) return { failures, responds, openUntil: 0, openMs: 0 };
  // Attempts that were under way when it opened say nothing new.
  if (before !== null && now < before.openUntil) return { ...before, failures, responds };
  const openMs = before === null || before.openMs === 0 ? firstMs : Math.min(before.openMs * 2, openMaxMs);
  return { failures, responds, openUntil: now + openMs, openMs };
}

/** Whether the host fails: it opened, and nothing was delivered since. */
export function isFailing(host: HostHealth | null): host is HostHealth {
  return host !== null && host.openMs > 0;
}

/**
 * Whether a failing host holds an endpoint back. A host that responds, if only with errors, does not hold back an
 * endpoint that has not failed itself: other accounts may do well there.
 */
export function holdsBack(host: HostHealth, { health }: Pick<WebhookEndpoint, "health">): boolean {
  return !host.responds || health.streak !== null;
}
