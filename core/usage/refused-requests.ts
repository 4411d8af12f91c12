import type { RequestId } from "../ids.js";
import { CREDITS_ROUTES, type LoggedRequest } from "../ports/request-log.js";

/**
 * Refused requests of an account, kind of limit and minute that are logged with a row of their own, by each process.
 */
export const REFUSED_ROWS_MAX = 20;

const REFUSED_STATUS = 429;
const MINUTE_MS = 60_000;

interface Tally {
  readonly minute: number;
  seen: number;
  /** What stands for all beyond {@link REFUSED_ROWS_MAX}: the first of them, and how many they are. */
  row: LoggedRequest | null;
}

/**
 * Merges requests that a rate limit refused: a flood of them must not become a flood of rows. Beyond
 * {@link REFUSED_ROWS_MAX} of one account, kind of limit and minute, one row counts the rest.
 */
export class RefusedRequests {
  private readonly tallies = new Map<string, Tally>();
  private readonly unwritten = new Map<RequestId, LoggedRequest>();
  private latestMinute = 0;

  get isWritten(): boolean {
    return this.unwritten.size === 0;
  }

  /** @returns true when the request is counted here and needs no row of its own */
  merge(request: LoggedRequest): boolean {
    if (request.status !== REFUSED_STATUS) return false;
    const minute = Math.floor(request.createdAt / MINUTE_MS);
    this.forgetBefore(minute);
    const key = `${request.accountId} ${kindOf(request)} ${minute}`;
    const tally = this.tallies.get(key) ?? { minute, seen: 0, row: null };
    this.tallies.set(key, tally);
    tally.seen += 1;
    if (tally.seen <= REFUSED_ROWS_MAX) return false;
    tally.row = tally.row === null ? request : { ...tally.row, count: tally.row.count + request.count };
    this.unwritten.set(tally.row.id, tally.row);
    return true;
  }

  /** Rows that have changed since they were last written; a row is written again under its id whenever it has grown. */
  changed(limit: number): LoggedRequest[] {
    return [...this.unwritten.values()].slice(0, limit);
  }

  /** Those of the rows that have not grown meanwhile are done. */
  wereWritten(rows: readonly LoggedRequest[]): void {
    for (const row of rows) if (this.unwritten.get(row.id) === row) this.unwritten.delete(row.id);
  }

  /** A request that ended late may still belong to the minute before. */
  private forgetBefore(minute: number): void {
    if (minute <= this.latestMinute) return;
    this.latestMinute = minute;
    for (const [key, tally] of this.tallies) if (tally.minute < minute - 1) this.tallies.delete(key);
  }
}

/** The kind of limit that a request draws on. @see decisions, "Rate limits" */
function kindOf({ method, route }: LoggedRequest): "read" | "generation" | "write" {
  if (method === "GET" || method === "HEAD") return "read";
  return method === "POST" && Object.hasOwn(CREDITS_ROUTES, route) ? "generation" : "write";
}
