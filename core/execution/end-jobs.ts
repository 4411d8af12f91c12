import { ServiceUnavailableError } from "../errors.js";
import type { Job, JobState } from "../jobs/job.js";
import type { Clock } from "../ports/clock.js";
import type { IdGenerator } from "../ports/id-generator.js";
import type { JobStore } from "../ports/job-store.js";
import type { Logger } from "../ports/logger.js";
import type { Applied, ApplyReports, ReportCommand } from "./apply-reports.js";
import type { EndEvent } from "./events.js";
import type { Policies } from "./policies.js";

export interface EndJobsDeps {
  readonly jobs: JobStore;
  readonly applyReports: Pick<ApplyReports, "apply">;
  readonly policies: Policies;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly logger: Logger;
  readonly queueDeadlineMs: number;
}

const BATCH = 200;
/** How often a report is sent whose reply did not come: it may have been written all the same. */
const TRIES_MAX = 4;
const TRY_AGAIN_MS = 500;

/** Ends jobs from outside of their workers: by an operator's word, and at their deadlines. */
export class EndJobs {
  constructor(private readonly deps: EndJobsDeps) {}

  /** Ends a job as failed and refunds it. @returns the ended job; null when it had ended before */
  async cancel(job: JobState): Promise<Job | null> {
    return this.report(job, { type: "cancelled" });
  }

  /**
   * Ends jobs whose time in the queue is over, and has a last poll made of attempts past their deadline. Each job stands alone: one that cannot be
   * ended is logged, and the others go on.
   */
  async endOverdue(): Promise<void> {
    const { jobs, clock, queueDeadlineMs } = this.deps;
    const now = clock.now();
    const waiting = await jobs.findOverdue(now - queueDeadlineMs, BATCH);
    const late = await jobs.findJobs(await jobs.findOverdueAttempts(now, BATCH));
    await Promise.all([...waiting, ...late.values()].map((job) => this.endOne(job)));
  }

  private async endOne(job: JobState): Promise<void> {
    const { logger } = this.deps;
    try {
      const ended = await this.report(job, { type: "deadline" });
      if (ended !== null) logger.warn("A job passed its deadline", { job_id: job.id, provider: job.providerId, phase: job.phase });
    } catch (error) {
      logger.error("A job past its deadline could not be ended", { error, job_id: job.id, provider: job.providerId });
    }
  }

  private async report(job: JobState, event: EndEvent): Promise<Job | null> {
    const { policies, ids } = this.deps;
    const { ended } = await this.apply({
      jobId: job.id,
      accountId: job.accountId,
      reportId: ids.next("rpt"),
      fence: null,
      event,
      policy: policies.of(job),
    });
    return ended?.job ?? null;
  }

  /** Sends a report again under its id: what it ended although the reply was lost counts as ended by it. */
  private async apply(command: ReportCommand): Promise<Applied> {
    const { applyReports, clock } = this.deps;
    for (let tries = 1; ; tries++) {
      try {
        return await applyReports.apply(command);
      } catch (error) {
        if (!(error instanceof ServiceUnavailableError) || tries === TRIES_MAX) throw error;
        await clock.sleep(TRY_AGAIN_MS);
      }
    }
  }
}
