import type { IdempotencyRecord } from "../../../../core/ports/idempotency-store.js";
import type { AccountId, JobId } from "../../../../core/ids.js";
import { named, plain, type RowOf, table } from "../table.js";

export const IDEMPOTENCY_RECORDS = table(
  "idempotency_records",
  {
    accountId: plain<AccountId>(),
    keyHash: plain<string>(),
    shape: named("shape_hash", plain<string>()),
    body: named("body_hash", plain<string>()),
    jobId: plain<JobId>(),
    status: plain<number>(),
    response: plain<string>(),
    createdAt: plain<number>(),
    expiresAt: plain<number>(),
  },
  ["accountId", "keyHash"],
);
export type IdempotencyRow = RowOf<typeof IDEMPOTENCY_RECORDS>;

export function toIdempotencyRow({ response, ...record }: IdempotencyRecord): IdempotencyRow {
  return IDEMPOTENCY_RECORDS.toRow({ ...record, status: response.status, response: response.body });
}

export function toIdempotencyRecord(row: IdempotencyRow): IdempotencyRecord {
  const { status, response, ...record } = IDEMPOTENCY_RECORDS.fromRow(row);
  return { ...record, response: { status, body: response } };
}
