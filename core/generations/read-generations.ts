import { JobNotFoundError } from "../errors.js";
import { type AccountId, isId, type JobId } from "../ids.js";
import type { Job, JobOutput } from "../jobs/job.js";
import type { Track } from "../library/track.js";
import { ListCursors, newestFirst } from "../lists/cursors.js";
import { firstOf, type PageRequest } from "../lists/pages.js";
import type { Digest } from "../ports/digest.js";
import type { JobStore } from "../ports/job-store.js";
import type { LibraryStore } from "../ports/library-store.js";
import type { ListPage, ListPosition } from "../ports/list-page.js";

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
  readonly digest: Pick<Digest, "sha256">;
}

/** What an account reads of its own generations and jobs. */
export class ReadGenerations {
  private readonly cursors: ListCursors<ListPosition<JobId>>;

  constructor(private readonly deps: ReadGenerationsDeps) {
    this.cursors = new ListCursors(deps.digest, "generations", newestFirst("job"));
  }

  /**
   * An account's generations, newest first; 20 where no limit is given.
   *
   * @throws {InvalidRequestError} the cursor is none of this list
   */
  async page(accountId: AccountId, request: PageRequest): Promise<ListPage<JobWithTracks, string>> {
    const { limit = GENERATIONS_LIMIT.default, cursor } = request;
    const after = this.cursors.read(cursor, { accountId }) ?? undefined;
    const found = await this.deps.jobs.listJobs({ accountId, kind: "music", after, limit: limit + 1 });
    const { items, next } = firstOf(found, limit);
    return { items: await this.withTracks(items), next: this.cursors.write(next, { accountId }) };
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
