import type { IdempotencyRecord, StoredResponse } from "../idempotency/replay.js";
import type { Transaction } from "./unit-of-work.js";

export type IdempotencyKey = Pick<IdempotencyRecord, "accountId" | "keyHash">;

/** A key, and the job that it stands for. */
export type KeyOfJob = Pick<IdempotencyRecord, "accountId" | "keyHash" | "jobId">;

/** What was answered to which key. A key belongs to its account. */
export interface IdempotencyStore {
  /** The records of these keys that have not expired at `now`, in no order. */
  findRecords(tx: Transaction, keys: readonly IdempotencyKey[], now: number): Promise<IdempotencyRecord[]>;

  /** Adds records; one whose key has an expired record takes its place. */
  insertRecords(tx: Transaction, records: readonly IdempotencyRecord[], now: number): Promise<void>;

  /**
   * Replaces the answer of a record that still exists and still stands for this job. A key that has expired and stands
   * for another job by now keeps that job's answer.
   */
  updateResponse(tx: Transaction, record: KeyOfJob, response: StoredResponse): Promise<void>;

  /** Deletes at most `limit` records that have expired at `now`. @returns how many */
  deleteExpired(tx: Transaction, now: number, limit: number): Promise<number>;
}
