import type { DeliveryChanges } from "../ports/webhook-store.js";
import type { WebhookResult } from "../ports/webhook-sender.js";
import type { WebhookDelivery } from "../ports/webhook-records.js";

/** Each wait is this share of itself shorter or longer. */
const JITTER = 0.2;
const DAY_MS = 86_400_000;
const RETRY_AFTER_MAX_MS = DAY_MS;
/** By how much a schedule may be late: attempts under way, others at the same endpoint, a restart. */
const LATE_MAX_MS = DAY_MS;

/**
 * The state of a delivery after an attempt of the schedule: delivered, due again, or exhausted. A receiver's
 * `Retry-After` may only delay the next attempt, by at most a day.
 *
 * @param scheduleMs the waits between attempts; there is one attempt more than waits
 * @param fraction jitter, from 0 to 1
 * @see decisions, "Webhooks" (Delivery)
 */
export function afterDeliveryAttempt(
  delivery: Pick<WebhookDelivery, "attempts">,
  result: Pick<WebhookResult, "failure" | "retryAfterMs">,
  scheduleMs: readonly number[],
  now: number,
  fraction: number,
): Required<DeliveryChanges> {
  const attempts = delivery.attempts + 1;
  const over = { attempts, leaseOwner: null, dueAt: null, endedAt: now };
  if (result.failure === null) return { state: "delivered", ...over };
  const planned = scheduleMs[attempts - 1];
  if (planned === undefined) return { state: "exhausted", ...over };
  const wait = planned * (1 - JITTER + 2 * JITTER * fraction);
  const asked = Math.min(result.retryAfterMs ?? 0, RETRY_AFTER_MAX_MS);
  return {
    state: "pending",
    attempts,
    leaseOwner: null,
    dueAt: now + Math.round(Math.max(wait, asked)),
    endedAt: null,
  };
}

/**
 * The time within which the last attempt of a delivery is over, with every wait as long as jitter and `Retry-After` can
 * make it. An event is kept for at least as long.
 *
 * @param scheduleMs as for {@link afterDeliveryAttempt}
 */
export function scheduleEndsWithinMs(scheduleMs: readonly number[]): number {
  const longestWaitsMs = scheduleMs.map((waitMs) => Math.max(waitMs * (1 + JITTER), RETRY_AFTER_MAX_MS));
  return Math.ceil(longestWaitsMs.reduce((sum, waitMs) => sum + waitMs, LATE_MAX_MS));
}
