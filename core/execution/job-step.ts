import type { CallbackStore } from "../ports/callback-store.js";
import type { Clock } from "../ports/clock.js";
import type { IdGenerator } from "../ports/id-generator.js";
import type { JobQueue } from "../ports/job-queue.js";
import type { JobChanges, JobStore } from "../ports/job-store.js";
import type { Logger } from "../ports/logger.js";
import type { Completed, ProviderFailure } from "../ports/music-provider.js";
import type { Random } from "../ports/random.js";
import type { UnitOfWork } from "../ports/unit-of-work.js";
import type { BuildRequest } from "./build-request.js";
import type { AttemptResult, SettleCommand } from "../jobs/decide-settlement.js";
import { jobErrorOf } from "../jobs/job-errors.js";
import { isLasting } from "./lasting-failure.js";
import type { Job, JobError } from "../jobs/job.js";
import { JobAudio } from "./job-audio.js";
import { JobWrites, WorkAbandoned } from "./job-writes.js";
import type { Lease } from "./lease.js";
import type { ProviderAvailability } from "../providers/provider-availability.js";
import { backoffMs, type RetryPolicy } from "./retry-policy.js";
import type { Routes } from "../providers/routes.js";
import type { SettleJobs } from "../jobs/settle-jobs.js";
import type { StoreTracks } from "./store-tracks.js";
import type { WorkingProvider } from "./working-provider.js";

export interface RunJobParts {
  readonly jobs: JobStore;
  readonly callbacks: CallbackStore;
  readonly unitOfWork: UnitOfWork;
  readonly settleJobs: SettleJobs;
  readonly storeTracks: StoreTracks;
  readonly buildRequest: BuildRequest;
  readonly routes: Routes;
  readonly queue: JobQueue;
  readonly availability: ProviderAvailability;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly random: Random;
  readonly logger: Logger;
  readonly retry: RetryPolicy;
  /** How long a job whose submission got lost waits for a sign of life. */
  readonly unknownGraceMs: number;
}

export const POLL_MIN_MS = 50;
export const POLL_RETRY_MS = 2_000;
const FETCH_AGAIN_MS = 20_000;
const STUMBLE_DELAY_MS = 5_000;
/** Each further stumble waits this much longer: a disk may be full for minutes. */
const STUMBLE_GROWTH = 4;
/** Lost workers count as well, and are no reason to wait for long. */
const STUMBLE_DELAY_MAX_MS = 60_000;

/** A claimed job in the hands of one worker, and the ways in which its step can end: settled, handed back, stumbled. */
export class JobStep {
  /** The number of the attempt that this step writes its result to. */
  attempt: number;
  readonly signal: AbortSignal;
  readonly writes: JobWrites;
  private readonly audio: JobAudio;

  constructor(
    readonly parts: RunJobParts,
    readonly job: Job,
    readonly working: WorkingProvider,
    readonly lease: Lease,
  ) {
    this.attempt = job.attempt;
    this.signal = lease.signal;
    this.writes = new JobWrites(parts, job, lease.signal);
    this.audio = new JobAudio(parts, job, lease.signal);
  }

  /** False: whatever comes to the job's address for callbacks is not read, and wakes nobody. */
  get hasCallbacks(): boolean {
    return (this.working.capabilities.callbacks ?? "none") !== "none";
  }

  /** An earlier attempt may have been accepted: then the job waits for nothing but word of it, and goes to nobody else. */
  get mayBeAccepted(): boolean {
    return this.job.phase === "submitting";
  }

  /** Files that a lost worker stored and never settled. One that still lives throws its own away when it finds itself replaced. */
  async discardLost(): Promise<void> {
    await this.audio.discard(this.job.fence - 1);
  }

  /**
   * Stores what was made and charges for it; or fails, refunded, when none of it can be had for good.
   *
   * @param canBeHadAgain whether it is still there when this step ends without it: behind a link that was kept, or at the provider
   */
  async complete(made: Completed, canBeHadAgain: boolean): Promise<void> {
    if (canBeHadAgain) return this.storeAndSettle(made, true);
    const work = { kind: "result", providerId: this.working.id } as const;
    await this.lease.unrepeatable(work, () => this.storeAndSettle(made, false));
  }

  private async storeAndSettle(made: Completed, canBeHadAgain: boolean): Promise<void> {
    const cost = made.cost ?? this.working.expectedCost(this.job);
    let outcome: SettleCommand["outcome"];
    let missing: readonly string[] = [];
    try {
      if (this.job.kind === "music") {
        const stored = await this.audio.storeTracks(this.working.label, made.tracks, canBeHadAgain);
        missing = stored.missing;
        outcome = { status: "completed", tracks: stored.tracks };
      } else {
        outcome = { status: "completed", tracks: [], outputs: await this.audio.storeStems(made.stems ?? [], canBeHadAgain) };
      }
    } catch (error) {
      if (!isLasting(error)) {
        if (!canBeHadAgain || this.signal.aborted) throw error;
        return this.fetchLater(error);
      }
      // Made there, and paid for, whatever became of the files.
      return this.fail(jobErrorOf(error.kind), { ...this.resultOf(error), cost, billable: "yes" });
    }
    if (missing.length > 0) this.parts.logger.warn("Not all of what a provider made could be stored", { job_id: this.job.id, missing });
    const message = missing.length === 0 ? null : missing.join(" ");
    const ended = await this.writes.settle(outcome, { number: this.attempt, outcome: "completed", message, cost, billable: "yes" });
    if (!ended) await this.audio.discard(this.job.fence);
  }

