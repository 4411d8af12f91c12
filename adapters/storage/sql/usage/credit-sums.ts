import type { AccountId } from "../../../../core/ids.js";
import { isFinal, type JobKind, type JobState } from "../../../../core/jobs/job.js";
import type { JobUpdate } from "../../../../core/ports/job-store.js";
import type { CreditsQuery } from "../../../../core/ports/request-log-store.js";
import type { Transaction } from "../../../../core/ports/unit-of-work.js";
import type { KnexDatabase } from "../database.js";
import type { Dialect } from "../dialect.js";
import { CREDITS_SUMMED_UP_TO } from "../migrations/0054-credit-sums.js";
import { groupBy, marksOf, paddedLists } from "../lists.js";
import { deleteFound } from "../rows.js";
import { columnsOf, type Session, sessionOf, type SqlValue } from "../session.js";
import { plain, type RowOf, table } from "../table.js";
import { ALL_CLIENTS, keyOfClient } from "./clients.js";
import { cutWindow, SPAN_MS } from "./count-spans.js";
import { edgeCreditsStatement, liveCreditsStatement, RESERVED, type Statement } from "./request-log-statements.js";

/** What ended jobs cost, by the hour in which their request arrived; jobs without a request are in none. */
export const CREDIT_SUMS = table(
  "credit_sums",
  {
    accountId: plain<AccountId>(),
    /** As in the counts of requests: those of all clients are summed together, those of a client once more. */
    client: plain<string>(),
    startsAt: plain<number>(),
    kind: plain<JobKind>(),
    used: plain<number>(),
    refunded: plain<number>(),
  },
  ["accountId", "client", "startsAt", "kind"],
);
export type CreditSumRow = RowOf<typeof CREDIT_SUMS>;

/** What names a job as it is. */
type JobName = Pick<JobState, "id" | "fence">;

/** What came back of a job that has ended. */
export const REFUNDED = `CASE WHEN j.status = 'failed' THEN ${RESERVED} ELSE 0 END`;
const KEY = CREDIT_SUMS.key.join(", ");
const OF_KEY = CREDIT_SUMS.key.map((column) => `${column} = ?`).join(" AND ");
const DELETE = `DELETE FROM {credit_sums} WHERE ${OF_KEY}`;
const FIND_PLACE = "SELECT 1 FROM {installation} WHERE name = ?";

/** How much ended jobs cost in each hour, so that no query has to sum up the jobs. */
export class CreditSumTable {
  private isComplete = false;

  constructor(private readonly database: KnexDatabase) {}

  /** Whether all ended jobs are in the sums; after that it stays so. */
  async covers(): Promise<boolean> {
    this.isComplete ||= (await this.database.all(FIND_PLACE, [CREDITS_SUMMED_UP_TO])).length === 0;
    return this.isComplete;
  }

  /**
   * What sums up the credits of a window: whole hours by their sums and by the jobs that have not ended, which are few,
   * what is left at either end by its jobs.
   */
  statements(query: Omit<CreditsQuery, "status">): Statement[] {
    const { dialect } = this.database;
    const { edges, whole } = cutWindow(query);
    const ofEdges = edges.map((edge) => edgeCreditsStatement(dialect, { ...query, ...edge }));
    const [first, last] = [whole[0], whole.at(-1)];
    if (first === undefined || last === undefined) return ofEdges;
    const hours = { ...query, from: first.from, to: last.to };
    return [this.sumStatement(hours), liveCreditsStatement(dialect, hours), ...ofEdges];
  }

  /** Deletes sums of hours that began before a moment. */
  deleteOld(tx: Transaction, begunBefore: number, limit: number): Promise<number> {
    const { dialect } = this.database;
    const find =
      `SELECT ${KEY} FROM {credit_sums}${dialect.useIndex("credit_sums_age")} WHERE starts_at < ? ` +
      `ORDER BY starts_at LIMIT ?${dialect.forClaim}`;
    return deleteFound<CreditSumRow>(sessionOf(tx), [find, [begunBefore, limit]], DELETE, keyOf);
  }

