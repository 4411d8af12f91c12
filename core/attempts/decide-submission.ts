import { jobErrorOf } from "../jobs/job-errors.js";
import type { JobAttempt } from "../jobs/job.js";
import { ProviderFailure } from "../ports/music-provider.js";
import type { Route } from "../providers/routes.js";
import { adoption, notAdopted, progress, superseded } from "./adoption.js";
import { isBought, isOpen } from "./attempt-states.js";
import { cancelDueAt } from "./decide-cancel.js";
import type { SubmissionEvent } from "./events.js";
import { POLL_RETRY_MS, pollDelayMs, UNHEARD_MAX } from "./policy.js";
import { backoffMs, boundedRetryAfterMs, isRetryable, needsOperator, retryDelayMs } from "./retry-policy.js";
import {
  attemptOf,
  callbacksOf,
  closed,
  fail,
  failUnlessBought,
  failureChanges,
  following,
  jittered,
  release,
  releaseUntil,
  type Situation,
  written,
} from "./situation.js";
import { type AttemptUpdate, STALE, type Transition, transition } from "./transition.js";

type Of<Type extends SubmissionEvent["type"]> = Extract<SubmissionEvent, { type: Type }>;

/**
 * Records the intent to submit. Past the queue deadline a job without a purchase ends instead, and so does a job whose
 * provider cannot render in time.
 */
export function onIntended(
  situation: Situation,
  { attemptId, number, callEndsAt, usualRenderMs }: Of<"intended">,
): Transition {
  const { job, attempts, policy, now } = situation;
  // The first run may have been committed although its reply was lost.
  if (attemptOf(situation, number)?.id === attemptId) return transition({ next: "continue" });
  // A report on an earlier attempt arrived meanwhile.
  const isUnderWay = attempts.some(policy.capabilities.idempotentSubmit ? isBought : isOpen);
  if (isUnderWay) return giveUpLease(situation);
  const isHopeless = now >= job.createdAt + policy.queueDeadlineMs || (usualRenderMs ?? 0) > policy.renderDeadlineMs;
  if (!attempts.some(isOpen) && isHopeless) return fail(situation, jobErrorOf("unavailable"), "unknown");
  const newAttempt: JobAttempt = {
    id: attemptId,
    jobId: job.id,
    number,
    providerId: job.providerId,
    modelId: job.servedModelId,
    state: "intended",
    handle: null,
    result: null,
    progress: null,
    files: null,
    startedAt: now,
    callEndsAt,
    acceptedAt: null,
    finishedAt: null,
    deadlineAt: Math.max(callEndsAt, now + policy.unknownGraceMs),
    overdueSince: null,
    endReportedAt: null,
    cancelDueAt: null,
    endedAt: null,
    outcome: null,
    message: null,
    cost: null,
    billable: null,
    loss: null,
  };
  return transition({
    next: "continue",
    newAttempt,
    job: { phase: "submitting", status: "processing", attempt: number },
  });
}

export function onNotCalled(situation: Situation, { number, message }: Of<"not_called">): Transition {
  if (attemptOf(situation, number)?.state !== "intended") return giveUpLease(situation);
  const refused = closed(situation.now, "refused", { outcome: "unavailable", message, cost: null, billable: "no" });
  return written(situation, [{ number, changes: refused }]);
}

/** The provider accepted the attempt: from now on it is polled under its handle, whichever worker reported it. */
export function onAccepted(situation: Situation, event: Of<"accepted">): Transition {
  const { job, now, policy } = situation;
  const attempt = attemptOf(situation, event.number);
  if (attempt === undefined) return STALE;
  if (attempt.state === "accepted" || attempt.state === "finished" || attempt.state === "stored") {
    return transition({ job: release(situation, 0) });
  }
  const standing = adoption(situation, attempt);
  if (standing !== "adopt")
    return notAdopted(situation, attempt, standing, { handle: event.handle, outcome: "accepted" });
  const changes = {
    state: "accepted",
    handle: event.handle,
    outcome: "accepted",
    message: null,
    cost: policy.expectedCost,
    billable: "unknown",
    acceptedAt: now,
    deadlineAt: now + policy.renderDeadlineMs,
    overdueSince: null,
    cancelDueAt: cancelDueAt(situation),
    endedAt: null,
    loss: null,
  } as const;
  const updates = [{ number: attempt.number, changes }, ...superseded(situation, attempt.number)];
  return transition({
    notify: changes.cancelDueAt === null ? null : job.providerId,
    attempts: updates,
    job: {
      ...following(situation, updates),
      ...release(situation, pollDelayMs(event.nextPollMs)),
      ...progress(job.crashes),
    },
    callbacksRead: callbacksOf(situation),
  });
}

