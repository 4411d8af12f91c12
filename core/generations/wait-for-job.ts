import { type Job, isFinal } from "../jobs/job.js";
import type { JobId } from "../ids.js";
import type { WatchJobs } from "../jobs/watch-jobs.js";
import type { Clock } from "../ports/clock.js";
import type { JobStore } from "../ports/job-store.js";

export interface WaitForJobDeps {
  readonly jobs: Pick<JobStore, "findJobs">;
  readonly watch: Pick<WatchJobs, "watch">;
  readonly clock: Clock;
}

/** Waits for jobs to end: all that wait in this process read them together. */
export class WaitForJob {
  constructor(private readonly deps: WaitForJobDeps) {}

  /**
   * The job as it is when it ends, when `maxMs` have passed, or when `signal` aborts; whichever comes first.
   *
   * @returns undefined when there is no such job
   * @throws {ServiceUnavailableError} the storage cannot be read
   */
  async wait(jobId: JobId, maxMs: number, signal?: AbortSignal): Promise<Job | undefined> {
    const over = new AbortController();
    const end = (): void => over.abort("over");
    if (signal?.aborted === true) end();
    signal?.addEventListener("abort", end);
    void this.deps.clock.sleep(maxMs, over.signal).then(end);
    try {
      if (maxMs > 0) {
        for await (const { job } of this.deps.watch.watch(jobId, over.signal)) if (isFinal(job.status)) return job;
      }
      // As it is now: it was last read up to half a second ago.
      return (await this.deps.jobs.findJobs([jobId])).get(jobId);
    } finally {
      end();
      signal?.removeEventListener("abort", end);
    }
  }
}
