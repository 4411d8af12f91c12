import type { Clock } from "../ports/clock.js";
import type { IdGenerator } from "../ports/id-generator.js";
import type { ClaimedJob, JobChanges, JobStore } from "../ports/job-store.js";
import type { Logger } from "../ports/logger.js";
import {
  type Accepted,
  type Completed,
  type LookupOutcome,
  type MusicProvider,
  type ProviderCapabilities,
  ProviderFailure,
  type Running,
} from "../ports/music-provider.js";
import type { Random } from "../ports/random.js";
import type { UnitOfWork } from "../ports/unit-of-work.js";
import type { AttemptResult } from "./decide-settlement.js";
import { isLasting, jobErrorOf, POISON_ERROR } from "./failure.js";
import type { Job, JobError } from "./job.js";
import type { ProviderAvailability } from "./provider-availability.js";
import { JobAudio } from "./job-audio.js";
import { JobWrites, WorkAbandoned } from "./job-writes.js";
import { backoffMs, boundedRetryAfterMs, isRetryable, type RetryPolicy, retryDelayMs } from "./retry-policy.js";
import type { SettleJobs } from "./settle-jobs.js";
import type { StoreTracks } from "./store-tracks.js";

/** A started provider, ready for work. */
export interface WorkingProvider {
  readonly id: string;
  readonly label: string;
  /** Submissions at once in this process. */
  readonly concurrency: number;
  /** Jobs at the provider at once, in all processes together; null: as many as there are. */
  readonly maxInFlight: number | null;
  readonly capabilities: ProviderCapabilities;
  readonly provider: MusicProvider;
}

export interface RunJobParts {
  readonly jobs: JobStore;
  readonly unitOfWork: UnitOfWork;
  readonly settleJobs: SettleJobs;
  readonly storeTracks: StoreTracks;
  readonly availability: ProviderAvailability;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly random: Random;
  readonly logger: Logger;
  readonly retry: RetryPolicy;
  /** How long a job whose submission got lost waits for a sign of life. */
  readonly unknownGraceMs: number;
}

/** Times a worker may be lost on a job before it is given up. */
const CRASHES_MAX = 3;
const POLL_MIN_MS = 50;
const POLL_RETRY_MS = 2_000;
const STUMBLE_DELAY_MS = 5_000;
/** Each further stumble waits this much longer: a disk may be full for minutes. */
const STUMBLE_GROWTH = 4;

/**
 * One step of a claimed job: submit it, find out about a lost submission, or ask after it. Each step ends with the job settled,
 * queued again, or due later; the provider renders meanwhile without a worker.
 */
export class RunJob {
  constructor(private readonly parts: RunJobParts) {}

  /** Never throws: whatever happens is written to the job or to the log. */
  async run(claimed: ClaimedJob, working: WorkingProvider, signal: AbortSignal): Promise<void> {
    const { job } = claimed;
    const step = new JobStep(this.parts, job, working, signal);
    try {
      if (claimed.wasLost) await step.discardLost();
      if (job.crashes > CRASHES_MAX) return await step.fail(POISON_ERROR, null);
      if (job.phase === "rendering") return await step.poll();
      if (job.phase === "submitting") return await step.resolveLostSubmission();
      return await step.submit();
    } catch (error) {
      if (error instanceof WorkAbandoned) return;
      await step.stumble(error);
    }
  }
}

class JobStep {
  /** The number of the attempt that this step writes its result to. */
  private attempt: number;
  private readonly writes: JobWrites;
  private readonly audio: JobAudio;

  constructor(
    private readonly parts: RunJobParts,
    private readonly job: Job,
    private readonly working: WorkingProvider,
    private readonly signal: AbortSignal,
  ) {
    this.attempt = job.attempt;
    this.writes = new JobWrites(parts, job, signal);
    this.audio = new JobAudio(parts, job, signal);
  }

  /** Files that a lost worker stored and never settled. One that still lives throws its own away when it finds itself replaced. */
  async discardLost(): Promise<void> {
    await this.audio.discard(this.job.fence - 1);
  }

