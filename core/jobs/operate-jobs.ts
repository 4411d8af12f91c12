import type { Alongside, RecordsActions } from "../audit/audit-trail.js";
import { OperationRefusedError } from "../errors.js";
import { isId } from "../ids.js";
import type { JobFilter, JobStore } from "../ports/job-store.js";
import type { LibraryStore } from "../ports/library-store.js";
import type { Track } from "../library/track.js";
import type { Job, JobAttempt, JobOutput, JobState } from "./job.js";

export interface JobReport {
  readonly job: Job;
  readonly tracks: readonly Track[];
  readonly outputs: readonly JobOutput[];
  readonly attempts: readonly JobAttempt[];
}

/** Ends a job for an operator. */
export interface CancelJob {
  /**
   * @param alongside is written together with the end of the job
   * @returns the ended job, refunded; null when it had ended before
   */
  cancel(job: JobState, alongside: Alongside<Job>): Promise<Job | null>;
}

export interface OperateJobsDeps {
  readonly jobs: JobStore;
  readonly library: LibraryStore;
  readonly endJobs: CancelJob;
  readonly audit: Pick<RecordsActions, "alongside">;
}

/** Jobs as operators see and stop them. */
export class OperateJobs {
  constructor(private readonly deps: OperateJobsDeps) {}

  /** Newest first. */
  list(filter: JobFilter): Promise<Job[]> {
    return this.deps.jobs.listJobs(filter);
  }

  /** @throws {OperationRefusedError} no such job */
  async show(id: string): Promise<JobReport> {
    const job = await this.find(id);
    const tracks = (await this.deps.library.tracksOfJobs([job.id])).get(job.id) ?? [];
    const outputs = (await this.deps.jobs.outputsOf([job.id])).get(job.id) ?? [];
    return { job, tracks, outputs, attempts: await this.deps.jobs.listAttempts(job.id) };
  }

  /**
   * Ends a job as failed and refunds it. Whatever its worker or provider reports later changes nothing.
   *
   * @throws {OperationRefusedError} no such job, or it has ended
   */
  async cancel(id: string): Promise<Job> {
    const job = await this.find(id);
    const record = this.deps.audit.alongside<Job>(({ id: jobId, accountId, creditsCharged }) => {
      return { action: "jobs.cancel", accountId, targets: [jobId], fields: { refunded: creditsCharged === 0 } };
    });
    const ended = await this.deps.endJobs.cancel(job, record);
    if (ended === null) throw new OperationRefusedError(`The job ${id} has already ended.`);
    return ended;
  }

  private async find(id: string): Promise<Job> {
    const job = isId("job", id) ? (await this.deps.jobs.findJobs([id])).get(id) : undefined;
    if (job === undefined) throw new OperationRefusedError(`There is no job ${id}.`);
    return job;
  }
}
