import type { WebhookEventId } from "../ids.js";
import { type EndpointBreaker, type EndpointHealth, type FailureStreak } from "../ports/webhook-records.js";
import type { WebhookFailure } from "../ports/webhook-sender.js";

const HOUR_MS = 3_600_000;

/** Failing for so long without a success disables an endpoint. */
const DISABLE_AFTER_MS = 120 * HOUR_MS;
/** The longest pause of the schedule is 24 h and a fifth: after a longer one the count of failures starts again. */
const STREAK_GAP_MAX_MS = 36 * HOUR_MS;
/** An operator hears of a failing endpoint after these times. */
const WARN_AFTER_HOURS = [24, 72] as const;

/** Transport failures in a row after which new attempts wait. */
const BREAKER_FAILURES = 5;
/** Failures that mean that there is no receiver; any response proves one. */
const TRANSPORT: ReadonlySet<WebhookFailure> = new Set<WebhookFailure>([
  "dns",
  "connect",
  "tls",
  "timeout",
  "protocol",
]);

/** How long a breaker delays attempts: first, and at most after doubling each time. */
export interface EndpointBreakerPolicy {
  readonly openMs: number;
  readonly openMaxMs: number;
}

export interface HealthChange {
  readonly health: EndpointHealth;
  /** The endpoint has failed for days: it is to be disabled. */
  readonly disables: boolean;
  /** The hours of failing to warn of now; null for no warning. */
  readonly warnHours: number | null;
}

/** The health after a failed attempt. @see webhooks, section 4, points 6 and 9 */
export function afterFailedAttempt(
  health: EndpointHealth,
  eventId: WebhookEventId,
  failure: WebhookFailure,
  policy: EndpointBreakerPolicy,
  now: number,
): HealthChange {
  const before = health.streak;
  const goesOn = before !== null && now - before.lastAt <= STREAK_GAP_MAX_MS;
  const streak: FailureStreak = goesOn
    ? { ...before, lastAt: now, severalEvents: before.severalEvents || before.firstEventId !== eventId }
    : { firstAt: now, lastAt: now, firstEventId: eventId, severalEvents: false, warnedHours: 0 };
  const failingMs = now - streak.firstAt;
  const due =
    WARN_AFTER_HOURS.filter((hours) => failingMs >= hours * HOUR_MS && hours > streak.warnedHours).at(-1) ?? null;
  return {
    health: {
      streak: { ...streak, warnedHours: due ?? streak.warnedHours },
      breaker: breakerAfter(health.breaker, failure, policy, now),
    },
    disables: failingMs >= DISABLE_AFTER_MS && streak.severalEvents,
    warnHours: due,
  };
}

function breakerAfter(
  before: EndpointBreaker | null,
  failure: WebhookFailure,
  { openMs: firstMs, openMaxMs }: EndpointBreakerPolicy,
  now: number,
): EndpointBreaker | null {
  if (!TRANSPORT.has(failure)) return null;
  const failures = (before?.failures ?? 0) + 1;
  if (failures < BREAKER_FAILURES) return { failures, openUntil: 0, openMs: 0 };
  // Tries that were under way when it opened say nothing new.
  if (before !== null && now < before.openUntil) return { ...before, failures };
  const openMs = before === null || before.openMs === 0 ? firstMs : Math.min(before.openMs * 2, openMaxMs);
  return { failures, openUntil: now + openMs, openMs };
}

/** How many attempts may be under way at once, of `usual`. */
export function triesAllowed({ breaker }: EndpointHealth, usual: number, now: number): number {
  if (breaker === null || breaker.openMs === 0) return usual;
  return now < breaker.openUntil ? 0 : 1;
}
