import type { RequestId } from "../../../../core/ids.js";
import type { ListPosition } from "../../../../core/ports/list-page.js";
import type { CreditsQuery as AnyCreditsQuery, RequestQuery } from "../../../../core/ports/request-log-store.js";
import { FAILED_STATUS } from "../../../../core/ports/request-log.js";
import type { Dialect } from "../dialect.js";
import type { SqlValue } from "../session.js";

export interface Statement {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

const BEHIND = "AND (created_at < ? OR id < ?)";

type UsesIndex = Pick<Dialect, "useIndex">;
type CreditsQuery = Omit<AnyCreditsQuery, "status">;

/**
 * The ids of the newest rows, the newest first. All filters stand in the index: MariaDB would look up each row before
 * it compares.
 */
export function pageStatement(
  dialect: UsesIndex,
  query: RequestQuery,
  limit: number,
  after: ListPosition<RequestId> | null,
): Statement {
  const { text, values } = rowsOf(dialect, query);
  const position = after === null ? [] : [after.createdAt, after.id];
  return {
    text: `SELECT id ${text} ${after === null ? "" : BEHIND} ORDER BY created_at DESC, id DESC LIMIT ?`,
    values: [...values, ...position, limit],
  };
}

/**
 * The time of a query, without what is newer than a position. This bound is what the index begins at: engines make
 * nothing of the OR that tells requests of the same moment apart.
 */
export function timeBehind(query: RequestQuery, after: ListPosition | null): RequestQuery {
  return after === null ? query : { ...query, to: Math.min(query.to, after.createdAt + 1) };
}

export function countStatement(dialect: UsesIndex, query: RequestQuery): Statement {
  const { text, values } = rowsOf(dialect, query);
  return {
    text: `SELECT COUNT(*) AS requests, COALESCE(SUM(status >= ${FAILED_STATUS}), 0) AS failed ${text}`,
    values,
  };
}

/** Whether rows that stand for several requests may fit: all of them have the status 429. */
export function mayBeMerged({ status }: RequestQuery): boolean {
  return status === undefined || status === 429;
}

/** How many more requests there are than rows. */
export function mergedStatement(dialect: UsesIndex, { accountId, from, to, client, route }: RequestQuery): Statement {
  const conditions: string[] = ["account_id = ?", "merged_at >= ?", "merged_at < ?"];
  const values: SqlValue[] = [accountId, from, to];
  for (const [column, value] of Object.entries({ client, route })) {
    if (value === undefined) continue;
    conditions.push(`${column} = ?`);
    values.push(value);
  }
  const index = dialect.useIndex("request_log_merged");
  const text =
    "SELECT COALESCE(SUM(request_count - 1), 0) AS requests, COALESCE(SUM(request_count - 1), 0) AS failed " +
    `FROM {request_log}${index} ` +
    `WHERE ${conditions.join(" AND ")}`;
  return { text, values };
}

/**
 * When the row arrived that has `newer` rows before it in the index: those that other filters leave out are rows to
 * look at too.
 */
export function stepStatement(dialect: UsesIndex, query: RequestQuery, newer: number): Statement {
  const { accountId, from, to } = query;
  const member = leadingFilter(query);
  const { text, values } = rowsOf(dialect, {
    accountId,
    from,
    to,
    ...(member === null ? {} : { [member]: query[member] }),
  });
  return {
    text: `SELECT created_at ${text} ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET ?`,
    values: [...values, newer],
  };
}

/** True when an index leads straight to what fits: it has passed over no other row. */
export function isIndexed({ client, route, status }: RequestQuery): boolean {
  return [client, route, status].filter((value) => value !== undefined).length <= 1;
}

function rowsOf(dialect: UsesIndex, query: RequestQuery): Statement {
  const { accountId, from, to, client, route, status } = query;
  const conditions: string[] = ["account_id = ?", "created_at >= ?", "created_at < ?"];
  const values: SqlValue[] = [accountId, from, to];
  for (const [column, value] of Object.entries({ client, route, status })) {
    if (value === undefined) continue;
    conditions.push(`${column} = ?`);
    values.push(value);
  }
  // Each index holds the columns of all filters that lead to it. Left to themselves both engines take others: they
  // sort, or look at every row.
  const index = dialect.useIndex(`request_log_${leadingFilter(query) ?? "account"}`);
  return { text: `FROM {request_log}${index} WHERE ${conditions.join(" AND ")}`, values };
}

/** The filter whose index a query uses. */
function leadingFilter({ client, route, status }: RequestQuery): "client" | "route" | "status" | null {
  if (client !== undefined) return "client";
  if (route !== undefined) return "route";
  return status === undefined ? null : "status";
}

export const RESERVED = "j.reserved_monthly + j.reserved_pack";

/** What requests reserved, or what of that came back, with their rows or without. */
export function creditsStatement(
  dialect: UsesIndex,
  { accountId, from, to, ...filters }: CreditsQuery,
  { refundedOnly }: { readonly refundedOnly: boolean },
): Statement {
  const index = dialect.useIndex(refundedOnly ? "jobs_account" : "jobs_usage");
  const conditions: string[] = ["j.account_id = ?", "j.requested_at >= ?", "j.requested_at < ?"];
  const values: SqlValue[] = [accountId, from, to];
  if (refundedOnly) {
    // No job is older than its request.
    conditions.push("j.status = 'failed'", "j.created_at >= ?");
    values.push(from);
  }
  const filtered = filteredBy(filters);
  conditions.push(...filtered.conditions);
  values.push(...filtered.values);
  return {
    text: `SELECT COALESCE(SUM(${RESERVED}), 0) AS credits FROM {jobs} AS j${index} WHERE ${conditions.join(" AND ")}`,
    values,
  };
}

/** What requests of a short time reserved and what of that came back: each job's row is read. */
export function edgeCreditsStatement(dialect: UsesIndex, query: CreditsQuery): Statement {
  const text = `SELECT COALESCE(SUM(${RESERVED}), 0) AS used,
      COALESCE(SUM(CASE WHEN j.status = 'failed' THEN ${RESERVED} ELSE 0 END), 0) AS refunded
    FROM {jobs} AS j${dialect.useIndex("jobs_usage")} WHERE`;
  return requestedIn(text, query);
}

/** What jobs of requests have reserved that have not ended. */
export function liveCreditsStatement(dialect: UsesIndex, query: CreditsQuery): Statement {
  const text = `SELECT COALESCE(SUM(${RESERVED}), 0) AS used, 0 AS refunded
    FROM {jobs} AS j${dialect.useIndex("jobs_account")} WHERE j.status IN ('queued', 'processing') AND`;
  return requestedIn(text, query);
}

function requestedIn(text: string, { accountId, from, to, ...filters }: CreditsQuery): Statement {
  const { conditions, values } = filteredBy(filters);
  const requested = ["j.account_id = ?", "j.requested_at >= ?", "j.requested_at < ?"];
  return { text: `${text} ${[...requested, ...conditions].join(" AND ")}`, values: [accountId, from, to, ...values] };
}

/** What requests reserved and what of that came back, of those whose rows have statuses from one to another. */
export function creditsByStatusStatement(
  dialect: UsesIndex,
  { accountId, from, to, ...filters }: CreditsQuery,
  [lowest, highest]: readonly [lowest: number, highest: number],
): Statement {
  // A CROSS JOIN keeps SQLite from beginning with the jobs: these rows are few.
  const text = `SELECT COALESCE(SUM(${RESERVED}), 0) AS used,
      COALESCE(SUM(CASE WHEN j.status = 'failed' THEN ${RESERVED} ELSE 0 END), 0) AS refunded
    FROM {request_log} AS r${dialect.useIndex("request_log_status")}
    CROSS JOIN {jobs} AS j${dialect.useIndex("jobs_usage")}
      ON j.account_id = r.account_id AND j.requested_at = r.created_at AND j.request_id = r.id
    WHERE r.account_id = ? AND r.status BETWEEN ? AND ? AND r.created_at >= ? AND r.created_at < ?`;
  const { conditions, values } = filteredBy(filters);
  return {
    text: [text, ...conditions].join(" AND "),
    values: [accountId, lowest, highest, from, to, ...values],
  };
}

/** Conditions on the jobs. */
function filteredBy({ client, kind }: Pick<CreditsQuery, "client" | "kind">): {
  readonly conditions: readonly string[];
  readonly values: readonly SqlValue[];
} {
  const given = Object.entries({ client, kind }).filter(([, value]) => value !== undefined);
  return { conditions: given.map(([column]) => `j.${column} = ?`), values: given.map(([, value]) => value as string) };
}
