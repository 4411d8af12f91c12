import type {
  IdempotencyKey,
  IdempotencyStore,
  KeyOfJob,
  IdempotencyRecord,
  StoredResponse,
} from "../../../../core/ports/idempotency-store.js";
import type { Transaction } from "../../../../core/ports/unit-of-work.js";
import type { AccountId, JobId } from "../../../../core/ids.js";
import type { KnexDatabase } from "../database.js";
import { deleteFound } from "../rows.js";
import { allByKeys } from "../lists.js";
import { columnsOf, type Reads, sessionOf, type SqlValue } from "../session.js";
import { named, plain, type RowOf, table } from "../table.js";

const IDEMPOTENCY_RECORDS = table(
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
type IdempotencyRow = RowOf<typeof IDEMPOTENCY_RECORDS>;

const FIND = `SELECT ${columnsOf(IDEMPOTENCY_RECORDS)} FROM {idempotency_records}`;
/** The sum keeps MariaDB from the index of what expires, where it would lock other records on its way. */
const FREE_KEY = "DELETE FROM {idempotency_records} WHERE account_id = ? AND key_hash = ? AND expires_at + 0 <= ?";
const UPDATE_RESPONSE =
  "UPDATE {idempotency_records} SET status = ?, response = ? WHERE account_id = ? AND key_hash = ? AND job_id = ?";
const FIND_EXPIRED =
  "SELECT account_id, key_hash FROM {idempotency_records} WHERE expires_at <= ? ORDER BY expires_at LIMIT ?";

export class KnexIdempotencyStore implements IdempotencyStore {
  constructor(private readonly database: KnexDatabase) {}

  findRecords(tx: Transaction, keys: readonly IdempotencyKey[]): Promise<IdempotencyRecord[]> {
    return findIn(sessionOf(tx), keys);
  }

  readRecords(keys: readonly IdempotencyKey[]): Promise<IdempotencyRecord[]> {
    return this.database.reading((session) => findIn(session, keys));
  }

  freeKeys(tx: Transaction, keys: readonly IdempotencyKey[], now: number): Promise<void> {
    const lists = keys.map(({ accountId, keyHash }) => [accountId, keyHash, now]);
    return sessionOf(tx).writeEach(FREE_KEY, lists);
  }

  insertRecords(tx: Transaction, records: readonly IdempotencyRecord[]): Promise<void> {
    return sessionOf(tx).insert(IDEMPOTENCY_RECORDS, records.map(toIdempotencyRow));
  }

  async updateResponse(tx: Transaction, record: KeyOfJob, response: StoredResponse): Promise<void> {
    const { accountId, keyHash, jobId } = record;
    await sessionOf(tx).run(UPDATE_RESPONSE, [response.status, response.body, accountId, keyHash, jobId]);
  }

  deleteExpired(tx: Transaction, now: number, limit: number): Promise<number> {
    const keyOf = (row: Pick<IdempotencyRow, "account_id" | "key_hash">): SqlValue[] => [
      row.account_id,
      row.key_hash,
      now,
    ];
    return deleteFound(sessionOf(tx), [FIND_EXPIRED, [now, limit]], FREE_KEY, keyOf);
  }
}

async function findIn(session: Reads, keys: readonly IdempotencyKey[]): Promise<IdempotencyRecord[]> {
  const lists = keys.map(({ accountId, keyHash }) => [accountId, keyHash]);
  const rows = await allByKeys<IdempotencyRow>(session, FIND, ["account_id", "key_hash"], lists);
  return rows.map(toIdempotencyRecord);
}

/** Named one by one, as every request with a key has one: a spread takes several times as long. */
function toIdempotencyRow(record: IdempotencyRecord): IdempotencyRow {
  return {
    account_id: record.accountId,
    key_hash: record.keyHash,
    shape_hash: record.shape,
    body_hash: record.body,
    job_id: record.jobId,
    status: record.response.status,
    response: record.response.body,
    created_at: record.createdAt,
    expires_at: record.expiresAt,
  };
}

function toIdempotencyRecord(row: IdempotencyRow): IdempotencyRecord {
  return {
    accountId: row.account_id,
    keyHash: row.key_hash,
    shape: row.shape_hash,
    body: row.body_hash,
    jobId: row.job_id,
    response: { status: row.status, body: row.response },
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
