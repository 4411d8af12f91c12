import type { AccountId, JobId } from "../../../../core/ids.js";
import type { JobKind, JobSummary, RequestSummary } from "../../../../core/jobs/job.js";
import type { ShownJobFilter } from "../../../../core/ports/job-store.js";
import type { KnexDatabase } from "../database.js";
import { allIn, groupBy, mapIn } from "../lists.js";
import { type JobRow, toRequest } from "./job-tables.js";
import { fromJson } from "../table.js";
import type { Session, SqlValue } from "../session.js";

const COLUMNS = [
  ...["id", "account_id", "kind", "model_id", "request_id", "status", "credits_charged", "created_at"],
  ...["completed_at", "error", "shown_request"],
] as const satisfies readonly (keyof JobRow)[];
type ShownRow = Pick<JobRow, (typeof COLUMNS)[number]>;

const FIND = (marks: string): string => `SELECT ${COLUMNS.join(", ")} FROM {jobs} WHERE id IN (${marks})`;
const REQUESTS = (marks: string): string => `SELECT id, request FROM {jobs} WHERE id IN (${marks})`;
const BEHIND = "AND created_at <= ? AND (created_at < ? OR id < ?)";

/** Jobs by id, without the texts of their requests; unknown ids are left out. */
export function findShownJobs(database: KnexDatabase, ids: readonly JobId[]): Promise<Map<JobId, JobSummary>> {
  return database.reading(async (session) => {
    const jobs = await toShownJobs(session, await allIn<ShownRow>(session, FIND, ids));
    return new Map(jobs.map((job) => [job.id, job]));
  });
}

/** Straight from an index in the order of the list. */
export function listShownJobs(database: KnexDatabase, filter: ShownJobFilter): Promise<JobSummary[]> {
  const { accountId, kind, after, limit } = filter;
  const behind: readonly SqlValue[] = after === undefined ? [] : [after.createdAt, after.createdAt, after.id];
  const text = listed(database, after === undefined ? "" : BEHIND, "?");
  return database.reading(async (session) =>
    toShownJobs(session, await session.all<ShownRow>(text, [accountId, kind, ...behind, limit])),
  );
}

/** Accounts in one statement. Each number of them makes a text of its own, which is compiled once. */
const ACCOUNTS_MAX = 8;

/** As {@link listShownJobs}, of several accounts. The limit is in the text: a number as a value keeps it unprepared. */
export async function newestShownJobs(
  database: KnexDatabase,
  accountIds: readonly AccountId[],
  kind: JobKind,
  limit: number,
): Promise<Map<AccountId, JobSummary[]>> {
  const query = listed(database, "", String(limit));
  const jobs = await database.reading(async (session) => {
    const rows: ShownRow[] = [];
    for (let start = 0; start < accountIds.length; start += ACCOUNTS_MAX) {
      const part = accountIds.slice(start, start + ACCOUNTS_MAX);
      const text = part.length === 1 ? query : database.dialect.unionAll(part.map(() => query));
      rows.push(
        ...(await session.all<ShownRow>(
          text,
          part.flatMap((id) => [id, kind]),
        )),
      );
    }
    return toShownJobs(session, rows);
  });
  jobs.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
  return groupBy(jobs, ({ accountId }) => accountId);
}

function listed({ dialect }: KnexDatabase, behind: string, limit: string): string {
  return `SELECT ${COLUMNS.join(", ")} FROM {jobs}${dialect.useIndex("jobs_listed")}
    WHERE account_id = ? AND kind = ? ${behind} ORDER BY created_at DESC, id DESC LIMIT ${limit}`;
}

/** Of rows from before the column, the request is read. */
async function toShownJobs(session: Session, rows: readonly ShownRow[]): Promise<JobSummary[]> {
  const old = rows.filter((row) => row.shown_request === null).map(({ id }) => id);
  const entryOf = (row: Pick<JobRow, "id" | "request">): [JobId, RequestSummary] => [row.id, toRequest(row)];
  const requests = old.length === 0 ? null : await mapIn(session, REQUESTS, old, entryOf);
  return rows.map((row) =>
    toShownJob(row, requests?.get(row.id) ?? fromJson<Partial<RequestSummary>>(row.shown_request)),
  );
}

function toShownJob(row: ShownRow, request: Partial<RequestSummary>): JobSummary {
  return {
    id: row.id,
    accountId: row.account_id,
    kind: row.kind,
    modelId: row.model_id,
    requestId: row.request_id,
    status: row.status,
    creditsCharged: row.credits_charged,
    createdAt: row.created_at,
    completedAt: row.completed_at,
    error: errorOf(row),
    request: {
      options: request.options ?? {},
      sourceTrackId: request.sourceTrackId ?? null,
      sourceUse: request.sourceUse ?? null,
    },
  };
}

function errorOf({ error }: Pick<JobRow, "error">): JobSummary["error"] {
  return error === null ? null : fromJson<JobSummary["error"]>(error);
}
