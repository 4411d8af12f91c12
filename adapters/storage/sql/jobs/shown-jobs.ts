import type { AccountId, JobId } from "../../../../core/ids.js";
import type { JobKind, JobSummary, RequestSummary } from "../../../../core/jobs/job.js";
import type { ShownSummary, ShownJobFilter, ShownState } from "../../../../core/ports/job-store.js";
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

/** Of a job and one of its tracks, if any: all that can change of what the job shows. */
interface VersionPart {
  readonly version: string;
}
const VERSION = "CONCAT_WS(' ', j.status, j.credits_charged, t.id, t.share_token, t.link_generation) AS version";

const FIND = (marks: string): string =>
  `SELECT ${COLUMNS.map((column) => `j.${column}`).join(", ")}, ${VERSION}
  FROM {jobs} j LEFT JOIN {tracks} t ON t.job_id = j.id WHERE j.id IN (${marks})`;
const REQUESTS = (marks: string): string => `SELECT id, request FROM {jobs} WHERE id IN (${marks})`;
const BEHIND = "AND created_at <= ? AND (created_at < ? OR id < ?)";

/** Jobs by id, without the texts of their requests; unknown ids are left out. */
export function findShownJobs(database: KnexDatabase, ids: readonly JobId[]): Promise<Map<JobId, ShownSummary>> {
  return database.reading(async (session) => {
    const byJob = groupBy(await allIn<ShownRow & VersionPart>(session, FIND, ids), ({ id }) => id);
    const jobs = await toShownJobs(
      session,
      [...byJob.values()].flatMap(([first]) => first ?? []),
    );
    return new Map(jobs.map((job) => [job.id, { version: versionOf(byJob.get(job.id) ?? []), ...job }]));
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

/** A job with one of its tracks, if any, in the list of the account at this place of those that were asked for. */
interface StateRow extends Pick<JobRow, "id" | "created_at">, VersionPart {
  readonly place: number;
}

/** Accounts in one statement. Each number of them makes a text of its own, which is compiled once. */
const ACCOUNTS_MAX = 8;

/** As {@link listShownJobs}, of several accounts. The limit is in the text: a number as a value keeps it unprepared. */
export async function newestShownStates(
  database: KnexDatabase,
  accountIds: readonly AccountId[],
  kind: JobKind,
  limit: number,
): Promise<Map<AccountId, ShownState[]>> {
  const parts = Array.from({ length: Math.ceil(accountIds.length / ACCOUNTS_MAX) }, (_, part) =>
    accountIds.slice(part * ACCOUNTS_MAX, (part + 1) * ACCOUNTS_MAX),
  );
  const found = await database.reading((session) =>
    Promise.all(
      parts.map((part) => {
        const values = part.flatMap((id) => [id, kind]);
        return session.all<StateRow>(statesText(database, part.length, limit), values);
      }),
    ),
  );
  const states = new Map<AccountId, ShownState[]>();
  for (const [index, part] of parts.entries()) {
    const lists: StateRow[][] = part.map(() => []);
    for (const row of found[index] ?? []) lists[row.place]?.push(row);
    for (const [place, rows] of lists.entries()) {
      if (rows.length > 0) states.set(part[place] as AccountId, toStates(rows));
    }
  }
  return states;
}

function statesText(database: KnexDatabase, accounts: number, limit: number): string {
  const lists = Array.from({ length: accounts }, (_, place) =>
    listed(database, [`${place} AS place`, "id", "status", "credits_charged", "created_at"], "", String(limit)),
  );
  const jobs = accounts === 1 ? lists.join("") : database.dialect.unionAll(lists);
  return `SELECT j.place, j.id, j.created_at, ${VERSION} FROM (${jobs}) j LEFT JOIN {tracks} t ON t.job_id = j.id`;
}

/** @param rows of one list, in the order in which the database found them */
function toStates(rows: StateRow[]): ShownState[] {
  rows.sort((a, b) => b.created_at - a.created_at || (a.id === b.id ? byVersion(a, b) : a.id < b.id ? 1 : -1));
  const states: { readonly id: JobId; readonly createdAt: number; version: string }[] = [];
  for (const { id, created_at: createdAt, version } of rows) {
    const last = states.at(-1);
    if (last?.id === id) last.version += `\n${version}`;
    else states.push({ id, createdAt, version });
  }
  return states;
}

/** @param parts of one job */
function versionOf(parts: readonly VersionPart[]): string {
  return parts
    .toSorted(byVersion)
    .map(({ version }) => version)
    .join("\n");
}

function byVersion(a: VersionPart, b: VersionPart): number {
  return a.version < b.version ? -1 : 1;
}

function listed({ dialect }: KnexDatabase, columns: readonly string[], behind: string, limit: string): string {
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
