import type { Clock } from "../ports/clock.js";
import type { JobStore } from "../ports/job-store.js";
import type { Logger } from "../ports/logger.js";
import { ProviderFailure } from "../ports/music-provider.js";
import type { UnitOfWork } from "../ports/unit-of-work.js";
import { deliveredIn } from "./stored-result.js";
import { isLasting } from "./lasting-failure.js";
import type { Job } from "../jobs/job.js";
import type { WorkingProvider } from "./working-provider.js";

export interface CancelUpstreamParts {
  readonly jobs: JobStore;
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
  readonly logger: Logger;
}

const BATCH = 10;
const TELL_AGAIN_MS = 60_000;
/** Work that goes on for longer than this after its job has ended is not worth telling any more. */
const TELL_FOR_MS = 15 * 60_000;

/** Tells providers of work that nobody waits for any more: cancelled by an operator, or past its deadline. It changes nothing for the account. */
export class CancelUpstream {
  constructor(private readonly parts: CancelUpstreamParts) {}

  /** Never throws: what could not be told is told again later. */
  async tellDue(working: WorkingProvider, signal: AbortSignal): Promise<void> {
    if (!working.capabilities.cancel) return;
    const { jobs, clock, logger } = this.parts;
    try {
      const now = clock.now();
      const due = await jobs.claimCancels(working.id, now, now + TELL_AGAIN_MS, BATCH);
      for (const job of due) await this.tell(job, working, signal);
    } catch (error) {
      logger.error("Cancelled work could not be looked up", { error, provider: working.id });
    }
  }

  private async tell(job: Job, working: WorkingProvider, signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.parts;
    const isLate = clock.now() > (job.completedAt ?? 0) + TELL_FOR_MS;
    if (isLate || job.handle === null || deliveredIn(job.handle) !== null || working.provider.cancel === undefined) return this.forget(job);
    try {
      const outcome = await working.provider.cancel(job.handle, { signal });
      logger.info("A provider was told of a cancelled job", { job_id: job.id, provider: working.id, outcome });
    } catch (error) {
      logger.warn("A provider could not be told of a cancelled job", { error, job_id: job.id, provider: working.id });
      if (!ProviderFailure.is(error) || !isLasting(error)) return;
    }
    await this.forget(job);
  }

  private async forget(job: Job): Promise<void> {
    const { jobs, unitOfWork } = this.parts;
    await unitOfWork.inTransaction((tx) => jobs.updateJobs(tx, [{ id: job.id, fence: job.fence, changes: { cancelDueAt: null } }]));
  }
}
