import { IdempotencyConflictError, IdempotencyKeyConflictError } from "../errors.js";
import type { AccountId, JobId } from "../ids.js";
import type { Fingerprint } from "./fingerprint.js";

/** A response as it was sent, to the byte. */
export interface StoredResponse {
  readonly status: number;
  readonly body: string;
}

/** What a used key stands for. The key itself is kept as its SHA-256 only. */
export interface IdempotencyRecord extends Fingerprint {
  readonly accountId: AccountId;
  readonly keyHash: string;
  readonly jobId: JobId;
  readonly response: StoredResponse;
  readonly createdAt: number;
  /** From then on the key is free. */
  readonly expiresAt: number;
}

/**
 * Throws unless the record is of the same request.
 *
 * @throws {IdempotencyKeyConflictError} another shape
 * @throws {IdempotencyConflictError} the same shape with other values
 * @see API v1, section 4, "Idempotency rules"
 */
export function checkReplay(record: Fingerprint, request: Fingerprint): void {
  if (record.shape !== request.shape) throw new IdempotencyKeyConflictError();
  if (record.body !== request.body) throw new IdempotencyConflictError();
}
