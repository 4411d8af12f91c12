import type { AccountId, RequestId } from "../ids.js";
import type { JobKind } from "../jobs/job.js";
import type { ListPosition } from "./list-page.js";
import type { LoggedRequest } from "./request-log.js";
import type { Transaction } from "./unit-of-work.js";

/** Which of an account's requests; all that is given must fit, byte by byte. */
export interface RequestQuery {
  readonly accountId: AccountId;
  /** Arrived at this moment or later. */
  readonly from: number;
  /** Arrived before this moment. */
  readonly to: number;
  readonly client?: string | undefined;
  readonly route?: string | undefined;
  /** The HTTP status. */
  readonly status?: number | undefined;
}

/** Which of an account's requests that created jobs. */
export interface CreditsQuery extends Omit<RequestQuery, "route"> {
  /** Of the jobs; all by default. */
  readonly kind?: JobKind | undefined;
}

export interface RequestCounts {
  readonly requests: number;
  /** Those of status 400 and above. */
  readonly failed: number;
}

/** Requests of an hour that had one route and one status. */
export interface CountedRequests {
  /** When the hour began. */
  readonly startsAt: number;
  readonly route: string;
  readonly status: number;
  readonly count: number;
}

/** Whole credits by the ledger, not by the log: a missing row takes none away. */
export interface RequestCredits {
  /** Credits reserved for the jobs that requests created; a replay creates none. */
  readonly used: number;
  /** What of that came back. */
  readonly refunded: number;
}

/**
 * One row for each authenticated request, and what requests cost. Rows are written late and may be lost; credits are
 * those of the jobs that requests created. Jobs without a request are not counted here. Selected by `storage.url`.
 */
export interface RequestLogStore {
  /**
   * Adds rows, and counts them. Repeating a row changes nothing; one whose `count` has grown takes the place of what is
   * there.
   *
   * @param options `areNew`: none of these rows was given to a transaction before, so that none is looked for. Where
   *   one is there all the same, the transaction fails as one that lost a race, and writes nothing
   */
  insert(tx: Transaction, requests: readonly LoggedRequest[], options?: { readonly areNew: boolean }): Promise<void>;

  /** Newest first (`createdAt`, then `id`, both descending); only those behind `after`, where it is given. */
  list(query: RequestQuery, limit: number, after?: ListPosition<RequestId> | null): Promise<LoggedRequest[]>;

  /**
   * The `count` of all rows together: whole hours and days as they were counted when they came, the rows themselves
   * where the window begins and ends. A window that begins before what {@link deleteOld} has deleted may count some of
   * that too.
   */
  count(query: RequestQuery): Promise<RequestCounts>;

  /**
   * What is counted of an account by hours, the oldest first, then by route and status; only what is behind `after`,
   * where it is given.
   */
  listCounts(accountId: AccountId, limit: number, after?: CountedRequests | null): Promise<CountedRequests[]>;

  /**
   * Counts at most `limit` rows that were not counted as they came: from before that was done, and for a day after an
   * upgrade those that processes of the version before write. Until then `count` counts rows, in steps between which
   * others get their turn.
   *
   * @returns whether there may be more now
   */
  countNext(tx: Transaction, now: number, limit: number): Promise<boolean>;

  /** Deletes rows of requests that arrived before a moment, the oldest first, at most `limit`. @returns how many */
  deleteOld(tx: Transaction, createdBefore: number, limit: number): Promise<number>;

  /** Deletes counts of hours and days that began before a moment, at most `limit`. @returns how many */
  deleteOldCounts(tx: Transaction, begunBefore: number, limit: number): Promise<number>;

  /**
   * Sums up at most about `limit` jobs that ended before their credits were summed as they end, beginning a day after
   * an upgrade, when no process of the version before ends jobs any more. Until then `sumCredits` sums job by job.
   *
   * @returns whether there may be more now
   */
  sumNextCredits(tx: Transaction, now: number, limit: number): Promise<boolean>;

  /** Deletes sums of credits of hours that began before a moment, at most `limit`. @returns how many */
  deleteOldCredits(tx: Transaction, begunBefore: number, limit: number): Promise<number>;

  /** What each of these requests cost; those that created no job are left out. */
  creditsOf(
    requests: readonly Pick<LoggedRequest, "id" | "accountId" | "createdAt">[],
  ): Promise<Map<RequestId, RequestCredits>>;

  /**
   * What all requests of the query cost together: whole hours as they were summed when their jobs ended, the jobs
   * themselves where they have not, and where the window begins and ends. A window that begins before what
   * {@link deleteOldCredits} has deleted lacks that. A request's client is its job's. Its status is 202, unless its row
   * says 499 or above: no other status is that of a request that created a job.
   */
  sumCredits(query: CreditsQuery): Promise<RequestCredits>;
}
