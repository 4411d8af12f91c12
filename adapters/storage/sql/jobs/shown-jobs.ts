import type { AccountId, JobId, TrackId } from "../../../../core/ids.js";
import type { JobKind, JobSummary, RequestSummary } from "../../../../core/jobs/job.js";
import type { ShownSummary, ShownJobFilter, ShownState } from "../../../../core/ports/job-store.js";
import type { KnexDatabase } from "../database.js";
import type { TrackRow } from "../library/track-tables.js";
import { allIn, groupBy, mapIn } from "../lists.js";
import { type JobRow, toRequest } from "./job-tables.js";
import { fromJson } from "../table.js";
import type { Session, SqlValue } from "../session.js";

const COLUMNS = [
  ...["id", "account_id", "kind", "model_id", "request_id", "status", "credits_charged", "created_at"],
  ...["completed_at", "error", "shown_request"],
] as const satisfies readonly (keyof JobRow)[];
type ShownRow = Pick<JobRow, (typeof COLUMNS)[number]>;

/** A job with one of its tracks, or none. */
type WithTrack<Row> = Row & Pick<TrackRow, "share_token" | "link_generation"> & { readonly track_id: TrackId | null };

const TRACK_COLUMNS = "t.id AS track_id, t.share_token, t.link_generation";
const FIND = (marks: string): string =>
  `SELECT ${COLUMNS.map((column) => `j.${column}`).join(", ")}, ${TRACK_COLUMNS}
  FROM {jobs} j LEFT JOIN {tracks} t ON t.job_id = j.id WHERE j.id IN (${marks})`;
const REQUESTS = (marks: string): string => `SELECT id, request FROM {jobs} WHERE id IN (${marks})`;
const BEHIND = "AND created_at <= ? AND (created_at < ? OR id < ?)";

/** Jobs by id, without the texts of their requests; unknown ids are left out. */
export function findShownJobs(database: KnexDatabase, ids: readonly JobId[]): Promise<Map<JobId, ShownSummary>> {
  return database.reading(async (session) => {
    const byJob = groupBy(await allIn<WithTrack<ShownRow>>(session, FIND, ids), ({ id }) => id);
    const jobs = await toShownJobs(
      session,
      [...byJob.values()].flatMap(([first]) => first ?? []),
    );
    return new Map(jobs.map((job) => [job.id, { ...job, tracks: tracksIn(byJob.get(job.id) ?? []) }]));
  });
}

/** Straight from an index in the order of the list. */
export function listShownJobs(database: KnexDatabase, filter: ShownJobFilter): Promise<JobSummary[]> {
  const { accountId, kind, after, limit } = filter;
  const behind: readonly SqlValue[] = after === undefined ? [] : [after.createdAt, after.createdAt, after.id];
  const text = listed(database, COLUMNS, after === undefined ? "" : BEHIND, "?");
  return database.reading(async (session) =>
    toShownJobs(session, await session.all<ShownRow>(text, [accountId, kind, ...behind, limit])),
  );
}

const STATE_COLUMNS = ["id", "account_id", "status", "credits_charged", "created_at"] as const;
type StateRow = WithTrack<Pick<JobRow, (typeof STATE_COLUMNS)[number]>>;

/** Accounts in one statement. Each number of them makes a text of its own, which is compiled once. */
const ACCOUNTS_MAX = 8;

/** As {@link listShownJobs}, of several accounts. The limit is in the text: a number as a value keeps it unprepared. */
export async function newestShownStates(
  database: KnexDatabase,
  accountIds: readonly AccountId[],
  kind: JobKind,
  limit: number,
): Promise<Map<AccountId, ShownState[]>> {
  const query = listed(database, STATE_COLUMNS, "", String(limit));
  const parts = Array.from({ length: Math.ceil(accountIds.length / ACCOUNTS_MAX) }, (_, part) =>
    accountIds.slice(part * ACCOUNTS_MAX, (part + 1) * ACCOUNTS_MAX),
  );
  const found = await database.reading((session) =>
    Promise.all(
      parts.map((part) => {
        const jobs = part.length === 1 ? query : database.dialect.unionAll(part.map(() => query));
        const text = `SELECT j.*, ${TRACK_COLUMNS} FROM (${jobs}) j LEFT JOIN {tracks} t ON t.job_id = j.id`;
        return session.all<StateRow>(
          text,
          part.flatMap((id) => [id, kind]),
        );
      }),
    ),
  );
  const states = [...groupBy(found.flat(), ({ id }) => id).values()].flatMap((ofJob) => toState(ofJob) ?? []);
  states.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
  return groupBy(states, ({ accountId }) => accountId);
}

function toState(rows: readonly StateRow[]): ShownState | null {
  const [row] = rows;
  if (row === undefined) return null;
  const { id, account_id: accountId, status, credits_charged: creditsCharged, created_at: createdAt } = row;
  return { id, accountId, status, creditsCharged, createdAt, tracks: tracksIn(rows) };
}

function tracksIn(rows: readonly WithTrack<object>[]): ShownState["tracks"] {
  return rows.flatMap(({ track_id: id, share_token: shareToken, link_generation: generation }) =>
    id === null ? [] : [{ id, shareToken, linkGeneration: generation ?? 0 }],
  );
}

function listed({ dialect }: KnexDatabase, columns: readonly (keyof JobRow)[], behind: string, limit: string): string {
  return `SELECT ${columns.join(", ")} FROM {jobs}${dialect.useIndex("jobs_listed")}
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
