import { ServiceUnavailableError } from "../errors.js";
import type { AttemptId } from "../ids.js";
import type { Clock } from "../ports/clock.js";
import type { CallbackStore, StoredCallback } from "../ports/callback-store.js";
import type { JobChanges, JobStore } from "../ports/job-store.js";
import type { Logger } from "../ports/logger.js";
import type { Random } from "../ports/random.js";
import type { Transaction, UnitOfWork } from "../ports/unit-of-work.js";
import type { AttemptResult, SettleCommand } from "../jobs/decide-settlement.js";
import type { ProviderHandle } from "../ports/music-provider.js";
import { isFinal, type Job } from "../jobs/job.js";
import { backoffMs } from "./retry-policy.js";
import type { SettleJobs } from "../jobs/settle-jobs.js";

export interface JobWritesParts {
  readonly jobs: JobStore;
  readonly callbacks: CallbackStore;
  readonly unitOfWork: UnitOfWork;
  readonly settleJobs: SettleJobs;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

const WRITE_RETRY_MS = 200;
const WRITE_RETRY_DOUBLINGS = 6;

const NOT_CALLED = "The provider was not called: the lease had run out before.";

/** The work on a job was broken off; its row was left, or handed back, as it is. */
export class WorkAbandoned extends Error {
  override readonly name = "WorkAbandoned";
}

/** What a worker writes of a claimed job, each guarded by the fence it claimed. Storage that is out of reach is waited for. */
export class JobWrites {
  constructor(
    private readonly parts: JobWritesParts,
    private readonly job: Job,
    private readonly signal: AbortSignal,
  ) {}

  /**
   * The intent to submit, before the call.
   *
   * @returns false when the lease ran out meanwhile: this process was frozen, or waited long for the storage, and another worker may have
   *   looked for the attempt already and found nothing. Then the provider is not to be called; the job is queued again
   * @throws {WorkAbandoned} another worker has the job by now; nothing was written
   */
  async announce(attemptId: AttemptId, number: number, providerId: string): Promise<boolean> {
    const { jobs, clock } = this.parts;
    const attempt = {
      id: attemptId,
      jobId: this.job.id,
      number,
      providerId,
      startedAt: clock.now(),
      endedAt: null,
      outcome: null,
      message: null,
      cost: null,
      billable: null,
    };
    await this.write({ phase: "submitting", attempt: number }, async (tx, isRepeated) => {
      // The first run may have been committed although its reply was lost.
      const isWritten = isRepeated && (await jobs.listAttempts(this.job.id)).some(({ id }) => id === attemptId);
      if (!isWritten) await jobs.insertAttempts(tx, [attempt]);
    });
    const now = clock.now();
    if (this.job.dueAt !== null && now < this.job.dueAt) return true;
    const waits = this.job.phase === "submitting" ? {} : ({ status: "queued", phase: "waiting" } as const);
    await this.handBack({ ...waits, dueAt: now }, { number, outcome: "unavailable", message: NOT_CALLED, cost: null, billable: "no" });
    return false;
  }

  /** Gives the lease up. @throws {WorkAbandoned} another worker has the job by now; nothing was written */
  handBack(changes: JobChanges, attempt: AttemptResult | null): Promise<void> {
    return this.write({ ...changes, leaseOwner: null }, (tx) => this.finish(tx, attempt));
  }

  /**
   * {@link handBack} of work that is at the provider: takes note of the callbacks that were read, and makes the job due at once when another
   * one came meanwhile.
   */
  handBackReported(changes: JobChanges, attempt: AttemptResult | null, read: readonly StoredCallback[]): Promise<void> {
    const { jobs, callbacks, clock } = this.parts;
    const { id, fence } = this.job;
    return this.write({ ...changes, leaseOwner: null }, async (tx) => {
      await this.finish(tx, attempt);
      const now = clock.now();
      await callbacks.markRead(tx, read.map((callback) => callback.id), now);
      // The row is locked by now: a callback is kept before, and seen here, or after, and makes the job due itself.
      if (await callbacks.hasUnread(tx, id)) await jobs.updateJobs(tx, [{ id, fence, changes: { dueAt: now } }]);
    });
  }

  /** Writes while the work goes on under the same lease. @throws {WorkAbandoned} another worker has the job by now; nothing was written */
  note(changes: JobChanges, attempt: AttemptResult): Promise<void> {
    return this.write({ ...changes, attempt: attempt.number }, (tx) => this.finish(tx, attempt));
  }

  /** Work was accepted whose job had ended meanwhile, by an operator or its deadline: the books hold it, and the provider is told. */
  async noteOrphan(handle: ProviderHandle, attempt: AttemptResult): Promise<void> {
    const { jobs, unitOfWork, clock, logger } = this.parts;
    const isOrphan = await unitOfWork.inTransaction(async (tx) => {
      const job = (await jobs.lockJobs(tx, [this.job.id])).get(this.job.id);
      if (job === undefined || !isFinal(job.status)) return false;
      await jobs.updateJobs(tx, [{ id: job.id, fence: job.fence, changes: { handle, cancelDueAt: clock.now() } }]);
      await this.finish(tx, attempt);
      return true;
    });
    if (isOrphan) logger.warn("A provider accepted a job that had ended meanwhile", { job_id: this.job.id, provider: this.job.providerId });
  }

  private async finish(tx: Transaction, attempt: AttemptResult | null): Promise<void> {
    if (attempt === null) return;
    const { number, ...result } = attempt;
    await this.parts.jobs.finishAttempt(tx, this.job.id, number, { ...result, endedAt: this.parts.clock.now() });
  }

  /** Ends the job. @returns false when it had ended before, or another worker has it by now: nothing was written */
  async settle(outcome: SettleCommand["outcome"], attempt: AttemptResult | null): Promise<boolean> {
    const { id: jobId, accountId, fence } = this.job;
    const ended = await this.untilWritten(() => this.parts.settleJobs.settle({ jobId, accountId, fence, outcome, attempt }));
    return ended !== null;
  }

  private async write(changes: JobChanges, more: (tx: Transaction, isRepeated: boolean) => Promise<void>): Promise<void> {
    const { job, parts } = this;
    let runs = 0;
    await this.untilWritten(() =>
      parts.unitOfWork.inTransaction(async (tx) => {
        runs += 1;
        const written = await parts.jobs.updateJobs(tx, [{ id: job.id, fence: job.fence, changes }]);
        if (!written.has(job.id)) throw new WorkAbandoned();
        await more(tx, runs > 1);
      }),
    );
  }

  /** What came back from a provider is not thrown away because storage is out of reach for a while. */
  private async untilWritten<T>(write: () => Promise<T>): Promise<T> {
    const { logger, clock, random } = this.parts;
    for (let tries = 1; ; tries++) {
      try {
        return await write();
      } catch (error) {
        if (!(error instanceof ServiceUnavailableError) || this.signal.aborted) throw error;
        logger.warn("Storage is out of reach; trying again", { error, job_id: this.job.id });
        await clock.sleep(backoffMs(WRITE_RETRY_MS, Math.min(tries, WRITE_RETRY_DOUBLINGS), random.fraction()), this.signal);
      }
    }
  }
}