  async submit(): Promise<void> {
    const { job, parts, working } = this;
    this.attempt = job.attempt + 1;
    const attemptId = parts.ids.next("att");
    this.checkNotAborted();
    if (!(await this.writes.announce(attemptId, this.attempt, working.id))) return;
    let outcome: Completed | Accepted;
    try {
      outcome = await working.provider.submit(
        {
          operation: job.kind,
          jobId: job.id,
          attemptId,
          attempt: this.attempt,
          modelId: job.modelId,
          prompt: job.request.prompt,
          lyrics: job.request.lyrics,
          durationSeconds: job.request.durationSeconds,
          instrumental: job.request.instrumental,
        },
        { signal: this.signal },
      );
    } catch (error) {
      return this.submissionFailed(error);
    }
    await this.submissionAnswered(outcome);
  }

  /** A submission was announced and nothing is known of it: the worker was lost, or the reply. */
  async resolveLostSubmission(): Promise<void> {
    const { job, parts, working } = this;
    if (working.capabilities.idempotentSubmit) return this.submit();
    const lost = (await parts.jobs.listAttempts(job.id)).at(-1);
    const graceEndsAt = (lost?.startedAt ?? job.createdAt) + parts.unknownGraceMs;
    if (working.capabilities.lookup && working.provider.lookup !== undefined && lost !== undefined) {
      let found: LookupOutcome | null = null;
      try {
        found = await working.provider.lookup(lost.id, { signal: this.signal });
      } catch (error) {
        if (this.signal.aborted) return this.handBackAborted(null);
        parts.logger.warn("A lost submission could not be looked up", { error, job_id: job.id });
      }
      if (found?.state === "absent") return this.handBack({ status: "queued", phase: "waiting", dueAt: parts.clock.now() }, null);
      if (found !== null) return this.submissionAnswered(found);
    }
    const now = parts.clock.now();
    if (now >= graceEndsAt) return this.fail(jobErrorOf("outcome_unknown"), this.result("outcome_unknown", null));
    const lookAgainAt = working.capabilities.lookup ? now + this.jittered(POLL_RETRY_MS) : graceEndsAt;
    await this.handBack({ dueAt: Math.min(lookAgainAt, graceEndsAt) }, null);
  }

  async poll(): Promise<void> {
    const { job, working } = this;
    if (working.provider.poll === undefined || job.handle === null) {
      return this.fail(jobErrorOf("failed"), null);
    }
    let outcome: Running | Completed;
    try {
      outcome = await working.provider.poll(job.handle, { signal: this.signal });
    } catch (error) {
      return this.pollFailed(error);
    }
    await this.noteSuccess();
    if (outcome.state === "completed") return this.complete(outcome);
    const handle = outcome.handle ?? job.handle;
    await this.handBack({ handle, dueAt: this.inMs(Math.max(POLL_MIN_MS, outcome.nextPollMs)) }, null);
  }

  /** Ends the job as failed, refunded in full. */
  async fail(error: JobError, attempt: AttemptResult | null): Promise<void> {
    const ended = await this.writes.settle({ status: "failed", error }, attempt);
    // Files of a job that another worker has by now are that worker's; only this worker's own are thrown away.
    await this.audio.discard(ended ? undefined : this.job.fence);
  }

  /** Something broke that no rule foresees: count it, try again later, give up after a few. */
  async stumble(error: unknown): Promise<void> {
    const { job, parts } = this;
    parts.logger.error("Work on a job stumbled", { error, job_id: job.id, provider: job.providerId });
    try {
      const delayMs = STUMBLE_DELAY_MS * STUMBLE_GROWTH ** job.crashes;
      await this.handBack({ crashes: job.crashes + 1, dueAt: this.inMs(delayMs) }, null);
      // Only now: the write has shown that the job is neither ended nor another worker's.
      await this.audio.discard(job.fence);
    } catch (second) {
      if (second instanceof WorkAbandoned) return;
      // The lease runs out, and the next claim counts the crash.
      parts.logger.error("A job could not be handed back", { error: second, job_id: job.id });
    }
  }

  private async submissionAnswered(outcome: Completed | Accepted): Promise<void> {
    await this.noteSuccess();
    if (outcome.state === "completed") return this.complete(outcome);
    const dueAt = this.inMs(Math.max(POLL_MIN_MS, outcome.nextPollMs));
    await this.handBack({ phase: "rendering", handle: outcome.handle, dueAt }, this.result("accepted", null));
  }