export function onSubmissionFailed(
  situation: Situation,
  { number, failure, fallback, isAborted }: Of<"submission_failed">,
): Transition {
  const { job, policy, now } = situation;
  const attempt = attemptOf(situation, number);
  if (attempt === undefined || (attempt.state !== "intended" && attempt.state !== "unknown"))
    return giveUpLease(situation);
  const said = failureChanges(situation, failure);
  if (failure.kind === "outcome_unknown") {
    const again = policy.capabilities.idempotentSubmit || policy.capabilities.lookup;
    const unheard = situation.attempts.filter((other) => isOpen(other) && !isBought(other));
    const isGivenUp = unheard.length > UNHEARD_MAX && isGraceOver(situation, unheard);
    if (policy.capabilities.idempotentSubmit && !isAborted && situation.holdsLease && isGivenUp) {
      return fail(situation, jobErrorOf("outcome_unknown"), "unknown", [
        { number, changes: closed(now, "abandoned", { ...said, loss: "unknown" }) },
      ]);
    }
    // The call has ended: from now on only the grace period counts, unless a callback proved the acceptance.
    const graceEndsAt = Math.max(now, attempt.startedAt + policy.unknownGraceMs);
    const deadlineAt = attempt.acceptedAt === null ? graceEndsAt : attempt.deadlineAt;
    const updates = [{ number, changes: { ...said, state: "unknown", deadlineAt } as const }];
    const soon = now + (isAborted ? 0 : backoffMs(policy.retry.backoffMs, unheard.length, policy.fraction));
    const dueAt = again || isAborted ? soon : (deadlineAt ?? graceEndsAt);
    return transition({
      attempts: updates,
      job: { ...following(situation, updates), ...releaseUntil(situation, dueAt) },
      callbacksRead: callbacksOf(situation),
    });
  }
  // A provider bills only accepted work.
  const acceptedAt = attempt.acceptedAt ?? (failure.billable === "yes" ? now : null);
  const isFailed = acceptedAt !== null || ["failed", "timeout", "cancelled"].includes(failure.kind);
  const loss = isFailed && (acceptedAt !== null || failure.billable !== "no") ? "provider_failed" : null;
  const updates = [{ number, changes: closed(now, isFailed ? "failed" : "refused", { ...said, acceptedAt, loss }) }];
  const others = situation.attempts.filter((other) => other.number !== number && isOpen(other));
  // Where the job continues with another attempt or worker, only this attempt's outcome is recorded. That worker
  // must not submit again a request that the provider will always refuse.
  const isHeldElsewhere = !situation.holdsLease && job.leaseOwner !== null;
  const goesOn = isHeldElsewhere && (others.length > 0 || isRetryable(failure.kind));
  if (goesOn || others.some(isBought)) return written(situation, updates);
  if (!isRetryable(failure.kind)) return fail(situation, jobErrorOf(failure.kind), "unknown", updates);
  if (failure.kind === "rate_limited") {
    const waitMs = Math.max(
      backoffMs(policy.retry.backoffMs, number, policy.fraction),
      boundedRetryAfterMs(failure.retryAfterMs),
    );
    return transition({ attempts: updates, job: { ...following(situation, updates), ...release(situation, waitMs) } });
  }
  const refusals = job.refusals + 1;
  const delayMs = retryDelayMs(policy.retry, refusals, failure.retryAfterMs, policy.fraction);
  if (others.length === 0 && fallback !== null && (delayMs === null || needsOperator(failure.kind))) {
    return moveTo(situation, fallback, updates);
  }
  // An earlier call may have bought the work: only a repeated one brings it.
  if (delayMs === null && isGraceOver(situation, others))
    return fail(situation, jobErrorOf(failure.kind), "unknown", updates);
  const waitMs = delayMs ?? backoffMs(policy.retry.backoffMs, refusals, policy.fraction);
  return transition({
    attempts: updates,
    job: { ...following(situation, updates), ...release(situation, waitMs), refusals },
  });
}

/** Whether the grace period of the first of these attempts is over; also when there is none of them. */
export function isGraceOver({ policy, now }: Situation, unheard: readonly JobAttempt[]): boolean {
  return unheard.length === 0 || unheard.some(({ startedAt }) => now >= startedAt + policy.unknownGraceMs);
}

/** A worker that lost its lease stops working on the job. */
function giveUpLease(situation: Situation): Transition {
  return situation.holdsLease ? transition({ job: release(situation, 0) }) : STALE;
}

