import { CANCELLED_ERROR, jobErrorOf, POISON_ERROR } from "../jobs/job-errors.js";
import { isBought, isOpen } from "./attempt-states.js";
import { giveUp, isOverdue } from "./decide-rendering.js";
import { isGraceOver, neverHeard } from "./decide-submission.js";
import { CRASHES_MAX, LAST_POLL_WINDOW_MS, suspectedDelayMs } from "./policy.js";
import { fail, openAttempt, release, type Situation } from "./situation.js";
import { STALE, type Transition, transition } from "./transition.js";

/** An operator ends the job; later reports of its worker or provider do not change that. */
export function onCancelled(situation: Situation): Transition {
  return fail(situation, CANCELLED_ERROR, "cancelled");
}

/**
 * Workers were lost or failed on the job repeatedly: a job without an attempt that may be bought ends. What is bought,
 * or may be, is worth more than a worker: it is left alone for longer after each further loss, until its deadline.
 */
export function onSuspected(situation: Situation, { wasLost }: { readonly wasLost: boolean }): Transition {
  const { job, attempts, policy } = situation;
  if (job.crashes <= CRASHES_MAX) return transition({ next: "continue" });
  const attempt = openAttempt(situation);
  if (attempt === undefined) return fail(situation, POISON_ERROR, "crashed");
  // Each repeated call has a deadline of its own; the grace period of the first is that of them all, but one more call
  // after the first suspicion may bring what an earlier one bought.
  const isRepeated = policy.capabilities.idempotentSubmit && !isBought(attempt) && job.crashes > CRASHES_MAX + 1;
  if (isRepeated && isGraceOver(situation, attempts.filter(isOpen))) return fail(situation, POISON_ERROR, "unknown");
  if (!wasLost) return transition({ next: "continue" });
  return transition({ job: release(situation, suspectedDelayMs(job.crashes)) });
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
