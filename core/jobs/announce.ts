import type { JobNotification } from "../ports/job-queue.js";

/** One notification stands for so many jobs of a provider that became due together. */
const JOBS_PER_NOTIFICATION = 8;

/**
 * What workers are to hear of jobs that became due together. A worker claims as many as it has slots for, whatever the
 * notification names; one whose slots are full then wakes another.
 */
export function announced(jobs: readonly JobNotification[]): JobNotification[] {
  const counts = new Map<string, number>();
  return jobs.filter(({ providerId }) => {
    const before = counts.get(providerId) ?? 0;
    counts.set(providerId, before + 1);
    return before % JOBS_PER_NOTIFICATION === 0;
  });
}
