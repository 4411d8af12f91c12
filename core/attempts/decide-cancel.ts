import { CANCELLED_ERROR } from "../jobs/job-errors.js";
import type { JobAttempt } from "../jobs/job.js";
import { isOpen } from "./attempt-states.js";
import type { EndEvent } from "./events.js";
import { attemptOf, closed, fail, failUnlessBought, release, type Situation } from "./situation.js";
import { attemptsAfter, STALE, type Transition, transition } from "./transition.js";

type Reported = Extract<EndEvent, { type: "cancel_reported" }>;

/**
 * The job is wanted no more. While nothing is bought it ends. Otherwise that is kept with the job, and the provider
 * is asked to cancel what it accepted, where it can; what it does not confirm runs to its end and is paid.
 */
export function onCancelRequested(situation: Situation): Transition {
  const { job, attempts, now } = situation;
  if (!attempts.some(isOpen)) return fail(situation, CANCELLED_ERROR, "cancelled");
  if (job.cancelRequestedAt !== null) return STALE;
  const asked = attempts.filter((attempt) => canBeAsked(situation, attempt));
  return transition({
    job: { cancelRequestedAt: now },
    attempts: asked.map(({ number }) => ({ number, changes: { cancelDueAt: now } })),
    notify: asked.length === 0 ? null : job.providerId,
  });
}

function canBeAsked({ policy }: Situation, { state, handle }: JobAttempt): boolean {
  return state === "accepted" && handle !== null && policy.capabilities.cancel;
}

/** When the provider is to be asked to cancel an attempt that it accepts now; null: it is not. */
export function cancelDueAt({ job, policy, now }: Situation): number | null {
  return job.cancelRequestedAt !== null && policy.capabilities.cancel ? now : null;
}

/** What the provider replied. Only a confirmed cancellation ends the attempt: the job is refunded. */
export function onCancelReported(situation: Situation, { number, outcome }: Reported): Transition {
  const { now } = situation;
  const attempt = attemptOf(situation, number);
  // The result came first, or another report closed the attempt.
  if (attempt?.state !== "accepted") return STALE;
  if (outcome === "cancelled") {
    const changes = closed(now, "abandoned", { loss: "cancelled" });
    return failUnlessBought(situation, CANCELLED_ERROR, [{ number, changes }]);
  }
  // Whether a cancellation that was only requested came in time is seen by a poll.
  const isFree = situation.job.leaseOwner === null;
  return transition({
    attempts: [{ number, changes: { cancelDueAt: null } }],
    job: outcome === "requested" && isFree ? release(situation, 0) : {},
    notify: outcome === "requested" ? situation.job.providerId : null,
  });
}

/** A job that is wanted no more ends as soon as nothing of it is bought, in place of another attempt. */
export function withoutAnotherAttempt(situation: Situation, decided: Transition): Transition {
  const isWanted = situation.job.cancelRequestedAt === null;
  if (isWanted || decided.ending !== null || attemptsAfter(situation.attempts, decided).some(isOpen)) return decided;
  const { attempts, callbacksRead } = decided;
  return transition({ attempts, callbacksRead, ending: { status: "failed", error: CANCELLED_ERROR } });
}
