import { type AccountId, firstIdAt, type RequestId } from "../../../../core/ids.js";
import type { CountedRequests, RequestQuery } from "../../../../core/ports/request-log-store.js";
import { FAILED_STATUS, type LoggedRequest } from "../../../../core/ports/request-log.js";
import type { Transaction } from "../../../../core/ports/unit-of-work.js";
import type { KnexDatabase } from "../database.js";
import { allIn, inChunks } from "../lists.js";
import { COUNTED_UP_TO, type CountedUpTo } from "../migrations/0050-request-counts.js";
import { deleteFound } from "../rows.js";
import { columnsOf, type Session, sessionOf, type SqlValue } from "../session.js";
import { fromJson, named, plain, type RowOf, table } from "../table.js";
import { ALL_CLIENTS, keyOfClient } from "./clients.js";
import { type CountSpan, type CutWindow, SPAN_MS, startOf } from "./count-spans.js";
import type { Statement } from "./request-log-statements.js";
import { REQUEST_LOG, type RequestRow, toLoggedRequest } from "./request-log-table.js";

export const REQUEST_COUNTS = table(
  "request_counts",
  {
    accountId: plain<AccountId>(),
    /** {@link ALL_CLIENTS}, or `=` and the client. */
    client: plain<string>(),
    span: plain<CountSpan>(),
    startsAt: plain<number>(),
    route: plain<string>(),
    status: plain<number>(),
    count: named("requests", plain<number>()),
  },
  ["accountId", "client", "span", "startsAt", "route", "status"],
);
export type CountRow = RowOf<typeof REQUEST_COUNTS>;

const KEY = REQUEST_COUNTS.key.join(", ");
const FIND_PLACE = "SELECT value FROM {installation} WHERE name = ?";
const WRITE_PLACE = "UPDATE {installation} SET value = ? WHERE name = ?";
const DELETE_PLACE = "DELETE FROM {installation} WHERE name = ?";
const LIST = `SELECT ${columnsOf(REQUEST_COUNTS)} FROM {request_counts} WHERE account_id = ? AND client = '*'
  AND span = 'hour' AND starts_at >= ? AND (starts_at > ? OR route > ? OR (route = ? AND status > ?))
  ORDER BY starts_at, route, status LIMIT ?`;
const NEXT_ROWS = `SELECT ${columnsOf(REQUEST_LOG)} FROM {request_log} WHERE id > ? ORDER BY id LIMIT ?`;
const MARK_COUNTED = "UPDATE {request_log} SET is_counted = 1 WHERE id > ? AND id <= ? AND is_counted IS NULL";
const OF_KEY = REQUEST_COUNTS.key.map((column) => `${column} = ?`).join(" AND ");
const DELETE = `DELETE FROM {request_counts} WHERE ${OF_KEY}`;

/** The time before an upgrade is over whose rows may have been written late, out of the order of their ids. */
const LAST_ROUND_MS = 2 * SPAN_MS.day;

const BEGINNING = { startsAt: 0, route: "", status: 0 } as const;

type LoggedCount = Pick<RequestRow, "id" | "request_count" | "is_counted">;
type Countable = Pick<LoggedRequest, "accountId" | "createdAt" | "client" | "route" | "status" | "count">;

/** How many requests there were in each hour and each day, so that no query has to count the log. */
export class RequestCountTable {
  private isComplete = false;

  constructor(private readonly database: KnexDatabase) {}

  /** Adds what these requests add to the log: to be called before they are written to it, in the same transaction. */
  async add(tx: Transaction, requests: readonly LoggedRequest[]): Promise<void> {
    const session = sessionOf(tx);
    const { usePrimaryKey, forUpdate } = this.database.dialect;
    // A row that is there is counted already, up to its count. Where its commit is still under way, this waits for it.
    const find = (marks: string): string =>
      `SELECT id, request_count, is_counted FROM {request_log}${usePrimaryKey} WHERE id IN (${marks})${forUpdate}`;
    const ids = requests.map(({ id }) => id).sort();
    const found = await allIn<LoggedCount>(session, find, ids);
    const counted = new Map<RequestId, number>();
    for (const row of found) counted.set(row.id, row.is_counted === null ? 0 : (row.request_count ?? 1));
    const latest = new Map(requests.map((request) => [request.id, request]));
    const added = [...latest.values()].map((request) => ({
      ...request,
      count: request.count - (counted.get(request.id) ?? 0),
    }));
    await addCounts(session, added);
  }

  /** The same for requests of which the log has none. */
  addNew(tx: Transaction, requests: readonly LoggedRequest[]): Promise<void> {
    return addCounts(sessionOf(tx), requests);
  }

  /** Whether all of the log is counted; after that it stays so. */
  async covers(): Promise<boolean> {
    this.isComplete ||= (await this.database.all(FIND_PLACE, [COUNTED_UP_TO])).length === 0;
    return this.isComplete;
  }

  /** What sums up the requests in whole spans. */
  statements(query: RequestQuery, spans: CutWindow["whole"]): Statement[] {
    return spans.map((span) => this.sumStatement(query, span));
  }

  async list(accountId: AccountId, limit: number, after: CountedRequests | null): Promise<CountedRequests[]> {
    const { startsAt, route, status } = after ?? BEGINNING;
    const values = [accountId, startsAt, startsAt, route, route, status, limit];
    const rows = await this.database.all<CountRow>(LIST, values);
    return rows.map((row) => ({
      startsAt: row.starts_at,
      route: row.route,
      status: row.status,
      count: row.requests,
    }));
  }

