import { OperationRefusedError } from "../errors.js";
import { isId } from "../ids.js";
import type { JobFilter, JobStore } from "../ports/job-store.js";
import type { LibraryStore } from "../ports/library-store.js";
import type { Track } from "../library/track.js";
import { CANCELLED_ERROR } from "./job-errors.js";
import type { Job, JobAttempt, JobOutput } from "./job.js";
import type { SettleJobs } from "./settle-jobs.js";

export interface JobReport {
  readonly job: Job;
  readonly tracks: readonly Track[];
  readonly outputs: readonly JobOutput[];
  readonly attempts: readonly JobAttempt[];
}

/** Jobs as operators see and stop them. */
export class OperateJobs {
  constructor(
    private readonly jobs: JobStore,
    private readonly library: LibraryStore,
    private readonly settleJobs: SettleJobs,
  ) {}

  /** Newest first. */
  list(filter: JobFilter): Promise<Job[]> {
    return this.jobs.listJobs(filter);
  }

  /** @throws {OperationRefusedError} no such job */
  async show(id: string): Promise<JobReport> {
    const job = await this.find(id);
    const tracks = (await this.library.tracksOfJobs([job.id])).get(job.id) ?? [];
    const outputs = (await this.jobs.outputsOf([job.id])).get(job.id) ?? [];
    return { job, tracks, outputs, attempts: await this.jobs.listAttempts(job.id) };
  }

  /**
   * Ends a job as failed and refunds it. Whatever its worker or provider reports later changes nothing.
   *
   * @throws {OperationRefusedError} no such job, or it has ended
   */
  async cancel(id: string): Promise<Job> {
    const job = await this.find(id);
    const ended = await this.settleJobs.settle({
      jobId: job.id,
      accountId: job.accountId,
      fence: null,
      outcome: { status: "failed", error: CANCELLED_ERROR },
      attempt: null,
    });
    if (ended === null) throw new OperationRefusedError(`The job ${id} has already ended.`);
    return ended;
  }

  private async find(id: string): Promise<Job> {
    const job = isId("job", id) ? (await this.jobs.findJobs([id])).get(id) : undefined;
    if (job === undefined) throw new OperationRefusedError(`There is no job ${id}.`);
    return job;
  }
}