  /** What is paid for is fetched until the job's deadline: whatever keeps it away is no fault of the job. */
  private async fetchLater(error: unknown): Promise<void> {
    const { parts, job } = this;
    parts.logger.error("What a provider made could not be stored; it is fetched again", { error, job_id: job.id, provider: job.providerId });
    await this.handBack({ dueAt: this.inMs(this.jittered(FETCH_AGAIN_MS)) }, null);
    await this.audio.discard(job.fence);
  }

  /** Ends the job as failed, refunded in full. */
  async fail(error: JobError, attempt: AttemptResult | null): Promise<void> {
    const ended = await this.writes.settle({ status: "failed", error }, attempt);
    // Files of a job that another worker has by now are that worker's; only this worker's own are thrown away.
    await this.audio.discard(ended ? undefined : this.job.fence);
  }

  /** Our own stop, or another worker, broke the step off in the middle of something. */
  async breakOff(): Promise<void> {
    try {
      await this.handBackAborted(null);
    } catch (error) {
      if (!(error instanceof WorkAbandoned)) this.parts.logger.error("A job could not be handed back", { error, job_id: this.job.id });
    }
    await this.audio.discard(this.job.fence);
  }

  /** Something broke that no rule foresees: count it, try again later, give up after a few. */
  async stumble(error: unknown): Promise<void> {
    const { job, parts } = this;
    parts.logger.error("Work on a job stumbled", { error, job_id: job.id, provider: job.providerId });
    try {
      const delayMs = Math.min(STUMBLE_DELAY_MS * STUMBLE_GROWTH ** job.crashes, STUMBLE_DELAY_MAX_MS);
      await this.handBack({ crashes: job.crashes + 1, dueAt: this.inMs(delayMs) }, null);
      // Only now: the write has shown that the job is neither ended nor another worker's.
      await this.audio.discard(job.fence);
    } catch (second) {
      if (second instanceof WorkAbandoned) return;
      // The lease runs out, and the next claim counts the crash.
      parts.logger.error("A job could not be handed back", { error: second, job_id: job.id });
    }
  }

  handBack(changes: JobChanges, attempt: AttemptResult | null): Promise<void> {
    return this.writes.handBack(changes, attempt);
  }

  /** Our own stop broke a call off. */
  async handBackAborted(attempt: AttemptResult | null): Promise<void> {
    this.checkNotAborted();
    await this.handBack({ dueAt: this.parts.clock.now() }, attempt);
  }

  /** How an attempt failed; with what it probably cost, unless it is known to have cost nothing. */
  resultOf(failure: ProviderFailure): AttemptResult {
    const { kind, message, billable, providerCode, requestId } = failure;
    const ids = [providerCode === null ? "" : `code ${providerCode}`, requestId === null ? "" : `request ${requestId}`].filter((text) => text !== "");
    const told = ids.length === 0 ? message : `${message} (${ids.join(", ")})`;
    return { number: this.attempt, outcome: kind, message: told, cost: billable === "no" ? null : this.working.expectedCost(this.job), billable };
  }

  async noteSuccess(): Promise<void> {
    await this.noteHealth(() => this.parts.availability.recordSuccess(this.working.id));
  }

  async noteFailure(): Promise<void> {
    await this.noteHealth(async () => {
      const opened = await this.parts.availability.recordFailure(this.working.id);
      if (opened) this.parts.logger.error("The circuit breaker of a provider opened", { provider: this.working.id });
    });
  }

  /** Keeps work away from a provider that only the operator can mend, from the first failure on. */
  async noteBroken(failure: ProviderFailure): Promise<void> {
    await this.noteHealth(async () => {
      await this.parts.availability.recordBroken(this.working.id);
      this.parts.logger.error("A provider needs its operator", { provider: this.working.id, kind: failure.kind, error: failure });
    });
  }

  checkNotAborted(): void {
    if (this.signal.aborted && this.signal.reason === "lease_lost") throw new WorkAbandoned();
  }

  /** A plugin may answer nonsense for a time; a job that is due at no moment would never be looked at again. */
  inMs(ms: number): number {
    return this.parts.clock.now() + (Number.isFinite(ms) ? Math.round(ms) : POLL_RETRY_MS);
  }

  jittered(ms: number): number {
    return backoffMs(ms, 1, this.parts.random.fraction());
  }

  /** The breaker's count is worth less than what the provider said: when it cannot be written, the job goes on. */
  private async noteHealth(note: () => Promise<void>): Promise<void> {
    try {
      await note();
    } catch (error) {
      this.parts.logger.warn("The health of a provider could not be written", { error, provider: this.working.id });
    }
  }
}
