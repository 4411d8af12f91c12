import type { AccountId, JobId, ProcessId, TrackId } from "../ids.js";
import type { ClaimedJob, ClaimRequest, NextDueAt } from "./job-claims.js";
import type { Job, JobAttempt, JobKind, JobOutput, JobRequest, JobState, JobStatus, JobSummary } from "../jobs/job.js";
import type { Locked, Transaction } from "./unit-of-work.js";

/** What changes while a job lives; everything else is fixed at its creation. */
export type JobChanges = Partial<
  Pick<
    JobState,
    | "providerId"
    | "servedModelId"
    | "operation"
    | "status"
    | "phase"
    | "attempt"
    | "refusals"
    | "crashes"
    | "collectionsBegun"
    | "cancelRequestedAt"
    | "fence"
    | "leaseOwner"
    | "dueAt"
    | "error"
    | "creditsCharged"
    | "completedAt"
    | "endedBy"
  >
>;

/** What changes of an attempt. */
export type AttemptChanges = Partial<
  Omit<JobAttempt, "id" | "jobId" | "number" | "providerId" | "modelId" | "startedAt">
>;

export interface AttemptUpdate {
  readonly jobId: JobId;
  readonly number: number;
  readonly changes: AttemptChanges;
}

/** A guarded write: it counts only while the job still has this fence. */
export interface JobUpdate {
  readonly id: JobId;
  readonly fence: number;
  readonly changes: JobChanges;
}

export interface JobFilter {
  readonly accountId?: AccountId;
  readonly status?: JobStatus;
  readonly kind?: Job["kind"];
  /** Those whose last provider it is. */
  readonly providerId?: string;
  /** Only those behind this one in the list. */
  readonly after?: JobsCursor | undefined;
  readonly limit: number;
}

/** A place in a list of jobs. */
export interface JobsCursor {
  readonly createdAt: number;
  readonly id: JobId;
}

/** An ended job with the place of its end among those of all jobs. */
export interface NumberedEnd {
  readonly number: number;
  readonly job: Job;
}

/** What an account calls one of its jobs. */
export interface JobReference {
  readonly accountId: AccountId;
  readonly reference: string;
}

/** Which jobs an account lists. */
export interface ShownJobFilter {
  readonly accountId: AccountId;
  readonly kind: JobKind;
  /** Only what comes behind this job. */
  readonly after?: JobFilter["after"];
  readonly limit: number;
}

/** A job in a list, with what says whether it is still shown as it was. */
export interface ShownState extends Pick<JobSummary, "id" | "createdAt"> {
  /** Another one whenever something changes of what the job shows: its status, its charge, or a track's sharing. */
  readonly version: string;
}

export type ShownSummary = JobSummary & ShownState;

/** Jobs, their leases and their attempts. Selected by `storage.url`. */
export interface JobStore {
  /** A second job of an account with the same reference is refused, and runs `tx` again as any lost race does. */
  insertJobs(tx: Transaction, jobs: readonly Job[]): Promise<void>;

  /** The jobs with these references, in no order; a reference without a job is left out. Nothing is locked. */
  findByReferences(tx: Transaction, references: readonly JobReference[]): Promise<Job[]>;

  /** Jobs by id, as last committed; unknown ids are left out. */
  findJobs(ids: readonly JobId[]): Promise<Map<JobId, Job>>;

  /** Newest first (`createdAt`, then `id`, both descending). */
  listJobs(filter: JobFilter): Promise<Job[]>;

  /** {@link findJobs} without the texts of their requests, which are long. */
  findShownJobs(ids: readonly JobId[]): Promise<Map<JobId, ShownSummary>>;

  /** An account's jobs of a kind, in whichever state: newest first, as {@link listJobs}. */
  listShownJobs(filter: ShownJobFilter): Promise<JobSummary[]>;
  /** Of the first of {@link listShownJobs} of several accounts at once; those without such jobs are left out. */
  newestShownStates(ids: readonly AccountId[], kind: JobKind, limit: number): Promise<Map<AccountId, ShownState[]>>;

  /** Reads jobs in ascending order of id and keeps them from changing until `tx` ends; unknown ids are left out. */
  lockJobs(tx: Transaction, ids: readonly JobId[]): Promise<Map<JobId, JobState>>;

  /** The same without waiting for other transactions. */
  tryLockJobs(tx: Transaction, ids: readonly JobId[]): Promise<Locked<JobId, JobState>>;

  /** The requests of these jobs, as `tx` sees them; unknown ids are left out. */
  requestsOf(tx: Transaction, ids: readonly JobId[]): Promise<Map<JobId, JobRequest>>;

  /**
   * Takes due jobs for `owner`: raises the fence, sets `processing`, the lease and, where a worker was lost, `crashes`.
   * Two claims never return the same job under the same fence. What it took by a commit whose reply was lost, it
   * returns as well.
   */
  claimJobs(request: ClaimRequest): Promise<ClaimedJob[]>;

  /**
   * Moves the end of those leases on these jobs that `owner` still holds. Its other leases run out: what it no longer
   * works on is not kept from others.
   *
   * @returns the fences it holds, by job
   */
  renewLeases(owner: ProcessId, jobIds: readonly JobId[], leaseUntil: number): Promise<Map<JobId, number>>;

  /** Writes each update whose fence still holds. @returns how many were written */
  updateJobs(tx: Transaction, updates: readonly JobUpdate[]): Promise<number>;

  /** The moments at which the next jobs of this provider are due, leased ones included. */
  nextDueAt(providerId: string): Promise<NextDueAt>;