  private sumStatement({ accountId, client, from, to, kind }: Omit<CreditsQuery, "status">): Statement {
    const ofKind = kind === undefined ? "" : " AND kind = ?";
    const text =
      "SELECT COALESCE(SUM(used), 0) AS used, COALESCE(SUM(refunded), 0) AS refunded " +
      `FROM {credit_sums}${this.database.dialect.usePrimaryKey} ` +
      `WHERE account_id = ? AND client = ? AND starts_at >= ? AND starts_at < ?${ofKind}`;
    const of = client === undefined ? ALL_CLIENTS : keyOfClient(client);
    return { text, values: [accountId, of, from, to, ...(kind === undefined ? [] : [kind])] };
  }
}

/**
 * Adds what jobs cost that end with the statements behind this one, where their fences hold. The account's balance is
 * locked wherever a job ends: no two transactions meet at these rows. All statements are given in this tick.
 */
export function addEnding(session: Session, dialect: Dialect, updates: readonly JobUpdate[]): Promise<void> {
  const statements = (["completed", "failed"] as const).flatMap((status) => {
    const jobs = updates.filter(({ changes }) => changes.status === status);
    return addingStatements(dialect, jobs, { refunded: status === "failed" ? RESERVED : "0", isLive: true });
  });
  return writeAll(session, statements);
}

/** Adds what jobs cost that have ended, and are in no sum yet. */
export function addEnded(session: Session, dialect: Dialect, jobs: readonly JobState[]): Promise<void> {
  const ended = jobs.filter(({ status }) => isFinal(status));
  return writeAll(session, addingStatements(dialect, ended, { refunded: REFUNDED, isLive: false }));
}

async function writeAll(session: Session, statements: readonly Statement[]): Promise<void> {
  await Promise.all(statements.map(({ text, values }) => session.writeEach(text, [values])));
}

function addingStatements(
  dialect: Dialect,
  jobs: readonly JobName[],
  { refunded, isLive }: { readonly refunded: string; readonly isLive: boolean },
): Statement[] {
  const live = isLive ? "j.status IN ('queued', 'processing') AND " : "";
  const index = dialect.usePrimaryKey;
  // Most were claimed once. Pairs of an id and a fence take the server half as long again.
  return [...groupBy(jobs, ({ fence }) => fence)].flatMap(([fence, alike]) =>
    paddedLists(alike.map(({ id }) => id)).map((ids): Statement => {
      const where = `${live}j.fence = ? AND j.id IN (${marksOf(ids.length)})`;
      return { text: addingStatement(dialect, { index, where, refunded }), values: [fence, ...ids] };
    }),
  );
}

/** @param where which jobs, each named `j` */
export function addingStatement(
  { addingClause }: Pick<Dialect, "addingClause">,
  { index, where, refunded }: { readonly index: string; readonly where: string; readonly refunded: string },
): string {
  const client = `CASE WHEN own.is_own = 0 THEN '${ALL_CLIENTS}' ELSE CONCAT('${keyOfClient("")}', j.client) END`;
  return (
    `INSERT INTO {credit_sums} (${columnsOf(CREDIT_SUMS)}) ` +
    `SELECT j.account_id, ${client}, j.requested_at - j.requested_at % ${SPAN_MS.hour}, j.kind, ` +
    `SUM(${RESERVED}), SUM(${refunded}) ` +
    `FROM {jobs} AS j${index} CROSS JOIN (SELECT 0 AS is_own UNION ALL SELECT 1 AS is_own) AS own ` +
    `WHERE (own.is_own = 0 OR j.client IS NOT NULL) AND j.requested_at IS NOT NULL AND ${where} ` +
    `GROUP BY 1, 2, 3, 4${addingClause(CREDIT_SUMS)}`
  );
}

function keyOf(row: CreditSumRow): SqlValue[] {
  return CREDIT_SUMS.key.map((column) => row[column]);
}
