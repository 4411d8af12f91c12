import type { RecordsActions } from "../audit/audit-trail.js";
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
  /** @returns the ended job, refunded; null when it had ended before */
  cancel(job: JobState): Promise<Job | null>;
}

/** Jobs as operators see and stop them. */
export class OperateJobs {
  constructor(
    private readonly jobs: JobStore,
    private readonly library: LibraryStore,
    private readonly endJobs: CancelJob,
    private readonly audit: Pick<RecordsActions, "note">,
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
    const ended = await this.endJobs.cancel(job);
    if (ended === null) throw new OperationRefusedError(`The job ${id} has already ended.`);
    // The end of a job is written together with the ends of others; it is recorded when it is known to be written.
    const fields = { refunded: ended.creditsCharged === 0 };
    await this.audit.note({ action: "jobs.cancel", accountId: job.accountId, targets: [job.id], fields });
    return ended;
  }

  private async find(id: string): Promise<Job> {
    const job = isId("job", id) ? (await this.jobs.findJobs([id])).get(id) : undefined;
    if (job === undefined) throw new OperationRefusedError(`There is no job ${id}.`);
    return job;
  }
}
