import type { CallbackId, JobId } from "../../../../core/ids.js";
import type { CallbackStore, StoredCallback } from "../../../../core/ports/callback-store.js";
import type { Transaction } from "../../../../core/ports/unit-of-work.js";
import type { KnexDatabase } from "../database.js";
import { allIn, groupBy } from "../lists.js";
import { deleteFound } from "../rows.js";
import { columnsOf, sessionOf } from "../session.js";
import { base64, json, plain, type RowOf, table } from "../table.js";

const CALLBACKS = table(
  "provider_callbacks",
  {
    id: plain<CallbackId>(),
    jobId: plain<JobId>(),
    providerId: plain<string>(),
    attempt: plain<number | null>(),
    digest: plain<string>(),
    receivedAt: plain<number>(),
    readAt: plain<number | null>(),
    headers: json<StoredCallback["headers"]>(),
    query: json<StoredCallback["query"]>(),
    body: base64<Uint8Array>(),
  },
  ["id"],
);
type CallbackRow = RowOf<typeof CALLBACKS>;

const IS_KEPT = "SELECT 1 FROM {provider_callbacks} WHERE job_id = ? AND digest = ?";
const COUNT = "SELECT COUNT(*) AS total FROM {provider_callbacks} WHERE job_id = ?";
const UNREAD_OF_JOB = "WHERE job_id = ? AND read_at IS NULL ORDER BY received_at, id LIMIT ?";
const MARK_READ = "UPDATE {provider_callbacks} SET read_at = ? WHERE id = ?";
const OLD = "SELECT id FROM {provider_callbacks} WHERE received_at < ? ORDER BY received_at LIMIT ?";
const DELETE = "DELETE FROM {provider_callbacks} WHERE id = ?";

export class KnexCallbackStore implements CallbackStore {
  constructor(private readonly database: KnexDatabase) {}

  async insert(tx: Transaction, callback: StoredCallback): Promise<boolean> {
    const session = sessionOf(tx);
    if ((await session.all(IS_KEPT, [callback.jobId, callback.digest])).length > 0) return false;
    await session.insert(CALLBACKS, [CALLBACKS.toRow({ ...callback, readAt: null })]);
    return true;
  }

  async countOf(tx: Transaction, jobId: JobId): Promise<number> {
    const [row] = await sessionOf(tx).all<{ total: number }>(COUNT, [jobId]);
    return row?.total ?? 0;
  }

  async unread(jobId: JobId, limit: number): Promise<StoredCallback[]> {
    // A job has few. By the other index MySQL would read on from the oldest of all.
    const table = `{provider_callbacks}${this.database.dialect.useIndex("provider_callbacks_digest")}`;
    const unread = `SELECT ${columnsOf(CALLBACKS)} FROM ${table} ${UNREAD_OF_JOB}`;
    const rows = await this.database.reading((session) => session.all<CallbackRow>(unread, [jobId, limit]));
    return rows.map(toCallback);
  }

  async unreadIn(tx: Transaction, jobIds: readonly JobId[]): Promise<Map<JobId, CallbackId[]>> {
    const table = `{provider_callbacks}${this.database.dialect.useIndex("provider_callbacks_digest")}`;
    const unread = (marks: string): string =>
      `SELECT job_id, id FROM ${table} WHERE job_id IN (${marks}) AND read_at IS NULL`;
    const rows = await allIn<Pick<CallbackRow, "job_id" | "id">>(sessionOf(tx), unread, jobIds);
    return new Map([...groupBy(rows, (row) => row.job_id)].map(([jobId, found]) => [jobId, found.map(({ id }) => id)]));
  }

  async markRead(tx: Transaction, ids: readonly CallbackId[], readAt: number): Promise<void> {
    await sessionOf(tx).writeEach(
      MARK_READ,
      ids.map((id) => [readAt, id]),
    );
  }

  deleteOld(tx: Transaction, receivedBefore: number, limit: number): Promise<number> {
    const find = OLD + this.database.dialect.forClaim;
    const keyOf = ({ id }: Pick<CallbackRow, "id">): string[] => [id];
    return deleteFound(sessionOf(tx), [find, [receivedBefore, limit]], DELETE, keyOf);
  }
}

function toCallback(row: CallbackRow): StoredCallback {
  const { readAt: _readAt, ...callback } = CALLBACKS.fromRow(row);
  return callback;
}
