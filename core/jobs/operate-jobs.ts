import type { RecordsActions } from "../audit/audit-trail.js";
import { UnknownObjectError } from "../errors.js";
import type { Generation, Generations } from "../generations/generations.js";
import type { WaitForJob } from "../generations/wait-for-job.js";
import { isId, type JobId } from "../ids.js";
import type { Clock } from "../ports/clock.js";
import type { CancelJobs } from "./cancel-jobs.js";
import type { JobFilter, JobStore } from "../ports/job-store.js";
import type { Track } from "../library/track.js";
import { CANCELLED_REASON } from "./job-errors.js";
import { isFinal, type Job, type JobOutput, type JobState } from "./job.js";
import type { JobTimeline, ReadTimelines } from "./read-timelines.js";
import { type ShownAttempt, shownAttempt, type ShownJob, shownJob } from "./shown-job.js";

/** A job with all that came of it. */
export interface JobReport {
  readonly job: ShownJob;
  /** None until it completed. */
  readonly tracks: readonly Track[];
  /** The files of a split; none until it completed. */
  readonly outputs: readonly JobOutput[];
  /** Its purchases at providers, in their order. */
  readonly attempts: readonly ShownAttempt[];
  /** All that happened to it, and what is expected of it. */
  readonly timeline: JobTimeline;
}

export interface CancelOptions {
  /** Whose it has to be; any account's by default. */
  readonly accountId?: string;
  /**
   * True: ends and refunds the job at once, also when its provider delivers and bills it later. For operators: what was
   * bought is lost. False by default.
   */
  readonly force?: boolean;
  /** The longest wait for the provider's reply, in milliseconds; 5,000 by default. 0: no wait. */
  readonly timeoutMs?: number;
  /** Ends the wait early; what was requested stays so. */
  readonly signal?: AbortSignal;
}

/** What became of a cancellation. */
export interface Cancellation {
  /**
   * `cancelled`: it ended as failed, refunded, its `error.details.reason` is `cancelled`; also by an earlier call.
   * `running`: it is bought, and no provider has confirmed that it is cancelled. It runs to its end and is charged if
   * it completes; a later confirmation still refunds it.
   * `ended`: it had completed or failed before it could be cancelled.
   */
  readonly outcome: "cancelled" | "running" | "ended";
  /** As it is now. */
  readonly generation: Generation;
}

export interface OperateJobsDeps {
  readonly jobs: JobStore;
  readonly timelines: Pick<ReadTimelines, "read">;
  readonly endJobs: CancelJobs;
  readonly generations: Pick<Generations, "get">;
  readonly waitForJob: Pick<WaitForJob, "wait">;
  readonly clock: Clock;
  readonly audit: Pick<RecordsActions, "alongside">;
}

const TIMEOUT_MS = 5_000;
/** How often storage is asked whether another process has the provider's reply. */
const LOOK_MS = 100;

/** Jobs as operators see and stop them. */
export class OperateJobs {
  constructor(private readonly deps: OperateJobsDeps) {}

  /** Newest first. */
  async list(filter: JobFilter): Promise<ShownJob[]> {
    return (await this.deps.jobs.listJobs(filter)).map(shownJob);
  }

  /** A job with its tracks, files, attempts and timeline. @throws {OperationRefusedError} no such job */
  async show(id: string): Promise<JobReport> {
    const { job, attempts, ...read } = await this.deps.timelines.read(await this.find(id));
    return { ...read, job: shownJob(job), attempts: attempts.map(shownAttempt) };
  }

  /**
   * Cancels a generation or a split, in whichever process it runs. While nothing is bought it ends and is refunded at
   * once. What is bought is cancelled at the provider by the process that works for it, where the provider can; it is
   * refunded when the provider confirms that. Otherwise it runs to its end, and ends instead of being bought again.
   * Repeating the call changes nothing more.
   *
   * @throws {OperationRefusedError} no such job
   * @throws {ServiceUnavailableError} it is not known whether it was requested; repeating the call is safe
   */
  async cancel(id: string, options: CancelOptions = {}): Promise<Cancellation> {
    const { accountId, force = false, timeoutMs = TIMEOUT_MS, signal } = options;
    const job = await this.find(id);
    if (accountId !== undefined && job.accountId !== accountId) throw noJob(id);
    if (!isFinal(job.status)) {
      const record = this.deps.audit.alongside<JobState>(({ id: jobId, accountId: owner, creditsCharged }) => {
        const fields = { refunded: creditsCharged === 0, ...(force ? { force } : {}) };
        return { action: "jobs.cancel", accountId: owner, targets: [jobId], fields };
      });
      await (force ? this.deps.endJobs.cancel(job, record) : this.deps.endJobs.requestCancel(job, record));
      await this.waitForReply(job.id, timeoutMs, signal);
    }
    const generation = await this.deps.generations.get(job.id);
    return { outcome: cancellationOutcome(generation), generation };
  }

  /** Until the provider has replied, or the time is over. */
  private async waitForReply(id: JobId, timeoutMs: number, signal: AbortSignal | undefined): Promise<void> {
    const { jobs, clock, waitForJob } = this.deps;
    const deadline = clock.now() + timeoutMs;
    for (;;) {
      // A closed attempt may be cancelled as well, which no longer matters to the job.
      const isPending = (await jobs.listAttempts(id)).some((one) => one.endedAt === null && one.cancelDueAt !== null);
      const leftMs = deadline - clock.now();
      if (!isPending || leftMs <= 0 || signal?.aborted === true) return;
      await waitForJob.wait(id, Math.min(leftMs, LOOK_MS), signal);
    }
  }

  private async find(id: string): Promise<Job> {
    const job = isId("job", id) ? (await this.deps.jobs.findJobs([id])).get(id) : undefined;
    if (job === undefined) throw noJob(id);
    return job;
  }
}

function noJob(id: string): UnknownObjectError {
  return new UnknownObjectError(`There is no job ${id}.`);
}

/** What became of the cancellation of a job that is in this state now. */
export function cancellationOutcome({ status, error }: Pick<Generation, "status" | "error">): Cancellation["outcome"] {
  if (!isFinal(status)) return "running";
  return error?.details?.reason === CANCELLED_REASON ? "cancelled" : "ended";
}
