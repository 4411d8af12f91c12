import type { CallbackId, JobId } from "../ids.js";
import type { Transaction } from "./unit-of-work.js";

/** A callback of a provider about a job, as received. */
export interface StoredCallback {
  readonly id: CallbackId;
  readonly jobId: JobId;
  readonly providerId: string;
  /** The attempt that its address belongs to; null: the address belongs to the job. */
  readonly attempt: number | null;
  /** Equal for two callbacks with equal contents: SHA-256 over the body and what was signed with it. */
  readonly digest: string;
  readonly headers: { readonly [name: string]: string };
  readonly query: { readonly [name: string]: string };
  readonly body: Uint8Array;
  readonly receivedAt: number;
}

/**
 * The inbox of provider callbacks: they are stored before a worker reads them, so that none is lost between two
 * processes. Selected by `storage.url`.
 */
export interface CallbackStore {
  /** @returns false when the job has one of the same digest already: nothing was written */
  insert(tx: Transaction, callback: StoredCallback): Promise<boolean>;
  /** How many were kept for a job, read ones included. */
  countOf(tx: Transaction, jobId: JobId): Promise<number>;
  /** Those that were not read yet, in the order in which they came. */
  unread(jobId: JobId, limit: number): Promise<StoredCallback[]>;
  /** Those of several jobs that were not read, as `tx` sees them; a job without any is left out. */
  unreadIn(tx: Transaction, jobIds: readonly JobId[]): Promise<Map<JobId, CallbackId[]>>;
  markRead(tx: Transaction, ids: readonly CallbackId[], readAt: number): Promise<void>;
  /** Deletes callbacks that came before `receivedBefore`, at most `limit`. @returns how many */
  deleteOld(tx: Transaction, receivedBefore: number, limit: number): Promise<number>;
}
