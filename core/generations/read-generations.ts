import { JobNotFoundError } from "../errors.js";
import { GroupedReads } from "../grouped-reads.js";
import { type AccountId, isId, type JobId } from "../ids.js";
import type { Job, JobOutput, JobSummary } from "../jobs/job.js";
import type { ShownTrack, Track } from "../library/track.js";
import { ListCursors, newestFirst } from "../lists/cursors.js";
import { firstOf, type PageRequest } from "../lists/pages.js";
import type { Clock } from "../ports/clock.js";
import type { Digest } from "../ports/digest.js";
import type { JobStore, ShownState, ShownSummary } from "../ports/job-store.js";
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

/** How generations are shown: a form may be kept by its version, which changes with whatever it shows. */
export interface GenerationForms<Form> {
  /** In the order of the states; undefined where none was kept of this version. */
  kept(states: readonly ShownState[]): readonly (Form | undefined)[];
  /** @param version null: it is not known; not to be kept */
  of(generation: ShownGeneration, version: string | null): Form;
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
  private readonly newestStates: GroupedReads<AccountId, readonly ShownState[]>;
  private readonly shownJobs: GroupedReads<JobId, ShownSummary>;
  private readonly shownTracks: GroupedReads<JobId, readonly ShownTrack[]>;
  private readonly jobs: GroupedReads<JobId, Job>;
  private readonly tracks: GroupedReads<JobId, readonly Track[]>;
  private readonly outputs: GroupedReads<JobId, readonly JobOutput[]>;

  constructor(private readonly deps: ReadGenerationsDeps) {
    this.newestStates = new GroupedReads(deps.clock, (ids) =>
      deps.jobs.newestShownStates(ids, "music", GENERATIONS_LIMIT.default + 1),
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
  async page<Form>(
    accountId: AccountId,
    request: PageRequest,
    forms: GenerationForms<Form>,
  ): Promise<ListPage<Form, string>> {
    const { limit = GENERATIONS_LIMIT.default, cursor } = request;
    const after = this.cursors.read(cursor, { accountId }) ?? undefined;
    if (after === undefined && limit === GENERATIONS_LIMIT.default) {
      const { items, next } = firstOf((await this.newestStates.get(accountId)) ?? [], limit);
      return { items: await this.formsOf(items, forms), next: this.cursors.write(next, { accountId }) };
    }
    const found = await this.deps.jobs.listShownJobs({ accountId, kind: "music", after, limit: limit + 1 });
    const { items, next } = firstOf(found, limit);
    const shown = await this.toShown(items);
    return { items: shown.map((one) => forms.of(one, null)), next: this.cursors.write(next, { accountId }) };
  }

  /** The first of the list with all that is known of them, for embedding apps. */
  async newest(accountId: AccountId, limit: number): Promise<JobWithTracks[]> {
    return this.withTracks(await this.deps.jobs.listJobs({ accountId, kind: "music", limit }));
  }

  /** @throws {JobNotFoundError} no generation of this account */
  async get<Form>(accountId: AccountId, id: string, forms: GenerationForms<Form>): Promise<Form> {
    const job = isId("job", id) ? await this.shownJobs.get(id) : undefined;
    if (job === undefined || job.accountId !== accountId || job.kind !== "music") throw new JobNotFoundError();
    const [kept] = forms.kept([job]);
    if (kept !== undefined) return kept;
    const [shown] = await this.toShown([job]);
    return forms.of(shown as ShownGeneration, job.version);
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

  /** Those that are kept as they are; the others are read. One that was deleted meanwhile is left out. */
  private async formsOf<Form>(states: readonly ShownState[], forms: GenerationForms<Form>): Promise<readonly Form[]> {
    const kept = forms.kept(states);
    const missing = states.flatMap(({ id }, index) => (kept[index] === undefined ? [id] : []));
    if (missing.length === 0) return kept as readonly Form[];
    const read = await this.readForms(missing, forms);
    return states.flatMap(({ id }, index) => kept[index] ?? read.get(id) ?? []);
  }

  private async readForms<Form>(ids: readonly JobId[], forms: GenerationForms<Form>): Promise<Map<JobId, Form>> {
    const found = await this.shownJobs.getAll(ids);
    // The version is read before the tracks: what is kept is never older than its version says.
    const jobs = ids.flatMap((id) => found.get(id) ?? []);
    const shown = await this.toShown(jobs);
    return new Map(shown.map((one, index) => [one.job.id, forms.of(one, (jobs[index] as ShownSummary).version)]));
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
