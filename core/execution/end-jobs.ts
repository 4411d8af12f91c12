import type { Job, JobState } from "../jobs/job.js";
import type { IdGenerator } from "../ports/id-generator.js";
import type { ApplyReports } from "./apply-reports.js";
import type { EndEvent } from "./events.js";
import type { Policies } from "./policies.js";

export interface EndJobsDeps {
  readonly applyReports: Pick<ApplyReports, "apply">;
  readonly policies: Policies;
  readonly ids: IdGenerator;
}

/** Ends jobs from outside of their workers: by an operator's word, and at their deadlines. */
export class EndJobs {
  constructor(private readonly deps: EndJobsDeps) {}

  /** Ends a job as failed and refunds it. @returns the ended job; null when it had ended before */
  cancel(job: JobState): Promise<Job | null> {
    return this.report(job, { type: "cancelled" });
  }

  /**
   * Ends a job whose time in the queue is over, or whose attempt is past its deadline and could not be polled for a while.
   *
   * @returns the ended job; null when it is not over yet, or had ended before
   */
  endOverdue(job: JobState): Promise<Job | null> {
    return this.report(job, { type: "deadline" });
  }

  private async report(job: JobState, event: EndEvent): Promise<Job | null> {
    const { applyReports, policies, ids } = this.deps;
    const { ended } = await applyReports.apply({
      jobId: job.id,
      accountId: job.accountId,
      reportId: ids.next("rpt"),
      fence: null,
      event,
      policy: policies.of(job),
    });
    return ended?.job ?? null;
  }
}
