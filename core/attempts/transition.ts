import type { CallbackId } from "../ids.js";
import type { JobAttempt, JobError, JobState, StoredFiles } from "../jobs/job.js";
import type { AttemptChanges, JobChanges } from "../ports/job-store.js";

/** How a job ends. */
export type JobEnding =
  | { readonly status: "completed"; readonly files: StoredFiles }
  | { readonly status: "failed"; readonly error: JobError };

export interface AttemptUpdate {
  readonly number: number;
  readonly changes: AttemptChanges;
}

/** The changes that an event causes, written in one commit. */
export interface Transition {
  /**
   * What the worker does next. `continue`: it continues with this attempt. `done`: its step ends. `stale`: the event
   * changed nothing, because the job has ended or another worker holds it.
   */
  readonly next: "continue" | "done" | "stale";
  readonly job: JobChanges;
  readonly attempts: readonly AttemptUpdate[];
  readonly newAttempt: JobAttempt | null;
  readonly ending: JobEnding | null;
  /** Callbacks that the worker read for it; a newer one makes the job due at once. */
  readonly callbacksRead: readonly CallbackId[] | null;
  /** Workers of this provider are notified that the job is due. */
  readonly notify: string | null;
}

export const STALE: Transition = {
  next: "stale",
  job: {},
  attempts: [],
  newAttempt: null,
  ending: null,
  callbacksRead: null,
  notify: null,
};

export function transition(changes: Partial<Transition>): Transition {
  return { ...STALE, next: "done", ...changes };
}

/** The job after a transition. @param reportId the report that ends it */
export function jobAfter(job: JobState, { job: changes, ending }: Transition, reportId: string): JobState {
  if (ending === null) return { ...job, ...changes };
  const end = { status: ending.status, phase: "ended", endedBy: reportId } as const;
  return { ...job, ...changes, ...end, fence: job.fence + 1, leaseOwner: null, dueAt: null };
}

/** The job's attempts after a transition. */
export function attemptsAfter(attempts: readonly JobAttempt[], transition: Transition): readonly JobAttempt[] {
  const changed = attempts.map((attempt) => {
    const updates = transition.attempts.filter(({ number }) => number === attempt.number);
    return updates.reduce<JobAttempt>((after, { changes }) => ({ ...after, ...changes }), attempt);
  });
  return transition.newAttempt === null ? changed : [...changed, transition.newAttempt];
}
