import type { Alongside, RecordsActions } from "../audit/audit-trail.js";
import { OperationRefusedError } from "../errors.js";
import { isId } from "../ids.js";
import type { JobFilter, JobStore } from "../ports/job-store.js";
import type { LibraryStore } from "../ports/library-store.js";
import type { Track } from "../library/track.js";
import type { Job, JobOutput, JobState } from "./job.js";
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
  async list(filter: JobFilter): Promise<ShownJob[]> {
    return (await this.deps.jobs.listJobs(filter)).map(shownJob);
  }

  /** A job with its tracks, files and attempts. @throws {OperationRefusedError} no such job */
  async show(id: string): Promise<JobReport> {
    const job = await this.find(id);
    const tracks = (await this.deps.library.tracksOfJobs([job.id])).get(job.id) ?? [];
    const outputs = (await this.deps.jobs.outputsOf([job.id])).get(job.id) ?? [];
    const attempts = await this.deps.jobs.listAttempts(job.id);
    return { job: shownJob(job), tracks, outputs, attempts: attempts.map(shownAttempt) };
  }

  /**
   * Ends a job as failed and refunds it. Whatever its worker or provider reports later changes nothing.
   *
   * @throws {OperationRefusedError} no such job, or it has ended
   */
  async cancel(id: string): Promise<ShownJob> {
    const job = await this.find(id);
    const record = this.deps.audit.alongside<Job>(({ id: jobId, accountId, creditsCharged }) => {
      return { action: "jobs.cancel", accountId, targets: [jobId], fields: { refunded: creditsCharged === 0 } };
    });
    const ended = await this.deps.endJobs.cancel(job, record);
    if (ended === null) throw new OperationRefusedError(`The job ${id} has already ended.`);
    return shownJob(ended);
  }

  private async find(id: string): Promise<Job> {
    const job = isId("job", id) ? (await this.deps.jobs.findJobs([id])).get(id) : undefined;
    if (job === undefined) throw new OperationRefusedError(`There is no job ${id}.`);
    return job;
  }
}
