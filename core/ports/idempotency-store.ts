import type { AccountId, JobId } from "../ids.js";
import type { Transaction } from "./unit-of-work.js";

/** What two requests with one key are compared by; both parts are SHA-256 digests. */
export interface Fingerprint {
  /** Method, route, and the set of member paths with their JSON types outside `metadata`. */
  readonly shape: string;
  /** The JSON value of the body: member order, white space and `1` against `1.0` make no difference. */
  readonly body: string;
}

/** A stored response, byte for byte. */
export interface StoredResponse {
  readonly status: number;
  readonly body: string;
}

/** The job and response of a used key. Only the key's SHA-256 is stored. */
export interface IdempotencyRecord extends Fingerprint {
  readonly accountId: AccountId;
  readonly keyHash: string;
  readonly jobId: JobId;
  readonly response: StoredResponse;
  readonly createdAt: number;
  /** From then on the key is free. */
  readonly expiresAt: number;
}

export type IdempotencyKey = Pick<IdempotencyRecord, "accountId" | "keyHash">;

/** A key, and the job of its record. */
export type KeyOfJob = Pick<IdempotencyRecord, "accountId" | "keyHash" | "jobId">;

/** The response to each idempotency key. A key belongs to its account. Selected by `storage.url`. */
export interface IdempotencyStore {
  /** The records of these keys, in no order; those that have expired and were not deleted yet are among them. */
  findRecords(tx: Transaction, keys: readonly IdempotencyKey[]): Promise<IdempotencyRecord[]>;

  /**
   * The same as they are committed, without a transaction.
   *
   * @throws {ServiceUnavailableError} the storage cannot be reached
   */
  readRecords(keys: readonly IdempotencyKey[]): Promise<IdempotencyRecord[]>;

  /** Deletes the records that these keys have by now and that have expired at `now`. */
  freeKeys(tx: Transaction, keys: readonly IdempotencyKey[], now: number): Promise<void>;

  /** Adds records. @throws one of the keys has a record, expired or not; nothing was added */
  insertRecords(tx: Transaction, records: readonly IdempotencyRecord[]): Promise<void>;

  /**
   * Replaces the response of a record that still exists and still belongs to this job. A key that has expired and now
   * belongs to another job keeps that job's response.
   */
  updateResponse(tx: Transaction, record: KeyOfJob, response: StoredResponse): Promise<void>;

  /** Deletes at most `limit` records that have expired at `now`. @returns how many */
  deleteExpired(tx: Transaction, now: number, limit: number): Promise<number>;
}
