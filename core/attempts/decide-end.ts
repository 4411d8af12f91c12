import { CANCELLED_ERROR, jobErrorOf, POISON_ERROR } from "../jobs/job-errors.js";
import { isBought } from "./attempt-states.js";
import { giveUp, isOverdue } from "./decide-rendering.js";
import { neverHeard } from "./decide-submission.js";
import { CRASHES_MAX, LAST_POLL_WINDOW_MS } from "./policy.js";
import { fail, openAttempt, type Situation } from "./situation.js";
import { STALE, type Transition, transition } from "./transition.js";

/** An operator's word ends the job, whatever its worker or provider reports later. */
export function onCancelled(situation: Situation): Transition {
  return fail(situation, CANCELLED_ERROR, "cancelled");
}

/**
 * Workers were lost on the job, or failed on it, again and again: a job of which nothing is bought ends; of an accepted
 * attempt the provider is asked once more, and then to cancel.
 */
export function onSuspected(situation: Situation): Transition {
  const { job, policy } = situation;
  const attempt = openAttempt(situation);
  if (job.crashes <= CRASHES_MAX) return transition({ next: "continue" });
  if (attempt === undefined) return fail(situation, POISON_ERROR, "crashed");
  // Only the settlement fails, and the files are ours: it is repeated until the deadline.
  if (attempt.state === "stored") return transition({ next: "continue" });
  if (isBought(attempt))
    return job.crashes <= CRASHES_MAX + 1 ? transition({ next: "continue" }) : fail(situation, POISON_ERROR, "crashed");
  // Where nothing can be repeated or looked up, the job only waits, and no worker is lost on that.
  const isTried = policy.capabilities.idempotentSubmit || policy.capabilities.lookup;
  return isTried ? fail(situation, POISON_ERROR, "unknown") : transition({ next: "continue" });
}

/**
 * Ends a job of which nothing is bought when the queue's time is over. An open attempt past its deadline is made due
 * for a last poll, and ended here only when no worker has asked for it in {@link LAST_POLL_WINDOW_MS}.
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
  // A lease that has run out is that of a lost worker.
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
