import { assert } from "../../../../core/assert.js";
import type { JobId } from "../../../../core/ids.js";
import { wordlessRequest } from "../../../../core/jobs/erased-job.js";
import type { DueRows } from "../../../../core/ports/growth-store.js";
import type { Dialect } from "../dialect.js";
import { REQUEST_CURSORS } from "../migrations/0048-retention.js";
import { allOf, deleteFound } from "../rows.js";
import type { Reads, Session, SqlValue } from "../session.js";
import { type JobRow, toRequest } from "./job-tables.js";

/** How far one status was gone through. */
interface Cursor {
  readonly createdAt: number;
  readonly id: string;
}

const CURSOR = "SELECT value FROM {installation} WHERE name = ?";
const MOVE_CURSOR = "UPDATE {installation} SET value = ? WHERE name = ?";
const OLDEST = "SELECT created_at FROM {jobs} WHERE status = ? ORDER BY created_at LIMIT 1";
/** The first bound is what the index begins at: SQLite makes nothing of the OR. */
const BEHIND =
  "FROM {jobs} WHERE status = ? AND created_at >= ? AND created_at < ? AND (created_at > ? OR id > ?) " +
  "ORDER BY created_at, id LIMIT ?";
const NEXT = `SELECT id, created_at ${BEHIND}`;
const COUNT = `SELECT COUNT(*) AS total, MIN(created_at) AS oldest FROM (SELECT created_at ${BEHIND}) AS some`;
const REQUEST = "SELECT id, request FROM {jobs} WHERE id = ?";
const FORGET_REQUEST = "UPDATE {jobs} SET request = ? WHERE id = ?";

/** Nothing more can come of it: it is neither open nor still to be cancelled. */
const IS_OVER = "state IN ('settled', 'refused', 'failed', 'abandoned') AND cancel_due_at IS NULL";
const FORGET_ATTEMPTS =
  "UPDATE {job_attempts} SET handle = NULL, result = NULL, files = NULL, progress = NULL, message = NULL " +
  `WHERE job_id = ? AND ${IS_OVER}`;
const OLD_ATTEMPTS = (index: string): string =>
  `FROM {job_attempts}${index} WHERE ended_at < ? AND ${IS_OVER} AND EXISTS (SELECT 1 FROM {jobs} AS j ` +
  "WHERE j.id = job_id AND j.phase = 'ended') ORDER BY ended_at LIMIT ?";
const DELETE_ATTEMPT = "DELETE FROM {job_attempts} WHERE job_id = ? AND number = ?";

/** As `deleteRequests` of the job store. */
export async function deleteRequests(
  session: Session,
  dialect: Dialect,
  createdBefore: number,
  limit: number,
): Promise<number> {
  const cursors = await cursorsOf(session, dialect.forClaim);
  if (cursors.length < REQUEST_CURSORS.length) return 0;
  const before = await notBeyondLive(session, createdBefore);
  let left = limit;
  const ids: JobId[] = [];
  for (const { name, status, cursor } of cursors) {
    if (left === 0) break;
    const found = await session.all<Pick<JobRow, "id" | "created_at">>(NEXT, valuesOf(status, cursor, before, left));
    const last = found.at(-1);
    if (last === undefined) continue;
    ids.push(...found.map(({ id }) => id));
    left -= found.length;
    await session.run(MOVE_CURSOR, [JSON.stringify({ createdAt: last.created_at, id: last.id }), name]);
  }
  await forget(session, dialect, ids);
  return ids.length;
}

/** What {@link deleteRequests} has left. */
export async function dueRequests(session: Session, createdBefore: number, countMax: number): Promise<DueRows> {
  const before = await notBeyondLive(session, createdBefore);
  const cursors = await cursorsOf(session, "");
  const counts: { readonly total: number; readonly oldest: number | null }[] = [];
  for (const { status, cursor } of cursors)
    counts.push(...(await session.all<(typeof counts)[number]>(COUNT, valuesOf(status, cursor, before, countMax))));
  const moments = counts.flatMap(({ oldest }) => (oldest === null ? [] : [oldest]));
  const rows = counts.reduce((sum, { total }) => sum + total, 0);
  return { rows: Math.min(countMax, rows), oldestAt: moments.length === 0 ? null : Math.min(...moments) };
}

/** As `deleteAttempts` of the job store. */
export function deleteAttempts(
  session: Session,
  dialect: Dialect,
  endedBefore: number,
  limit: number,
): Promise<number> {
  type Row = { readonly job_id: JobId; readonly number: number };
  const find = `SELECT job_id, number ${OLD_ATTEMPTS(dialect.useIndex("job_attempts_ended"))}`;
  const keyOf = (row: Row): SqlValue[] => [row.job_id, row.number];
  return deleteFound(session, [find, [endedBefore, limit]], DELETE_ATTEMPT, keyOf);
}

/** The rows that {@link deleteAttempts} has left, as a FROM clause with a moment and a limit. */
export function oldAttempts(dialect: Dialect): string {
  return OLD_ATTEMPTS(dialect.useIndex("job_attempts_ended"));
}

async function forget(session: Session, dialect: Dialect, ids: readonly JobId[]): Promise<void> {
  // In ascending order, as every transaction locks jobs. An erasure may be at work on one of them.
  const sorted = [...ids].sort();
  const rows = await allOf<Pick<JobRow, "id" | "request">>(session, REQUEST + dialect.forUpdate, sorted);
  const changes = rows.flatMap((row) => {
    const text = JSON.stringify(wordlessRequest(toRequest(row)));
    return text === JSON.stringify(toRequest(row)) ? [] : [[text, row.id]];
  });
  await session.runEach(FORGET_REQUEST, changes);
  await session.runEach(
    FORGET_ATTEMPTS,
    sorted.map((id) => [id]),
  );
}

async function cursorsOf(session: Reads, lock: string) {
  const cursors: { readonly name: string; readonly status: string; readonly cursor: Cursor }[] = [];
  for (const { name, status } of REQUEST_CURSORS) {
    const [row] = await session.all<{ readonly value: string }>(CURSOR + lock, [name]);
    if (row !== undefined) cursors.push({ name, status, cursor: JSON.parse(row.value) as Cursor });
  }
  assert(lock !== "" || cursors.length === REQUEST_CURSORS.length, "a migration creates the rows of the cursors");
  return cursors;
}

/** A job that ends later than others that were created after it is not passed by. */
async function notBeyondLive(session: Reads, createdBefore: number): Promise<number> {
  const live = await session.allEach<{ readonly created_at: number }>(OLDEST, [["queued"], ["processing"]]);
  return Math.min(createdBefore, ...live.map((row) => row.created_at));
}

function valuesOf(status: string, { createdAt, id }: Cursor, before: number, limit: number): SqlValue[] {
  return [status, createdAt, before, createdAt, id, limit];
}
