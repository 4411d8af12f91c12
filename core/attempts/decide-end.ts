import { CANCELLED_ERROR, jobErrorOf, POISON_ERROR } from "../jobs/job-errors.js";
import { isBought } from "./attempt-states.js";
import { giveUp, isOverdue } from "./decide-rendering.js";
import { neverHeard } from "./decide-submission.js";
import { CRASHES_MAX, LAST_POLL_WINDOW_MS } from "./policy.js";
import { fail, openAttempt, type Situation } from "./situation.js";
import { STALE, type Transition, transition } from "./transition.js";

/** An operator ends the job; later reports of its worker or provider do not change that. */
export function onCancelled(situation: Situation): Transition {
  return fail(situation, CANCELLED_ERROR, "cancelled");
}

/**
 * Workers were lost or failed on the job repeatedly: a job without a purchase ends; an accepted attempt is polled once
 * more and then cancelled.
 */
export function onSuspected(situation: Situation): Transition {
  const { job, policy } = situation;
  const attempt = openAttempt(situation);
  if (job.crashes <= CRASHES_MAX) return transition({ next: "continue" });
  if (attempt === undefined) return fail(situation, POISON_ERROR, "crashed");
  // Only the settlement fails and the files are stored: it is repeated until the deadline.
  if (attempt.state === "stored") return transition({ next: "continue" });
  if (isBought(attempt))
    return job.crashes <= CRASHES_MAX + 1 ? transition({ next: "continue" }) : fail(situation, POISON_ERROR, "crashed");
  // Where the call can be neither repeated nor looked up, the job only waits, which cannot crash a worker.
  const isTried = policy.capabilities.idempotentSubmit || policy.capabilities.lookup;
  return isTried ? fail(situation, POISON_ERROR, "unknown") : transition({ next: "continue" });
}

/**
 * Ends a job without a purchase at the queue deadline. An open attempt past its deadline becomes due for a last poll;
 * it ends here only when no worker has polled it within {@link LAST_POLL_WINDOW_MS}.
 */
export function onDeadline(situation: Situation): Transition {
  const { job, policy, now } = situation;
  const attempt = openAttempt(situation);
  if (attempt === undefined) {
    return now >= job.createdAt + policy.queueDeadlineMs
      ? fail(situation, jobErrorOf("unavailable"), "unknown")
      : STALE;
  }
  if (!isOverdue(situation, attempt)) return STALE;
  const noticed = attempt.overdueSince ?? now;
  // An expired lease belongs to a lost worker.
  const isHeld = job.leaseOwner !== null && now < (job.dueAt ?? now);
  if (now >= noticed + LAST_POLL_WINDOW_MS && !isHeld) {
    return isBought(attempt) ? giveUp(situation, attempt) : neverHeard(situation, attempt);
  }
  if (attempt.overdueSince !== null) return STALE;
  return transition({
    attempts: [{ number: attempt.number, changes: { overdueSince: now } }],
    job: job.leaseOwner === null && (job.dueAt ?? now) > now ? { dueAt: now } : {},
    notify: job.providerId,
  });
}