  private async submissionFailed(error: unknown): Promise<void> {
    const { job, parts, working } = this;
    // A call broken off by our own stop says nothing about the provider.
    if (this.signal.aborted) return this.handBackAborted(this.result("outcome_unknown", "The process stopped."));
    const failure = ProviderFailure.is(error)
      ? error
      : new ProviderFailure("outcome_unknown", "The plugin failed without saying why.", { cause: error });
    const result = this.result(failure.kind, failure.message);
    parts.logger.warn("A submission failed", { error: failure, kind: failure.kind, job_id: job.id, attempt: this.attempt });

    if (failure.kind === "outcome_unknown") {
      const again = working.capabilities.idempotentSubmit || working.capabilities.lookup;
      const dueAt = this.inMs(again ? this.jittered(parts.retry.backoffMs) : parts.unknownGraceMs);
      return this.handBack({ dueAt, crashes: job.crashes + (again ? 1 : 0) }, result);
    }
    if (!isRetryable(failure.kind)) {
      await this.noteSuccess();
      return this.fail(jobErrorOf(failure.kind), result);
    }
    await this.noteFailure();
    const refusals = job.refusals + 1;
    const delayMs = retryDelayMs(parts.retry, refusals, failure.retryAfterMs, parts.random.fraction());
    if (delayMs === null) return this.fail(jobErrorOf(failure.kind), result);
    await this.handBack({ status: "queued", phase: "waiting", refusals, dueAt: this.inMs(delayMs) }, result);
  }

  private async pollFailed(error: unknown): Promise<void> {
    if (this.signal.aborted) return this.handBackAborted(null);
    const { job, parts } = this;
    parts.logger.warn("A poll failed", { error, job_id: job.id, provider: job.providerId });
    if (isLasting(error)) return this.fail(jobErrorOf(error.kind), this.result(error.kind, error.message));
    const failure = ProviderFailure.is(error) ? error : null;
    if (failure !== null && isRetryable(failure.kind)) await this.noteFailure();
    await this.handBack({ dueAt: this.inMs(Math.max(boundedRetryAfterMs(failure?.retryAfterMs ?? null), this.jittered(POLL_RETRY_MS))) }, null);
  }

  private async complete(outcome: Completed): Promise<void> {
    let tracks;
    try {
      tracks = await this.audio.store(this.working.label, outcome.tracks);
    } catch (error) {
      if (!isLasting(error)) throw error;
      return this.fail(jobErrorOf(error.kind), this.result(error.kind, error.message));
    }
    const attempt = { ...this.result("completed", null), cost: outcome.cost ?? null };
    const ended = await this.writes.settle({ status: "completed", tracks }, attempt);
    if (!ended) await this.audio.discard(this.job.fence);
  }

  private async noteSuccess(): Promise<void> {
    await this.noteHealth(() => this.parts.availability.recordSuccess(this.working.id));
  }

  private async noteFailure(): Promise<void> {
    await this.noteHealth(async () => {
      const opened = await this.parts.availability.recordFailure(this.working.id);
      if (opened) this.parts.logger.error("The circuit breaker of a provider opened", { provider: this.working.id });
    });
  }

  /** The breaker's count is worth less than what the provider said: when it cannot be written, the job goes on. */
  private async noteHealth(note: () => Promise<void>): Promise<void> {
    try {
      await note();
    } catch (error) {
      this.parts.logger.warn("The health of a provider could not be written", { error, provider: this.working.id });
    }
  }

  private async handBackAborted(attempt: AttemptResult | null): Promise<void> {
    this.checkNotAborted();
    await this.handBack({ dueAt: this.parts.clock.now() }, attempt);
  }

  private handBack(changes: JobChanges, attempt: AttemptResult | null): Promise<void> {
    return this.writes.handBack(changes, attempt);
  }

  private result(outcome: AttemptResult["outcome"], message: string | null): AttemptResult {
    return { number: this.attempt, outcome, message, cost: null };
  }

  private checkNotAborted(): void {
    if (this.signal.aborted && this.signal.reason === "lease_lost") throw new WorkAbandoned();
  }

  /** A plugin may answer nonsense for a time; a job that is due at no moment would never be looked at again. */
  private inMs(ms: number): number {
    return this.parts.clock.now() + (Number.isFinite(ms) ? Math.round(ms) : POLL_RETRY_MS);
  }

  private jittered(ms: number): number {
    return backoffMs(ms, 1, this.parts.random.fraction());
  }
}
