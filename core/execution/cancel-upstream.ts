import { isOpen } from "../attempts/attempt-states.js";
import type { EndJobs } from "../attempts/end-jobs.js";
import { isFinal, type JobAttempt } from "../jobs/job.js";
import type { Clock } from "../ports/clock.js";
import type { JobStore } from "../ports/job-store.js";
import type { Logger } from "../ports/logger.js";
import type { Metrics } from "../ports/metrics.js";
import { type CancelOutcome, ProviderFailure } from "../ports/music-provider.js";
import type { UnitOfWork } from "../ports/unit-of-work.js";
import { callPlugin } from "./call-plugin.js";
import { isLasting } from "../attempts/retry-policy.js";
import { plainCallLimit, type WorkingProvider } from "./working-provider.js";

export interface CancelUpstreamDeps {
  readonly jobs: JobStore;
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "countProviderCall"> | null;
  readonly endJobs: Pick<EndJobs, "cancelReported">;
}

const BATCH = 10;
const ASK_AGAIN_MS = 60_000;
/** How long after an attempt was abandoned the provider is still asked to cancel it. */
const ASK_FOR_MS = 15 * 60_000;

/**
 * Asks providers to cancel attempts: abandoned ones, which does not affect the account, and accepted ones of a job that
 * is wanted no more, whose reply decides on the refund.
 */
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
    const { clock, logger, metrics } = this.deps;
    const { jobId, handle } = attempt;
    // An open attempt is asked about until it ends, at its deadline at the latest.
    const isLate = !isOpen(attempt) && clock.now() > (attempt.endedAt ?? 0) + ASK_FOR_MS;
    if (isLate || handle === null || working.provider.cancel === undefined) return this.replied(attempt, null);
    const fields = { job_id: jobId, attempt: attempt.number, provider: working.id };
    let reply: CancelOutcome | null = null;
    try {
      const call = {
        providerId: working.id,
        name: "cancel",
        limitMs: plainCallLimit(working),
        signal,
        clock,
        logger,
        metrics,
      };
      reply = (await callPlugin(call, async (context) => working.provider.cancel?.(handle, context))) ?? null;
      logger.info("A provider was asked to cancel an attempt", { ...fields, outcome: reply });
    } catch (error) {
      logger.warn("A provider could not be asked to cancel an attempt", { ...fields, error });
      if (!ProviderFailure.is(error) || !isLasting(error)) return;
    }
    await this.replied(attempt, reply);
  }

  private async replied(attempt: JobAttempt, reply: CancelOutcome | null): Promise<void> {
    const { jobs, unitOfWork, endJobs } = this.deps;
    const { jobId, number } = attempt;
    const job = isOpen(attempt) ? (await jobs.findJobs([jobId])).get(jobId) : undefined;
    if (job !== undefined && !isFinal(job.status)) return endJobs.cancelReported(job, number, reply);
    await unitOfWork.inTransaction(async (tx) => {
      await jobs.lockJobs(tx, [jobId]);
      await jobs.updateAttempts(tx, [{ jobId, number, changes: { cancelDueAt: null, handle: null } }]);
    });
  }
}
