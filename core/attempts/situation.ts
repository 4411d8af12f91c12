import type { AttemptLoss, JobAttempt, JobError, JobState } from "../jobs/job.js";
import type { AttemptChanges, JobChanges } from "../ports/job-store.js";
import type { ProviderFailure } from "../ports/music-provider.js";
import { isBought, isOpen, phaseOf } from "./attempt-states.js";
import type { ExecutionPolicy } from "./policy.js";
import { backoffMs } from "./retry-policy.js";
import { type AttemptUpdate, type Transition, transition } from "./transition.js";

/** The input of a decision: a live job and its attempts, read under the lock of the job's row. */
export interface Situation {
  readonly job: JobState;
  readonly attempts: readonly JobAttempt[];
  /**
   * Whether the reporting worker still holds the lease. A report on an attempt counts without it; other changes of the
   * job do not.
   */
  readonly holdsLease: boolean;
  readonly policy: ExecutionPolicy;
  readonly now: number;
}

export function attemptOf({ attempts }: Pick<Situation, "attempts">, number: number): JobAttempt | undefined {
  return attempts.find((attempt) => attempt.number === number);
}

/** The open attempt that is closest to completion; undefined when none is open. */
export function openAttempt({ attempts }: Pick<Situation, "attempts">): JobAttempt | undefined {
  const order = ["stored", "finished", "accepted", "unknown", "intended"];
  return [...attempts]
    .filter(isOpen)
    .sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state) || b.number - a.number)[0];
}

/**
 * Releases the lease and makes the job due after `afterMs`. Where another worker holds the lease, it changes nothing.
 */
export function release({ job, holdsLease, now }: Situation, afterMs: number): JobChanges {
  if (holdsLease) return { leaseOwner: null, dueAt: now + Math.round(afterMs) };
  return job.leaseOwner === null ? { dueAt: now + Math.round(afterMs) } : {};
}

/** Like {@link release}, with the moment at which the job is due. */
export function releaseUntil(situation: Situation, dueAt: number): JobChanges {
  return release(situation, Math.max(0, dueAt - situation.now));
}

/** No callbacks were read; null where the provider sends none, so that no query for them is needed. */
export function callbacksOf({ policy }: Situation): [] | null {
  return sendsCallbacks(policy) ? [] : null;
}

export function sendsCallbacks({ capabilities }: Pick<ExecutionPolicy, "capabilities">): boolean {
  return (capabilities.callbacks ?? "none") !== "none";
}

export function jittered({ policy }: Situation, ms: number): number {
  return backoffMs(ms, 1, policy.fraction);
}

/** The phase and status of the job after these updates of its attempts. */
export function following({ job, attempts }: Situation, updates: readonly AttemptUpdate[]): JobChanges {
  const after = attempts.map((attempt) => ({
    state: updates.find(({ number }) => number === attempt.number)?.changes.state ?? attempt.state,
  }));
  const phase = phaseOf(after);
  const status = phase === "waiting" ? "queued" : "processing";
  return { ...(phase === job.phase ? {} : { phase }), ...(status === job.status ? {} : { status }) };
}

/** The changes that close an attempt. */
export function closed(now: number, state: JobAttempt["state"], changes: AttemptChanges = {}): AttemptChanges {
  const moments = { deadlineAt: null, overdueSince: null, endReportedAt: null, cancelDueAt: null };
  return { state, endedAt: now, ...moments, result: null, files: null, handle: null, ...changes };
}

/** Abandons open attempts; accepted work is to be cancelled at the provider. */
export function abandonAll({ attempts, policy, now }: Situation, loss: AttemptLoss, except?: number): AttemptUpdate[] {
  return attempts
    .filter((attempt) => isOpen(attempt) && attempt.number !== except)
    .map((attempt) => {
      const isThere = attempt.state === "accepted" && attempt.handle !== null && policy.capabilities.cancel;
      const cancel = isThere ? { handle: attempt.handle, cancelDueAt: now } : {};
      return { number: attempt.number, changes: closed(now, "abandoned", { loss, ...cancel }) };
    });
}

/** Ends the job as failed. Its open attempts are abandoned with this `loss`. */
export function fail(
  situation: Situation,
  error: JobError,
  loss: AttemptLoss,
  updates: readonly AttemptUpdate[] = [],
): Transition {
  const others = abandonAll(situation, loss).filter(
    ({ number }) => !updates.some((update) => update.number === number),
  );
  return transition({ attempts: [...updates, ...others], ending: { status: "failed", error } });
}

/**
 * An attempt ended without a result: the job fails, unless another attempt is open, with which it continues at once.
 */
export function failUnlessBought(situation: Situation, error: JobError, updates: readonly AttemptUpdate[]): Transition {
  const others = situation.attempts.filter((other) => !updates.some(({ number }) => number === other.number));
  return others.some(isBought) ? written(situation, updates) : fail(situation, error, "unknown", updates);
}

/** Writes the outcomes of attempts. The job continues at once with the open attempt. */
export function written(situation: Situation, attempts: readonly AttemptUpdate[]): Transition {
  return transition({ attempts, job: { ...following(situation, attempts), ...release(situation, 0) } });
}

/** Whether a provider creates one result per job: two attempts there have bought the same work. */
export function isSameWork({ job, policy }: Situation, ...attempts: readonly [JobAttempt, JobAttempt]): boolean {
  return policy.capabilities.idempotentSubmit && attempts.every(({ providerId }) => providerId === job.providerId);
}

/**
 * The changes that record a failure with its attempt; with the expected cost, unless the failure is known to be free.
 */
export function failureChanges({ policy, now }: Situation, failure: ProviderFailure): AttemptChanges {
  const { kind, message, billable, providerCode, requestId } = failure;
  const ids = [providerCode === null ? "" : `code ${providerCode}`, requestId === null ? "" : `request ${requestId}`];
  const named = ids.filter((text) => text !== "");
  return {
    outcome: kind,
    message: named.length === 0 ? message : `${message} (${named.join(", ")})`,
    cost: billable === "no" ? null : policy.expectedCost,
    billable,
    endedAt: now,
  };
}