  /** Counts rows of the log that were not counted as they came. */
  async countNext(tx: Transaction, now: number, limit: number): Promise<boolean> {
    const session = sessionOf(tx);
    const { forUpdate } = this.database.dialect;
    const [found] = await session.all<{ readonly value: string }>(FIND_PLACE + forUpdate, [COUNTED_UP_TO]);
    if (found === undefined) return false;
    const place = fromJson<CountedUpTo>(found.value);
    const rows = await session.all<RequestRow>(NEXT_ROWS + forUpdate, [place.id, limit]);
    const last = rows.at(-1)?.id ?? place.id;
    const uncounted = rows.filter(({ is_counted: isCounted }) => isCounted === null);
    if (uncounted.length > 0) await session.run(MARK_COUNTED, [place.id, last]);
    const write = (next: CountedUpTo): Promise<unknown> =>
      session.run(WRITE_PLACE, [JSON.stringify(next), COUNTED_UP_TO]);
    const isAtEnd = rows.length < limit;
    const beginsLast = isAtEnd && now >= place.others && !place.isLast;
    if (beginsLast) await write({ ...place, isLast: true, id: firstIdAt("req", place.others - LAST_ROUND_MS) });
    else if (isAtEnd && place.isLast) await session.run(DELETE_PLACE, [COUNTED_UP_TO]);
    else if (last !== place.id) await write({ ...place, id: last });
    await addCounts(session, uncounted.map(toLoggedRequest));
    return beginsLast || !isAtEnd;
  }

  /** Deletes counts of spans that began before a moment. */
  deleteOld(tx: Transaction, begunBefore: number, limit: number): Promise<number> {
    const { dialect } = this.database;
    const find =
      `SELECT ${KEY} FROM {request_counts}${dialect.useIndex("request_counts_age")} WHERE starts_at < ? ` +
      `ORDER BY starts_at LIMIT ?${dialect.forClaim}`;
    return deleteFound<CountRow>(sessionOf(tx), [find, [begunBefore, limit]], DELETE, keyOf);
  }

  private sumStatement(
    { accountId, client, route, status }: RequestQuery,
    { span, from, to }: CutWindow["whole"][number],
  ): Statement {
    const filters = Object.entries({ route, status }).filter(([, value]) => value !== undefined);
    const conditions = ["account_id = ?", "client = ?", "span = ?", "starts_at >= ?", "starts_at < ?"];
    const text =
      "SELECT COALESCE(SUM(requests), 0) AS requests, " +
      `COALESCE(SUM(CASE WHEN status >= ${FAILED_STATUS} THEN requests ELSE 0 END), 0) AS failed ` +
      `FROM {request_counts}${this.database.dialect.usePrimaryKey} ` +
      `WHERE ${[...conditions, ...filters.map(([column]) => `${column} = ?`)].join(" AND ")}`;
    const of = client === undefined ? ALL_CLIENTS : keyOfClient(client);
    return { text, values: [accountId, of, span, from, to, ...filters.map(([, value]) => value as SqlValue)] };
  }
}

async function addCounts(session: Session, requests: readonly Countable[]): Promise<void> {
  for await (const chunk of inChunks(countsOf(requests))) await session.upsertSums(REQUEST_COUNTS, chunk);
}

/** What requests add, in one order: transactions that write the same rows never wait for each other in a circle. */
export function countsOf(requests: readonly Countable[]): CountRow[] {
  const rows = new Map<string, CountRow>();
  for (const { request, hour, count } of byHour(requests)) {
    const clients = request.client === null ? [ALL_CLIENTS] : [ALL_CLIENTS, keyOfClient(request.client)];
    for (const client of clients)
      for (const span of ["day", "hour"] as const) addTo(rows, request, client, span, startOf(hour, span), count);
  }
  return [...rows.keys()].sort().map((key) => rows.get(key) as CountRow);
}

/** Named one by one: a spread, a loop over columns and a join cost a request more than its row. */
function addTo(
  rows: Map<string, CountRow>,
  { accountId, route, status }: Countable,
  client: string,
  span: CountSpan,
  startsAt: number,
  count: number,
): void {
  // The values of the primary key, in its order.
  const key = `${accountId}\0${client}\0${span}\0${startsAt}\0${route}\0${status}`;
  const row = rows.get(key);
  if (row !== undefined) row.requests += count;
  else rows.set(key, { account_id: accountId, client, span, starts_at: startsAt, route, status, requests: count });
}

interface HourSum {
  readonly request: Countable;
  readonly hour: number;
  count: number;
}

/** Requests that differ in nothing that is counted, as one of them with the sum: a batch has few of these. */
function byHour(requests: readonly Countable[]): Iterable<HourSum> {
  const sums = new Map<string, HourSum>();
  for (const request of requests) {
    if (request.count === 0) continue;
    const { accountId, createdAt, client, route, status, count } = request;
    const hour = startOf(createdAt, "hour");
    const key = `${accountId}\0${hour}\0${status}\0${route}\0${client === null ? "" : keyOfClient(client)}`;
    const sum = sums.get(key);
    if (sum === undefined) sums.set(key, { request, hour, count });
    else sum.count += count;
  }
  return sums.values();
}

function keyOf(row: CountRow): SqlValue[] {
  return REQUEST_COUNTS.key.map((column) => row[column]);
}