export function onMoved(situation: Situation, { route }: Of<"moved">): Transition {
  return situation.attempts.some(isOpen) ? giveUpLease(situation) : moveTo(situation, route, []);
}

/** Moves the job to another provider and keeps its reservation. */
function moveTo(situation: Situation, route: Route, attempts: readonly AttemptUpdate[]): Transition {
  const job = { ...route, ...release(situation, 0), status: "queued", phase: "waiting", refusals: 0 } as const;
  return transition({ attempts, job, notify: route.providerId });
}

export function onUnbuildable(situation: Situation, { failure }: Of<"unbuildable">): Transition {
  return failUnlessBought(situation, jobErrorOf(failure.kind), []);
}

const ABSENT = new ProviderFailure("unavailable", "The provider never received it.");

/**
 * Believed only after the call has surely ended and the provider's look-up has had time to find its result. A call that
 * ended so counts as a refusal; one whose worker was lost does not.
 */
export function onAbsent(situation: Situation, { number, fallback }: Of<"absent">): Transition {
  const attempt = attemptOf(situation, number);
  if (attempt === undefined || (attempt.state !== "intended" && attempt.state !== "unknown"))
    return giveUpLease(situation);
  const { now, policy } = situation;
  // A signed callback has proved the acceptance, even if the look-up says otherwise.
  if (attempt.acceptedAt !== null) return onUnresolved(situation, { number, callbacksRead: [] });
  const callEndsAt =
    attempt.outcome === null ? (attempt.callEndsAt ?? attempt.startedAt) : (attempt.endedAt ?? attempt.startedAt);
  const settledAt = callEndsAt + (policy.capabilities.lookupSettlesMs ?? 0);
  if (now < settledAt) return transition({ job: releaseUntil(situation, settledAt) });
  const updates = [{ number, changes: closed(now, "refused", failureChanges(situation, ABSENT)) }];
  if (attempt.outcome === null) return written(situation, updates);
  const refusals = situation.job.refusals + 1;
  if (refusals > Math.max(policy.retry.maxAttempts - 1, UNHEARD_MAX)) {
    return fallback === null
      ? fail(situation, jobErrorOf("unavailable"), "unknown", updates)
      : moveTo(situation, fallback, updates);
  }
  const again = written(situation, updates);
  return { ...again, job: { ...again.job, refusals } };
}

/** Waits for a report on an attempt until its grace period is over. */
export function onUnresolved(situation: Situation, event: Omit<Of<"unresolved">, "type">): Transition {
  const { number, callbacksRead } = event;
  const attempt = attemptOf(situation, number);
  const isInMemory = attempt?.state === "finished" && attempt.result === null && attempt.handle === null;
  if (isInMemory) return onlyInMemory(situation, attempt);
  if (attempt === undefined || (attempt.state !== "intended" && attempt.state !== "unknown"))
    return giveUpLease(situation);
  const { now, policy } = situation;
  const until = attempt.deadlineAt ?? Math.max(attempt.callEndsAt ?? 0, attempt.startedAt + policy.unknownGraceMs);
  if (now >= until) return neverHeard(situation, attempt);
  const dueAt = policy.capabilities.lookup ? Math.min(until, now + jittered(situation, POLL_RETRY_MS)) : until;
  return transition({ job: releaseUntil(situation, dueAt), callbacksRead });
}

/** The worker that holds the result may still be alive and store it; after a while it counts as lost. */
function onlyInMemory(situation: Situation, attempt: JobAttempt): Transition {
  const { now, policy } = situation;
  const until = (attempt.finishedAt ?? attempt.startedAt) + policy.unknownGraceMs;
  if (now < until) return transition({ job: releaseUntil(situation, until) });
  const message = "The provider made it, and the worker that had it was lost.";
  const changes = closed(now, "failed", { message, loss: "files_lost" });
  return failUnlessBought(situation, jobErrorOf("failed"), [{ number: attempt.number, changes }]);
}

/** No report arrived: the job is refunded, and the margin report lists the possible purchase. */
export function neverHeard(situation: Situation, attempt: JobAttempt): Transition {
  const unknown = failureChanges(
    situation,
    new ProviderFailure("outcome_unknown", "Nothing was heard of the submission."),
  );
  const changes = closed(situation.now, "abandoned", {
    ...unknown,
    outcome: attempt.outcome ?? "outcome_unknown",
    message: attempt.message ?? unknown.message ?? null,
    cost: attempt.cost ?? unknown.cost ?? null,
    loss: "unknown",
  });
  return failUnlessBought(situation, jobErrorOf("outcome_unknown"), [{ number: attempt.number, changes }]);
}
