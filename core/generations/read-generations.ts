import { JobNotFoundError } from "../errors.js";
import { GroupedReads } from "../grouped-reads.js";
import { type AccountId, isId, type JobId } from "../ids.js";
import type { Job, JobOutput, JobSummary } from "../jobs/job.js";
import type { ShownTrack, Track } from "../library/track.js";
import { ListCursors, newestFirst } from "../lists/cursors.js";
import { firstOf, type PageRequest } from "../lists/pages.js";
import type { Clock } from "../ports/clock.js";
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

/** A generation as lists show it; no tracks until it completed. */
export interface ShownGeneration {
  readonly job: JobSummary;
  readonly tracks: readonly ShownTrack[];
}

export const GENERATIONS_LIMIT = { default: 20, minimum: 1, maximum: 50 } as const;

export interface ReadGenerationsDeps {
  readonly jobs: JobStore;
  readonly library: LibraryStore;
  readonly digest: Pick<Digest, "sha256">;
  readonly clock: Pick<Clock, "now">;
}

/** What an account reads of its own generations and jobs. */
export class ReadGenerations {
  private readonly cursors: ListCursors<ListPosition<JobId>>;
  /** The first page of each account, and one more. */
  private readonly newestJobs: GroupedReads<AccountId, readonly JobSummary[]>;
  private readonly shownJobs: GroupedReads<JobId, JobSummary>;
  private readonly shownTracks: GroupedReads<JobId, readonly ShownTrack[]>;
  private readonly jobs: GroupedReads<JobId, Job>;
  private readonly tracks: GroupedReads<JobId, readonly Track[]>;
  private readonly outputs: GroupedReads<JobId, readonly JobOutput[]>;

  constructor(private readonly deps: ReadGenerationsDeps) {
    this.newestJobs = new GroupedReads(deps.clock, (ids) =>
      deps.jobs.newestShownJobs(ids, "music", GENERATIONS_LIMIT.default + 1),
    );
    this.shownJobs = new GroupedReads(deps.clock, (ids) => deps.jobs.findShownJobs(ids));
    this.shownTracks = new GroupedReads(deps.clock, (ids) => deps.library.shownTracksOfJobs(ids));
    this.jobs = new GroupedReads(deps.clock, (ids) => deps.jobs.findJobs(ids));
    this.tracks = new GroupedReads(deps.clock, (ids) => deps.library.tracksOfJobs(ids));
    this.outputs = new GroupedReads(deps.clock, (ids) => deps.jobs.outputsOf(ids));
    this.cursors = new ListCursors(deps.digest, "generations", newestFirst("job"));
  }

  /**
   * An account's generations, newest first; 20 where no limit is given.
   *
   * @throws {InvalidRequestError} the cursor is none of this list
   */
  async page(accountId: AccountId, request: PageRequest): Promise<ListPage<ShownGeneration, string>> {
    const { limit = GENERATIONS_LIMIT.default, cursor } = request;
    const after = this.cursors.read(cursor, { accountId }) ?? undefined;
    const isUsual = after === undefined && limit === GENERATIONS_LIMIT.default;
    const found = isUsual
      ? ((await this.newestJobs.get(accountId)) ?? [])
      : await this.deps.jobs.listShownJobs({ accountId, kind: "music", after, limit: limit + 1 });
    const { items, next } = firstOf(found, limit);
    return { items: await this.toShown(items), next: this.cursors.write(next, { accountId }) };
  }

  /** The first of the list with all that is known of them, for embedding apps. */
  async newest(accountId: AccountId, limit: number): Promise<JobWithTracks[]> {
    return this.withTracks(await this.deps.jobs.listJobs({ accountId, kind: "music", limit }));
  }

  /** @throws {JobNotFoundError} no generation of this account */
  async get(accountId: AccountId, id: string): Promise<ShownGeneration> {
    const job = isId("job", id) ? await this.shownJobs.get(id) : undefined;
    if (job === undefined || job.accountId !== accountId || job.kind !== "music") throw new JobNotFoundError();
    const [shown] = await this.toShown([job]);
    return shown as ShownGeneration;
  }

  /** A job of any kind. @throws {JobNotFoundError} unknown, or another account's */
  async getJob(accountId: AccountId, id: string): Promise<JobWithTracks> {
    const found = await this.find(id);
    if (found === null || found.job.accountId !== accountId) throw new JobNotFoundError();
    return found;
  }

  /** A job of any kind and account; null: there is none of this id. */
  async find(id: string): Promise<JobWithTracks | null> {
    const job = isId("job", id) ? await this.jobs.get(id) : undefined;
    if (job === undefined) return null;
    const isMusic = job.kind === "music";
    const isCompleted = job.status === "completed";
    const tracks = isCompleted && isMusic ? await this.tracks.get(job.id) : undefined;
    const outputs = isCompleted && !isMusic ? await this.outputs.get(job.id) : undefined;
    return { job, tracks: tracks ?? [], outputs: outputs ?? [] };
  }

  /** With their tracks, which are read together. */
  private async toShown(jobs: readonly JobSummary[]): Promise<ShownGeneration[]> {
    const completed = jobs.filter(({ status }) => status === "completed").map(({ id }) => id);
    const tracks = completed.length === 0 ? null : await this.shownTracks.getAll(completed);
    return jobs.map((job) => ({ job, tracks: tracks?.get(job.id) ?? [] }));
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
