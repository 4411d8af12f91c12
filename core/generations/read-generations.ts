import { JobNotFoundError } from "../errors.js";
import { type AccountId, isId, type JobId } from "../ids.js";
import type { Job, JobOutput } from "../jobs/job.js";
import type { Track } from "../library/track.js";
import type { JobStore } from "../ports/job-store.js";
import type { LibraryStore } from "../ports/library-store.js";

/** A job with its tracks; none until it completed. */
export interface JobWithTracks {
  readonly job: Job;
  readonly tracks: readonly Track[];
  /** The files of a split; none until it completed. */
  readonly outputs: readonly JobOutput[];
}

export const GENERATIONS_LIMIT = { default: 20, minimum: 1, maximum: 50 } as const;

export interface ReadGenerationsDeps {
  readonly jobs: JobStore;
  readonly library: LibraryStore;
}

/** What an account reads of its own generations and jobs. */
export class ReadGenerations {
  constructor(private readonly deps: ReadGenerationsDeps) {}

  /** Newest first. */
  async list(accountId: AccountId, limit: number): Promise<JobWithTracks[]> {
    const jobs = await this.deps.jobs.listJobs({ accountId, kind: "music", limit });
    return this.withTracks(jobs);
  }

  /** @throws {JobNotFoundError} no generation of this account */
  async get(accountId: AccountId, id: string): Promise<JobWithTracks> {
    const found = await this.getJob(accountId, id);
    if (found.job.kind !== "music") throw new JobNotFoundError();
    return found;
  }

  /** A job of any kind. @throws {JobNotFoundError} unknown, or another account's */
  async getJob(accountId: AccountId, id: string): Promise<JobWithTracks> {
    const found = await this.find(id);
    if (found === null || found.job.accountId !== accountId) throw new JobNotFoundError();
    return found;
  }

  /** A job of any kind and account; null: there is none of this id. */
  async find(id: string): Promise<JobWithTracks | null> {
    const job = isId("job", id) ? (await this.deps.jobs.findJobs([id])).get(id) : undefined;
    if (job === undefined) return null;
    const [found = null] = await this.withTracks([job]);
    return found;
  }

  /** With what they created, in the order given. */
  async withTracks(jobs: readonly Job[]): Promise<JobWithTracks[]> {
    const completed: JobId[] = jobs
      .filter((job) => job.status === "completed" && job.kind === "music")
      .map((job) => job.id);
    const splits = jobs.filter((job) => job.status === "completed" && job.kind !== "music").map((job) => job.id);
    const tracks = completed.length === 0 ? new Map<JobId, Track[]>() : await this.deps.library.tracksOfJobs(completed);
    const outputs = splits.length === 0 ? new Map<JobId, JobOutput[]>() : await this.deps.jobs.outputsOf(splits);
    return jobs.map((job) => ({ job, tracks: tracks.get(job.id) ?? [], outputs: outputs.get(job.id) ?? [] }));
  }
}
