import type { ClaimedJob } from "../ports/job-store.js";
import { POISON_ERROR } from "../jobs/job-errors.js";
import { JobStep, type RunJobParts } from "./job-step.js";
import type { Lease } from "./lease.js";
import { WorkAbandoned } from "./job-writes.js";
import { poll } from "./poll-step.js";
import { resolveLostSubmission, submit } from "./submit-step.js";
import type { WorkingProvider } from "./working-provider.js";

/** Times a worker may be lost on a job before it is given up. */
const CRASHES_MAX = 3;

/**
 * One step of a claimed job: submit it, find out about a lost submission, or ask after it. Each step ends with the job settled,
 * queued again, or due later; the provider renders meanwhile without a worker.
 */
export class RunJob {
  constructor(private readonly parts: RunJobParts) {}

  /** Never throws: whatever happens is written to the job or to the log. */
  async run(claimed: ClaimedJob, working: WorkingProvider, lease: Lease): Promise<void> {
    const { job } = claimed;
    const step = new JobStep(this.parts, job, working, lease);
    try {
      if (claimed.wasLost) await step.discardLost();
      if (job.crashes > CRASHES_MAX) return await step.fail(POISON_ERROR, null);
      if (job.phase === "rendering") return await poll(step);
      if (job.phase === "submitting") return await resolveLostSubmission(step);
      return await submit(step);
    } catch (error) {
      if (error instanceof WorkAbandoned) return;
      if (lease.signal.aborted) await step.breakOff();
      else await step.stumble(error);
    }
  }
}
