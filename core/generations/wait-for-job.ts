import { isFinal } from "../jobs/job.js";
import type { JobId } from "../ids.js";
import type { EndedJobs } from "../jobs/ended-jobs.js";
import type { Job } from "../jobs/job.js";
import type { Clock } from "../ports/clock.js";
import type { JobStore } from "../ports/job-store.js";

/** How often storage is asked, for jobs that end in another process. */
const LOOK_MS = 500;

/** The longest wait a caller can ask for, in seconds (RFC 7240, `Prefer: wait`). */
export const WAIT_MAX_SECONDS = 60;

export interface WaitForJobDeps {
  readonly jobs: JobStore;
  readonly endedJobs: EndedJobs;
  readonly clock: Clock;
}

/** Waits for jobs to end. */
export class WaitForJob {
  constructor(private readonly deps: WaitForJobDeps) {}

  /** The job as it is when it ends, when `maxMs` have passed, or when `signal` aborts; whichever comes first. */
  async wait(jobId: JobId, maxMs: number, signal?: AbortSignal): Promise<Job | undefined> {
    const deadline = this.deps.clock.now() + maxMs;
    for (;;) {
      // Subscribes before the first read, so that an end between the two is not missed.
      const ended = new AbortController();
      const unlisten = this.deps.endedJobs.onEnded(({ job }) => {
        if (job.id === jobId) ended.abort();
      });
      try {
        const job = (await this.deps.jobs.findJobs([jobId])).get(jobId);
        const leftMs = deadline - this.deps.clock.now();
        if (job === undefined || isFinal(job.status) || leftMs <= 0 || signal?.aborted === true) return job;
        const wake = signal === undefined ? ended.signal : AbortSignal.any([ended.signal, signal]);
        await this.deps.clock.sleep(Math.min(leftMs, LOOK_MS), wake);
      } finally {
        unlisten();
      }
    }
  }
}
