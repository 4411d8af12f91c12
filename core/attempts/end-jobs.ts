import type { Alongside } from "../audit/audit-trail.js";
import { ServiceUnavailableError } from "../errors.js";
import type { Job, JobState } from "../jobs/job.js";
import type { Clock } from "../ports/clock.js";
import type { IdGenerator } from "../ports/id-generator.js";
import type { JobStore } from "../ports/job-store.js";
import type { CancelOutcome } from "../ports/music-provider.js";
import type { ApplyReports } from "./apply-reports.js";
import type { Applied, ReportCommand } from "./report-groups.js";
import type { EndEvent } from "./events.js";
import type { Policies } from "./policies.js";
import type { ExecutionPolicy } from "./policy.js";

export interface EndJobsDeps {
  readonly applyReports: Pick<ApplyReports, "apply">;
  readonly jobs: Pick<JobStore, "findJobs">;
  readonly policies: Policies;
  readonly clock: Clock;
  readonly ids: IdGenerator;
}

/** How often, and after which pause, a report is sent whose reply was lost: it may have been written. */
const CANCEL = { triesMax: 4, pauseMs: 500 };
/** One retry without a pause: the next maintenance run finds overdue jobs again. */
const DEADLINE = { triesMax: 2, pauseMs: 0 };

/** Ends jobs outside of their workers: for an operator, and at deadlines. */
export class EndJobs {
  constructor(private readonly deps: EndJobsDeps) {}

  /**
   * A job that is wanted no more: ends and refunds it while nothing is bought; otherwise keeps the request with it, and
   * notifies the workers of a provider that can cancel.
   *
   * @param alongside is written together with what changes; not at all when nothing does
   */
  async requestCancel(job: JobState, alongside: Alongside<JobState>): Promise<void> {
    await this.report(job, { type: "cancel_requested" }, CANCEL, alongside);
  }

  /** The provider's reply to a request to cancel an open attempt. The caller retries after an error. */
  async cancelReported(job: JobState, number: number, outcome: CancelOutcome | null): Promise<void> {
    await this.report(job, { type: "cancel_reported", number, outcome }, CANCEL, null);
  }

  /**
   * Ends a job as failed and refunds it, whatever is bought; one that has ended stays as it is.
   *
   * @param alongside as for {@link requestCancel}
   */
  async cancel(job: JobState, alongside: Alongside<JobState>): Promise<void> {
    await this.report(job, { type: "cancelled" }, CANCEL, alongside);
  }

  /**
   * Ends a job past its queue deadline, or one whose attempt is past its deadline and could not be polled for a while.
   * The caller retries after an error.
   *
   * @returns the ended job; null when no deadline is over yet, or the job had ended before
   */
  endOverdue(job: JobState): Promise<Job | null> {
    return this.report(job, { type: "deadline" }, DEADLINE, null);
  }

  private async report(
    job: JobState,
    event: EndEvent,
    retry: typeof CANCEL,
    alongside: Alongside<JobState> | null,
  ): Promise<Job | null> {
    const { ids } = this.deps;
    const report = {
      jobId: job.id,
      accountId: job.accountId,
      reportId: ids.next("rpt"),
      fence: null,
      event,
      ...(alongside === null ? {} : { alongside }),
    };
    const { ended } = await this.apply(job, report, retry);
    return ended?.job ?? null;
  }

  private async policyOf(job: JobState): Promise<ExecutionPolicy> {
    const { policies, jobs } = this.deps;
    if (!policies.dependsOnRequest(job)) return policies.of(job);
    return policies.of(job, (await jobs.findJobs([job.id])).get(job.id)?.request ?? null);
  }

  /** Sends a report again under the same id: a job that it ended before its reply was lost counts as ended by it. */
  private async apply(
    job: JobState,
    report: Omit<ReportCommand, "policy">,
    { triesMax, pauseMs }: typeof CANCEL,
  ): Promise<Applied> {
    const { applyReports, clock } = this.deps;
    // The same object each time: purchases are counted by its identity.
    let command: ReportCommand | null = null;
    for (let tries = 1; ; tries++) {
      try {
        command ??= { ...report, policy: await this.policyOf(job) };
        return await applyReports.apply(command);
      } catch (error) {
        if (!(error instanceof ServiceUnavailableError) || tries === triesMax) throw error;
        if (pauseMs > 0) await clock.sleep(pauseMs);
      }
    }
  }
}
