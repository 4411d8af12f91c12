import { CANCELLED_ERROR, DEADLINE_ERROR, jobErrorOf } from "../jobs/job-errors.js";
import type { JobAttempt } from "../jobs/job.js";
import type { AttemptChanges } from "../ports/job-store.js";
import type { ProviderFailure, ProviderProgress } from "../ports/music-provider.js";
import { adoption, notAdopted, progress, superseded } from "./adoption.js";
import { cancelDueAt } from "./decide-cancel.js";
import type { RenderingEvent } from "./events.js";
import { isLasting, boundedRetryAfterMs } from "./retry-policy.js";
import { confirmPollMs, LAST_POLL_WINDOW_MS, POLL_RETRY_MS, pollDelayMs } from "./policy.js";
import {
  attemptOf,
  closed,
  fail,
  failUnlessBought,
  failureChanges,
  following,
  jittered,
  release,
  sendsCallbacks,
  type Situation,
} from "./situation.js";
import { STALE, type Transition, transition } from "./transition.js";

type Of<Type extends RenderingEvent["type"]> = Extract<RenderingEvent, { type: Type }>;

/** The provider is still rendering. Past the attempt's deadline this was the last poll. */
export function onRunning(situation: Situation, event: Of<"running">): Transition {
  const attempt = attemptOf(situation, event.number);
  if (attempt === undefined) return STALE;
  if (attempt.state === "intended" || attempt.state === "unknown") return provedAccepted(situation, attempt, event);
  if (!isPolled(attempt)) return situation.holdsLease ? transition({ job: release(situation, 0) }) : STALE;
  if (isOverdue(situation, attempt)) return giveUp(situation, attempt);
  const handle = event.handle === null ? {} : { handle: event.handle };
  const isDoubted = attempt.endReportedAt !== null || attempt.overdueSince !== null;
  const changes = {
    ...handle,
    ...progressMade(attempt, event.progress, situation.now),
    ...(isDoubted ? { endReportedAt: null, overdueSince: null } : {}),
    ...(attempt.message === null ? {} : { message: null }),
  };
  return transition({
    attempts: Object.keys(changes).length === 0 ? [] : [{ number: attempt.number, changes }],
    job: { ...release(situation, pollDelayMs(event.nextPollMs)), ...progress(situation.job.crashes) },
    callbacksRead: readBy(situation, event.callbacksRead),
  });
}

/** Nothing where the provider said what it had said before: most polls then write nothing of the attempt. */
function progressMade(
  { progress: before }: JobAttempt,
  said: ProviderProgress | undefined,
  now: number,
): Pick<AttemptChanges, "progress"> {
  const { percent = null, queuePosition = null } = said ?? {};
  if (percent === null && queuePosition === null) return {};
  if (before !== null && before.percent === percent && before.queuePosition === queuePosition) return {};
  return { progress: { percent, queuePosition, at: now } };
}

/**
 * A signed callback proves that the provider accepted a submission whose reply was lost: it then has the time of a
 * render to report its end.
 */
function provedAccepted(situation: Situation, attempt: JobAttempt, event: Of<"running">): Transition {
  const { now, policy } = situation;
  const deadlineAt = renderDeadline(situation, attempt);
  const known = {
    acceptedAt: attempt.acceptedAt ?? now,
    deadlineAt,
    overdueSince: attempt.acceptedAt === null ? null : attempt.overdueSince,
    cost: policy.expectedCost,
    billable: "unknown",
  } as const;
  const state =
    event.handle === null
      ? ({ state: "unknown" } as const)
      : ({
          state: "accepted",
          handle: event.handle,
          outcome: "accepted",
          cancelDueAt: cancelDueAt(situation),
        } as const);
  const updates = [{ number: attempt.number, changes: { ...known, ...state } }];
  const waitMs = event.handle === null ? Math.max(0, deadlineAt - now) : pollDelayMs(event.nextPollMs);
  return transition({
    attempts: updates,
    job: { ...following(situation, updates), ...release(situation, waitMs) },
    callbacksRead: readBy(situation, event.callbacksRead),
  });
}

/** The provider's result is known. The worker that holds it continues and stores its files. */
export function onFinished(situation: Situation, event: Of<"finished">): Transition {
  const { job, now, policy } = situation;
  const attempt = attemptOf(situation, event.number);
  if (attempt === undefined || attempt.state === "settled") return STALE;
  if (attempt.state === "stored") return transition({ next: "continue" });
  const standing = adoption(situation, attempt);
  if (standing === "late") {
    const late = notAdopted(situation, attempt, standing, { handle: null, outcome: "completed" });
    return { ...late, callbacksRead: readBy(situation, event.callbacksRead ?? null) };
  }
  if (standing === "same") return transition({ next: "continue" });
  const { handle = attempt.handle, callbacksRead } = event;
  const result = event.result ?? attempt.result;
  const changes = {
    state: "finished",
    handle,
    result,
    outcome: "completed",
    message: null,
    cost: event.cost ?? policy.expectedCost,
    billable: "yes",
    acceptedAt: attempt.acceptedAt ?? now,
    finishedAt: attempt.finishedAt ?? now,
    deadlineAt: renderDeadline(situation, attempt),
    // The result confirms the rendering; a dead link stays in doubt until the next link works.
    endReportedAt: attempt.finishedAt === null ? null : attempt.endReportedAt,
    cancelDueAt: null,
    endedAt: now,
    loss: null,
  } as const;
  const updates = [{ number: attempt.number, changes }, ...superseded(situation, attempt.number)];
  // The worker that holds the lease continues; a result in the memory of a replaced worker is stored by that
  // worker.
  const isFree = !situation.holdsLease && job.leaseOwner === null;
  const lease = isFree && event.result !== null ? { dueAt: now } : {};
  // A callback need not be read again where a poll can return the files: a poll replaces its dead links.
  const isKnown = handle !== null || result !== null;
  return transition({
    next: "continue",
    attempts: updates,
    job: { ...following(situation, updates), ...lease },
    callbacksRead: isKnown && callbacksRead !== undefined ? readBy(situation, callbacksRead) : null,
  });
}