  /**
   * Since when the waiting job of this provider that is due the longest has been due; null when none waits. A moment to
   * come: it is due then, or a worker has it until then.
   */
  waitingSince(providerId: string): Promise<number | null>;

  /** How many jobs of each provider are alive; one without any is left out. */
  countAlive(): Promise<Map<string, number>>;

  /** Jobs that wait with nothing bought and were created before `createdBefore`, oldest first. */
  findOverdue(createdBefore: number, limit: number): Promise<JobState[]>;

  /** Jobs with an open attempt whose deadline is at or before `now`, the longest overdue first. */
  findOverdueAttempts(now: number, limit: number): Promise<JobId[]>;

  insertAttempts(tx: Transaction, attempts: readonly JobAttempt[]): Promise<void>;

  /** Writes changes of attempts; one that does not exist changes nothing. The caller has locked the job. */
  updateAttempts(tx: Transaction, updates: readonly AttemptUpdate[]): Promise<void>;

  /** The attempts of several jobs, each in its order, as `tx` sees them; a job without any is left out. */
  attemptsIn(tx: Transaction, jobIds: readonly JobId[]): Promise<Map<JobId, JobAttempt[]>>;

  /** A job's attempts in their order. */
  listAttempts(jobId: JobId): Promise<JobAttempt[]>;

  /** Those of several jobs, each in its order; a job without any is left out. */
  attemptsOf(jobIds: readonly JobId[]): Promise<Map<JobId, JobAttempt[]>>;

  /** Ended jobs behind this place and created before `createdBefore`, the oldest first (`createdAt`, then `id`). */
  listEnded(after: JobsCursor, createdBefore: number, limit: number): Promise<Job[]>;

  /**
   * Gives committed ends of jobs that have no number yet the next numbers, by `completedAt`, then `id`; at most `limit`
   * of them. The numbers of two calls at once, in whichever processes, become visible in ascending order: who has read
   * up to a number never finds a lower one later. A job that is in a transaction is left to a later call, whatever its
   * `completedAt`, and nothing waits for it. Jobs that ended before the storage numbered ends never get a number.
   *
   * @returns how many got a number; fewer than `limit` when no more are left
   */
  numberEnds(limit: number): Promise<number>;

  /**
   * Deletes what ended jobs created before a moment were asked for: prompt, lyrics, options and metadata, and of their
   * closed attempts what the provider was sent and said. The jobs stay, and so do attempts that are still to be
   * cancelled. It goes through the jobs once, in the order in which they were created, and goes on where the last
   * transaction stopped, in whichever process; not beyond a job that is alive. While another `tx` does it, nothing is
   * deleted.
   *
   * @returns how many jobs it went through; fewer than `limit` when no more are left
   */
  deleteRequests(tx: Transaction, createdBefore: number, limit: number): Promise<number>;

  /**
   * Deletes closed attempts of ended jobs that ended before a moment, the longest ended first; not those that are still
   * to be cancelled.
   *
   * @returns how many; fewer than `limit` when no more are left
   */
  deleteAttempts(tx: Transaction, endedBefore: number, limit: number): Promise<number>;

  /** Ends with a number above `after`, in ascending order. */
  listEnds(after: number, limit: number): Promise<NumberedEnd[]>;

  /** The greatest number given; 0 when none is. */
  lastEndNumber(): Promise<number>;

  /**
   * The number before that of the first job that ended at or after this moment, looking at the newest 1,000; the
   * greatest number when there is none.
   */
  endNumberBefore(completedAt: number): Promise<number>;

  insertOutputs(
    tx: Transaction,
    created: readonly { readonly jobId: JobId; readonly outputs: readonly JobOutput[] }[],
  ): Promise<void>;

  /** A queued or processing job of any account that works from this track; null when there is none. */
  liveJobFrom(tx: Transaction, trackId: TrackId): Promise<Pick<JobState, "id" | "accountId"> | null>;
  /** Deletes what the account's splits of this track have in {@link outputsOf}. @returns what they had */
  deleteSplitOutputs(tx: Transaction, trackId: TrackId, accountId: AccountId): Promise<JobOutput[]>;

  /** The files of splits, in their order; a job without any is left out. */
  outputsOf(jobIds: readonly JobId[]): Promise<Map<JobId, JobOutput[]>>;

  /**
   * Attempts that this provider is to be asked to cancel, the longest due first. Each is due again at `dueAgainAt`,
   * unless it is {@link updateAttempts | written} that it was asked.
   */
  claimCancels(providerId: string, now: number, dueAgainAt: number, limit: number): Promise<JobAttempt[]>;

  /**
   * How long each of the last attempts of this model took that the provider finished, from its acceptance or the call;
   * newest first.
   */
  renderTimes(providerId: string, modelId: string, limit: number): Promise<RenderTime[]>;

  /**
   * How many jobs wait to be submitted to this provider and are due before `dueAt`: they are claimed first. More than
   * `countMax` are not counted.
   */
  countWaitingBefore(providerId: string, dueAt: number, countMax: number): Promise<number>;

  /**
   * How much of a provider's work waits and is under way, in all processes together. More than `countMax` are not
   * counted.
   */
  countWork(providerId: string, countMax: number): Promise<ProviderWork>;
}

/** A render that was finished. */
export interface RenderTime {
  readonly ms: number;
  /** The length that was asked for; null where none was. */
  readonly lengthSeconds: number | null;
}

export interface ProviderWork {
  /** Jobs that wait to be submitted. */
  readonly waiting: number;
  readonly submitting: number;
  readonly rendering: number;
}
