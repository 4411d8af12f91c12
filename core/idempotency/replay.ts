import { IdempotencyConflictError, IdempotencyKeyConflictError } from "../errors.js";
import type { Fingerprint, IdempotencyRecord } from "../ports/idempotency-store.js";

/** False: its key is free, and the next job that is given the key takes it. */
export function isValid({ expiresAt }: Pick<IdempotencyRecord, "expiresAt">, now: number): boolean {
  return expiresAt > now;
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