/**
 * A poll failed, or reported an end without a result. An end without a reason is not believed at first: the provider is
 * polled again for `policy.confirmMs`.
 */
export function onPollFailed(situation: Situation, event: Of<"poll_failed">): Transition {
  const { number, failure, source } = event;
  const { now, policy } = situation;
  const attempt = attemptOf(situation, number);
  const isUnsure = attempt?.state === "intended" || attempt?.state === "unknown";
  if (attempt === undefined || (!isPolled(attempt) && !(isUnsure && source === "callback"))) {
    return situation.holdsLease ? transition({ job: release(situation, 0) }) : STALE;
  }
  const callbacksRead = readBy(situation, event.callbacksRead);
  if (failure === null || !isEnd(failure)) {
    if (!situation.holdsLease) return STALE;
    const delayMs = Math.max(boundedRetryAfterMs(failure?.retryAfterMs ?? null), jittered(situation, POLL_RETRY_MS));
    // Shown with the attempt when it is given up; most polls in a row fail alike and write nothing more.
    const isNew = failure !== null && failure.message !== attempt.message;
    return askAgain(situation, attempt, delayMs, callbacksRead, isNew ? { message: failure.message } : {});
  }
  const doubtedSince = attempt.endReportedAt ?? now;
  if (source === "poll" && isDoubtful(failure) && now < doubtedSince + policy.confirmMs) {
    if (!situation.holdsLease) return STALE;
    const said = { endReportedAt: doubtedSince, message: failure.message };
    return askAgain(situation, attempt, jittered(situation, confirmPollMs(policy)), callbacksRead, said);
  }
  // The provider ends work that it had accepted, also where the reply to the submission was lost.
  const acceptedAt = attempt.acceptedAt ?? now;
  const isAsWanted = failure.kind === "cancelled" && situation.job.cancelRequestedAt !== null;
  const loss = isAsWanted ? "cancelled" : "provider_failed";
  const changes = closed(now, "failed", { ...failureChanges(situation, failure), acceptedAt, loss });
  const error = isAsWanted ? CANCELLED_ERROR : jobErrorOf(failure.kind);
  return failUnlessBought(situation, error, [{ number, changes }]);
}

/** Whether the attempt is polled: while it renders, and for a result that is behind a key. */
function isPolled({ state, result, handle }: JobAttempt): boolean {
  return state === "accepted" || (state === "finished" && result === null && handle !== null);
}

/** The render deadline of an attempt; it counts from the acceptance. */
function renderDeadline({ now, policy }: Situation, { acceptedAt, deadlineAt }: JobAttempt): number {
  return (acceptedAt === null ? null : deadlineAt) ?? now + policy.renderDeadlineMs;
}

/** Polls again later; past the deadline only within {@link LAST_POLL_WINDOW_MS} after a worker first noticed it. */
export function askAgain(
  situation: Situation,
  attempt: JobAttempt,
  delayMs: number,
  callbacksRead: Transition["callbacksRead"] = null,
  said: Pick<Partial<JobAttempt>, "endReportedAt" | "message" | "state"> = {},
): Transition {
  const { now } = situation;
  const noticed = attempt.overdueSince ?? now;
  if (isOverdue(situation, attempt) && now >= noticed + LAST_POLL_WINDOW_MS) return giveUp(situation, attempt);
  const changes = {
    ...said,
    ...(isOverdue(situation, attempt) && attempt.overdueSince === null ? { overdueSince: now } : {}),
  };
  return transition({
    attempts: Object.keys(changes).length === 0 ? [] : [{ number: attempt.number, changes }],
    job: release(situation, delayMs),
    callbacksRead,
  });
}

/** The attempt is past its deadline: the job is refunded and the provider is asked to cancel. */
export function giveUp(situation: Situation, attempt: JobAttempt): Transition {
  const { now, policy } = situation;
  const isThere = attempt.state === "accepted" && attempt.handle !== null && policy.capabilities.cancel;
  const cancel = isThere ? { handle: attempt.handle, cancelDueAt: now } : {};
  const loss = attempt.state === "accepted" ? "deadline" : attempt.state === "stored" ? "crashed" : "files_lost";
  return fail(situation, DEADLINE_ERROR, "deadline", [
    { number: attempt.number, changes: closed(now, "abandoned", { loss, ...cancel }) },
  ]);
}

export function isOverdue({ now }: Pick<Situation, "now">, { deadlineAt }: JobAttempt): boolean {
  return deadlineAt !== null && now >= deadlineAt;
}

/** Work that timed out at the provider has ended; a provider that could not be polled in time is `unavailable`. */
export function isEnd(failure: ProviderFailure): boolean {
  return isLasting(failure) || failure.kind === "timeout";
}

/** Whether a reported end may be temporary: the work is gone, or failed without a provider code. */
export function isDoubtful({ kind, providerCode }: ProviderFailure): boolean {
  return kind === "gone" || (kind === "failed" && providerCode === null);
}

function readBy({ policy }: Situation, ids: Transition["callbacksRead"]): Transition["callbacksRead"] {
  return sendsCallbacks(policy) ? ids : null;
}
