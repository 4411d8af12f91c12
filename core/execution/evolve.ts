import type { JobAttempt, JobState } from "../jobs/job.js";
import type { Transition } from "./transition.js";

/** The job as a transition leaves it. @param reportId names the report that ends it */
export function jobAfter(job: JobState, { job: changes, ending }: Transition, reportId: string): JobState {
  if (ending === null) return { ...job, ...changes };
  const end = { status: ending.status, phase: "ended", endedBy: reportId } as const;
  return { ...job, ...changes, ...end, fence: job.fence + 1, leaseOwner: null, dueAt: null };
}

/** The job's attempts as a transition leaves them. */
export function attemptsAfter(attempts: readonly JobAttempt[], transition: Transition): readonly JobAttempt[] {
  const changed = attempts.map((attempt) => {
    const updates = transition.attempts.filter(({ number }) => number === attempt.number);
    return updates.reduce<JobAttempt>((after, { changes }) => ({ ...after, ...changes }), attempt);
  });
  return transition.newAttempt === null ? changed : [...changed, transition.newAttempt];
}
