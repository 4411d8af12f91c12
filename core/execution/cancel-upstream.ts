import type { JobAttempt } from "../jobs/job.js";
import type { Clock } from "../ports/clock.js";
import type { JobStore } from "../ports/job-store.js";
import type { Logger } from "../ports/logger.js";
import { ProviderFailure } from "../ports/music-provider.js";
import type { UnitOfWork } from "../ports/unit-of-work.js";
import { callPlugin } from "./call-plugin.js";
import { isLasting } from "../attempts/retry-policy.js";
import type { WorkingProvider } from "./working-provider.js";

export interface CancelUpstreamDeps {
  readonly jobs: JobStore;
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
  readonly logger: Logger;
}

const BATCH = 10;
const ASK_AGAIN_MS = 60_000;
/** How long after an attempt was abandoned the provider is still asked to cancel it. */
const ASK_FOR_MS = 15 * 60_000;

/** Asks providers to cancel abandoned attempts. The account is not affected. */
export class CancelUpstream {
  constructor(private readonly deps: CancelUpstreamDeps) {}

  /** Never throws: a failed request is retried later. */
  async cancelDue(working: WorkingProvider, signal: AbortSignal): Promise<void> {
    if (!working.capabilities.cancel) return;
    const { jobs, clock, logger } = this.deps;
    try {
      const now = clock.now();
      const due = await jobs.claimCancels(working.id, now, now + ASK_AGAIN_MS, BATCH);
      for (const attempt of due) await this.cancel(attempt, working, signal);
    } catch (error) {
      logger.error("Attempts to be cancelled could not be read", { error, provider: working.id });
    }
  }

  private async cancel(attempt: JobAttempt, working: WorkingProvider, signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.deps;
    const { jobId, handle } = attempt;
    const isLate = clock.now() > (attempt.endedAt ?? 0) + ASK_FOR_MS;
    if (isLate || handle === null || working.provider.cancel === undefined) return this.forget(attempt);
    const fields = { job_id: jobId, attempt: attempt.number, provider: working.id };
    try {
      const call = { providerId: working.id, name: "cancel", limitMs: working.callLimitMs, signal, clock, logger };
      const outcome = await callPlugin(call, async (context) => working.provider.cancel?.(handle, context));
      logger.info("A provider was asked to cancel an attempt", { ...fields, outcome });
    } catch (error) {
      logger.warn("A provider could not be asked to cancel an attempt", { ...fields, error });
      if (!ProviderFailure.is(error) || !isLasting(error)) return;
    }
    await this.forget(attempt);
  }

  private async forget({ jobId, number }: JobAttempt): Promise<void> {
    const { jobs, unitOfWork } = this.deps;
    await unitOfWork.inTransaction(async (tx) => {
      await jobs.lockJobs(tx, [jobId]);
      await jobs.updateAttempts(tx, [{ jobId, number, changes: { cancelDueAt: null, handle: null } }]);
    });
  }
}
