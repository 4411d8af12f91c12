import type { AccountId, JobId, PlaylistId, TrackId } from "../ids.js";
import type { JobState } from "../jobs/job.js";
import type { Transaction } from "./unit-of-work.js";

/** What is erased of a deleted account, in this order; the ledger and the audit log stay. */
export const ERASED_KINDS = [
  "webhook_endpoints",
  "keys",
  "idempotency_records",
  "requests",
  "request_counts",
  "credit_sums",
  "playlists",
  "jobs",
  "tracks",
  "uploads",
  "webhook_events",
  "search_words",
] as const;

export type ErasedKind = (typeof ERASED_KINDS)[number];

/** Kinds of which whole rows are deleted, and nothing else has to be done. */
export type ErasedRows = Exclude<ErasedKind, "webhook_endpoints" | "jobs" | "tracks" | "uploads">;

/** How far the deletion of an account is. */
export interface AccountDeletion {
  readonly accountId: AccountId;
  readonly requestedAt: number;
  /** When a look at everything found nothing any more; null while there may be something. */
  readonly erasedAt: number | null;
  /** How much of each kind was erased so far. */
  readonly erased: Readonly<Partial<Record<ErasedKind, number>>>;
}

/** A place in the list of an account's ended jobs. */
export interface ErasureCursor {
  readonly status: "completed" | "failed";
  readonly createdAt: number;
  readonly id: JobId;
}

/** Where a deletion goes on, in whichever process: it looks at all kinds, round after round. */
export interface ErasurePlace {
  /** The number of the kind in {@link ERASED_KINDS}; beyond the last one the round is over. */
  readonly kind: number;
  /** The last job that was looked at; null begins. */
  readonly after: ErasureCursor | null;
  /** What this round has erased. */
  readonly found: number;
}

/** A deletion that has more to do. */
export interface PendingDeletion extends AccountDeletion {
  readonly place: ErasurePlace;
  /** From when on any process may go on with it; null: there is nothing more to do. */
  readonly dueAt: number | null;
}

/** An ended job as far as an erasure has to know it. */
export interface EndedJob extends ErasureCursor {
  readonly isErased: boolean;
  /** Its provider is still to be asked to cancel something of it. */
  readonly isBusy: boolean;
}

/** A track, and the job whose id its files are stored under; null: its own. */
export interface OwnedTrack {
  readonly id: TrackId;
  readonly jobId: JobId | null;
}

/**
 * Finds what is stored of an account, and erases it in small steps, each in one transaction. Selected by `storage.url`.
 */
export interface ErasureStore {
  /** A second deletion of an account is refused, and runs `tx` again as any lost race does. */
  insertDeletion(tx: Transaction, deletion: PendingDeletion): Promise<void>;
  /** As `tx` sees it. */
  isDeleted(tx: Transaction, accountId: AccountId): Promise<boolean>;
  /** null: the account is not deleted. */
  findDeletion(accountId: AccountId): Promise<AccountDeletion | null>;
  /**
   * Takes a deletion that is due, the longest due first, and makes it due again at `until`. Two processes at once get
   * different ones.
   */
  claimDeletion(tx: Transaction, now: number, until: number): Promise<PendingDeletion | null>;
  /**
   * Writes how far a deletion is, unless it was claimed since: then its `dueAt` is no longer `claimedUntil`.
   *
   * @returns false when it was, and nothing was written
   */
  writeDeletion(tx: Transaction, deletion: PendingDeletion, claimedUntil: number): Promise<boolean>;

  /** Jobs of the account that have not ended, the oldest first. */
  liveJobs(accountId: AccountId, limit: number): Promise<JobState[]>;
  /** Ended jobs behind a place, in the order of status, moment and id. */
  endedJobs(accountId: AccountId, after: ErasureCursor | null, limit: number): Promise<EndedJob[]>;
  /**
   * Erases what these ended jobs hold, with their tracks: requests, errors, outputs, callbacks, what providers said.
   * What the ledger and the margin count stays. What is not there any more changes nothing.
   *
   * @returns how many were not erased before
   */
  eraseJobs(tx: Transaction, ids: readonly JobId[], at: number): Promise<number>;
  /** Tracks of the account behind one of them, by id. */
  listTracks(accountId: AccountId, after: TrackId | null, limit: number): Promise<OwnedTrack[]>;
  /** Playlists of the account behind one of them, by id. */
  listPlaylists(accountId: AccountId, after: PlaylistId | null, limit: number): Promise<PlaylistId[]>;
  /** Deletes tracks with all that belongs to them, in playlists of others too. @returns how many there were */
  eraseTracks(tx: Transaction, ids: readonly TrackId[]): Promise<number>;
  /**
   * The same of one track whose account stays: no word of it is left in the index of searches either, nor its upload.
   * With the last track of its job goes what that job was asked for: prompt, lyrics, options and metadata, and what its
   * provider reported of it; that it has none any more is noted.
   */
  eraseTrack(tx: Transaction, id: TrackId, at: number): Promise<void>;
  /** Uploads of the account that became a track, or began before this moment. */
  listUploads(accountId: AccountId, begunBefore: number, limit: number): Promise<TrackId[]>;
  /** Whether there is an upload of the account at all. */
  hasUploads(accountId: AccountId): Promise<boolean>;
  eraseUploads(tx: Transaction, ids: readonly TrackId[]): Promise<number>;
  /** Notes files that are to be deleted, from `dueAt` on by whichever process; one that is noted already stays so. */
  noteFiles(tx: Transaction, audioKeys: readonly string[], dueAt: number): Promise<void>;
  /** Whether this file is noted to be deleted. One indexed read. */
  isNotedFile(audioKey: string): Promise<boolean>;
  /** Noted files that are due, the longest due first. */
  dueFiles(now: number, limit: number): Promise<string[]>;
  /** Makes noted files due at another moment. */
  postponeFiles(tx: Transaction, audioKeys: readonly string[], dueAt: number): Promise<void>;
  /** Forgets noted files, which are deleted. */
  forgetFiles(tx: Transaction, audioKeys: readonly string[]): Promise<void>;
  /** Deletes at most `limit` rows of this kind. @returns how many; fewer than `limit` when no more are left */
  eraseRows(tx: Transaction, kind: ErasedRows, accountId: AccountId, limit: number): Promise<number>;
}
