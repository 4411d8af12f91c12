import type { JobId } from "../ids.js";
import type { Job } from "../jobs/job.js";
import { DEADLINE_ERROR, jobErrorOf } from "../jobs/job-errors.js";
import type { SettleJobs } from "../jobs/settle-jobs.js";
import type { Clock } from "../ports/clock.js";
import type { JobStore } from "../ports/job-store.js";
import type { Logger } from "../ports/logger.js";

export interface EndOverdueJobsDeps {
  readonly jobs: Pick<JobStore, "findOverdue" | "findJobs">;
  readonly settleJobs: Pick<SettleJobs, "settle">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A job that is older and still alive is ended and refunded. */
  readonly deadlineMs: number;
}

/** Jobs that are settled together. */
const BATCH = 200;

/** Ends jobs past their deadline. Each stands alone: one that cannot be settled is logged, and delays no other. */
export class EndOverdueJobs {
  constructor(private readonly deps: EndOverdueJobsDeps) {}

  /** @throws {ServiceUnavailableError} the storage is not available; what was ended by then stays so */
  async execute(signal: AbortSignal): Promise<void> {
    const { jobs, clock, deadlineMs } = this.deps;
    const createdBefore = clock.now() - deadlineMs;
    /** They are overdue yet, and found again by each further look. */
    const left = new Set<JobId>();
    while (!signal.aborted) {
      const found = await jobs.findOverdue(createdBefore, BATCH + left.size);
      const overdue = found.filter(({ id }) => !left.has(id));
      for (const job of await this.endTogether(overdue)) {
        if (signal.aborted) return;
        if (!(await this.endAlone(job))) left.add(job.id);
      }
      if (overdue.length < BATCH) return;
    }
  }

  /** In one commit where that works. @returns those that are to be tried alone */
  private async endTogether(overdue: readonly Job[]): Promise<Job[]> {
    const ends = await Promise.allSettled(overdue.map((job) => this.end(job)));
    return overdue.filter((_job, index) => ends[index]?.status === "rejected");
  }

  /** @returns false when it cannot be ended */
  private async endAlone(job: Job): Promise<boolean> {
    try {
      await this.end(job);
      return true;
    } catch (error) {
      // Where the storage as a whole is not available, this throws, and says so once in place of once for each job.
      await this.deps.jobs.findJobs([job.id]);
      this.deps.logger.error("An overdue job could not be ended; it will be retried", { error, job_id: job.id });
      return false;
    }
  }

  private async end(job: Job): Promise<void> {
    const error = job.phase === "waiting" ? jobErrorOf("unavailable") : DEADLINE_ERROR;
    const outcome = { status: "failed", error } as const;
    const ended = await this.deps.settleJobs.settle({
      jobId: job.id,
      accountId: job.accountId,
      fence: null,
      outcome,
      attempt: null,
    });
    if (ended === null) return;
    this.deps.logger.warn("A job passed its deadline", { job_id: job.id, provider: job.providerId, phase: job.phase });
  }
}
