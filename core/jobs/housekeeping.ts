import type { Clock } from "../ports/clock.js";
import type { IdempotencyStore } from "../ports/idempotency-store.js";
import type { JobStore } from "../ports/job-store.js";
import type { Logger } from "../ports/logger.js";
import type { UnitOfWork } from "../ports/unit-of-work.js";
import { DEADLINE_ERROR, jobErrorOf } from "./failure.js";
import type { SettleJobs } from "./settle-jobs.js";

export interface HousekeepingParts {
  readonly jobs: JobStore;
  readonly idempotency: IdempotencyStore;
  readonly settleJobs: SettleJobs;
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A job that is older and still alive is ended and refunded. */
  readonly deadlineMs: number;
}

const INTERVAL_MS = 5_000;
const BATCH = 200;
const DELETE_BATCH = 500;

/** What nobody waits for: jobs past their deadline, idempotency records past their life. Extra copies in other processes do no harm. */
export class Housekeeping {
  constructor(private readonly parts: HousekeepingParts) {}

  /** Keeps house until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.keepOnce();
      } catch (error) {
        this.parts.logger.error("Housekeeping failed", { error });
      }
      await this.parts.clock.sleep(INTERVAL_MS, signal);
    }
  }

  async keepOnce(): Promise<void> {
    await this.endOverdueJobs();
    await this.deleteExpiredRecords();
  }

  private async endOverdueJobs(): Promise<void> {
    const { jobs, clock, settleJobs, logger, deadlineMs } = this.parts;
    const overdue = await jobs.findOverdue(clock.now() - deadlineMs, BATCH);
    await Promise.all(
      overdue.map(async (job) => {
        const error = job.phase === "waiting" ? jobErrorOf("unavailable") : DEADLINE_ERROR;
        logger.warn("A job passed its deadline", { job_id: job.id, provider: job.providerId, phase: job.phase });
        await settleJobs.settle({
          jobId: job.id,
          accountId: job.accountId,
          fence: null,
          outcome: { status: "failed", error },
          attempt: null,
        });
      }),
    );
  }

  private async deleteExpiredRecords(): Promise<void> {
    const { unitOfWork, idempotency, clock } = this.parts;
    let deleted: number;
    do {
      deleted = await unitOfWork.inTransaction((tx) => idempotency.deleteExpired(tx, clock.now(), DELETE_BATCH));
    } while (deleted === DELETE_BATCH);
  }
}
