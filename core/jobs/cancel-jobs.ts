import type { Alongside } from "../audit/audit-trail.js";
import type { JobState } from "./job.js";

/** Ends jobs outside of their workers. */
export interface CancelJobs {
  /**
   * Ends the job while nothing is bought; otherwise keeps that it is wanted no more.
   *
   * @param alongside is written together with what changes; not at all when nothing does
   */
  requestCancel(job: JobState, alongside: Alongside<JobState>): Promise<void>;
  /** Ends the job, whatever is bought; a job that had ended stays as it is. @param alongside as above */
  cancel(job: JobState, alongside: Alongside<JobState>): Promise<void>;
}
