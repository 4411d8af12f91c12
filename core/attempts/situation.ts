import type { AttemptLoss, JobAttempt, JobError, JobState } from "../jobs/job.js";
import type { AttemptChanges, JobChanges } from "../ports/job-store.js";
import type { ProviderFailure } from "../ports/music-provider.js";
import { isBought, isOpen, phaseOf } from "./attempt-states.js";
import type { ExecutionPolicy } from "./policy.js";
import { backoffMs } from "./retry-policy.js";
import { type AttemptUpdate, type Transition, transition } from "./transition.js";

/** What a decision is about: a live job and its attempts as they are under the lock of the job's row. */
export interface Situation {
  readonly job: JobState;
  readonly attempts: readonly JobAttempt[];
  /**
   * Whether the reporter still has the lease. Word of an attempt counts without it; what becomes of the job otherwise
   * does not.
   */
  readonly holdsLease: boolean;
  readonly policy: ExecutionPolicy;
  readonly now: number;
}

export function attemptOf({ attempts }: Pick<Situation, "attempts">, number: number): JobAttempt | undefined {
  return attempts.find((attempt) => attempt.number === number);
}

/** The open attempt that is furthest; undefined when none is open. */
export function openAttempt({ attempts }: Pick<Situation, "attempts">): JobAttempt | undefined {
  const order = ["stored", "finished", "accepted", "unknown", "intended"];
  return [...attempts]
    .filter(isOpen)
    .sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state) || b.number - a.number)[0];
}

/** Gives the lease up, and makes the job due after `afterMs`. Where another worker has the lease, that one goes on. */
export function release({ job, holdsLease, now }: Situation, afterMs: number): JobChanges {
  if (holdsLease) return { leaseOwner: null, dueAt: now + Math.round(afterMs) };
  return job.leaseOwner === null ? { dueAt: now + Math.round(afterMs) } : {};
}

/** As {@link release}, at a moment. */
export function releaseUntil(situation: Situation, dueAt: number): JobChanges {
  return release(situation, Math.max(0, dueAt - situation.now));
}

/** None were read; null where the provider reports nothing, so that none need be looked for. */
export function callbacksOf({ policy }: Situation): [] | null {
  return (policy.capabilities.callbacks ?? "none") === "none" ? null : [];
}

export function jittered({ policy }: Situation, ms: number): number {
  return backoffMs(ms, 1, policy.fraction);
}

/** The phase and status that follow from the attempts once these updates are written. */
export function following({ job, attempts }: Situation, updates: readonly AttemptUpdate[]): JobChanges {
  const after = attempts.map((attempt) => ({
    state: updates.find(({ number }) => number === attempt.number)?.changes.state ?? attempt.state,
  }));
  const phase = phaseOf(after);
  const status = phase === "waiting" ? "queued" : "processing";
  return { ...(phase === job.phase ? {} : { phase }), ...(status === job.status ? {} : { status }) };
}

/** Closes an attempt: nothing of it is expected any more. */
export function closed(now: number, state: JobAttempt["state"], changes: AttemptChanges = {}): AttemptChanges {
  const moments = { deadlineAt: null, overdueSince: null, endReportedAt: null, cancelDueAt: null };
  return { state, endedAt: now, ...moments, result: null, files: null, handle: null, ...changes };
}

/** Gives up what is still open; work that the provider has is to be cancelled there. */
export function abandonAll({ attempts, policy, now }: Situation, loss: AttemptLoss, except?: number): AttemptUpdate[] {
  return attempts
    .filter((attempt) => isOpen(attempt) && attempt.number !== except)
    .map((attempt) => {
      const isThere = attempt.state === "accepted" && attempt.handle !== null && policy.capabilities.cancel;
      const cancel = isThere ? { handle: attempt.handle, cancelDueAt: now } : {};
      return { number: attempt.number, changes: closed(now, "abandoned", { loss, ...cancel }) };
    });
}

/** Ends the job as failed. What is still open of its attempts is given up for this reason. */
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
 * An attempt has ended without a result, and so does the job; unless something is bought by another attempt, with which
 * the job goes on at once.
 */
export function failUnlessBought(situation: Situation, error: JobError, updates: readonly AttemptUpdate[]): Transition {
  const others = situation.attempts.filter((other) => !updates.some(({ number }) => number === other.number));
  return others.some(isBought) ? written(situation, updates) : fail(situation, error, "unknown", updates);
}

/** Writes what became of attempts. The job goes on at once with what is open. */
export function written(situation: Situation, attempts: readonly AttemptUpdate[]): Transition {
  return transition({ attempts, job: { ...following(situation, attempts), ...release(situation, 0) } });
}

/** Whether a provider makes one piece for one job: what two attempts there have bought is the same work. */
export function isSameWork({ job, policy }: Situation, ...attempts: readonly [JobAttempt, JobAttempt]): boolean {
  return policy.capabilities.idempotentSubmit && attempts.every(({ providerId }) => providerId === job.providerId);
}

/** What a failure says of an attempt; with what it probably cost, unless it is known to have cost nothing. */
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
