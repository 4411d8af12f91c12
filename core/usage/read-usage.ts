import type { AccountId, RequestId } from "../ids.js";
import { ListCursors, newestFirst } from "../lists/cursors.js";
import { firstOf, type PageRequest } from "../lists/pages.js";
import type { Clock } from "../ports/clock.js";
import type { Digest } from "../ports/digest.js";
import type { ListPage, ListPosition } from "../ports/list-page.js";
import type { RequestCounts, RequestCredits, RequestLogStore, RequestQuery } from "../ports/request-log-store.js";
import type { RecordRequests } from "./record-requests.js";
import { CREDITS_ROUTES, LOG_KEPT_MS, type LoggedRequest } from "../ports/request-log.js";

export const LOGS_LIMIT = { default: 50, minimum: 1, maximum: 100 } as const;

/** How many requests a usage report shows one by one. */
export const USAGE_LIMIT = { default: 100, minimum: 1, maximum: 100 } as const;

/** Which requests a report is about; those of the last 30 days by default. */
export interface UsageFilter {
  /** Arrived at this moment or later; rows older than 30 days are not returned. */
  readonly from?: number | undefined;
  /** Arrived before this moment. */
  readonly to?: number | undefined;
  readonly client?: string | undefined;
  /** The path's template. */
  readonly route?: string | undefined;
  readonly status?: number | undefined;
}

export interface UsageEvent extends RequestCredits {
  readonly request: LoggedRequest;
}

export interface UsageReport {
  /** Of everything that fits the filter. */
  readonly summary: RequestCounts & RequestCredits;
  /** The newest first. */
  readonly events: ListPage<UsageEvent, string>;
}

const NO_CREDITS: RequestCredits = { used: 0, refunded: 0 };

export interface ReadUsageDeps {
  readonly log: RequestLogStore;
  readonly recorder: Pick<RecordRequests, "flush">;
  readonly clock: Clock;
  readonly digest: Pick<Digest, "sha256">;
}

/**
 * An account's own view of its requests. Those that this process served are all there; those of other processes follow
 * within a second.
 *
 * @see decisions, "Usage, logs"
 */
export class ReadUsage {
  private readonly logCursors: ListCursors<ListPosition<RequestId>>;
  private readonly usageCursors: ListCursors<ListPosition<RequestId>>;

  constructor(private readonly deps: ReadUsageDeps) {
    this.logCursors = new ListCursors(deps.digest, "logs", newestFirst("req"));
    this.usageCursors = new ListCursors(deps.digest, "usage", newestFirst("req"));
  }

  /**
   * The requests of an account that fit a filter: the sums of all, and some of them one by one, the newest first.
   *
   * @throws {InvalidRequestError} the cursor is none of these requests
   */
  async usage(accountId: AccountId, filter: UsageFilter, request: PageRequest = {}): Promise<UsageReport> {
    const { limit = USAGE_LIMIT.default, cursor } = request;
    const { from, to, client, route, status } = filter;
    const scope = { accountId, filters: { from, to, client, route, status } };
    const after = this.usageCursors.read(cursor, scope);
    await this.deps.recorder.flush();
    const { log } = this.deps;
    const window = {
      accountId,
      from: Math.max(from ?? 0, this.oldest()),
      to: to ?? Number.MAX_SAFE_INTEGER,
      client,
      status,
    };
    const query: RequestQuery = { ...window, route };
    const { items, next } = firstOf(await log.list(query, limit + 1, after), limit);
    const costs = await log.creditsOf(items.filter(mayCost));
    const counts = await log.count(query);
    // Any text comes in here, also the name of what every object has.
    const kind = route !== undefined && Object.hasOwn(CREDITS_ROUTES, route) ? CREDITS_ROUTES[route] : undefined;
    const credits = route !== undefined && kind === undefined ? NO_CREDITS : await log.sumCredits({ ...window, kind });
    return {
      summary: { ...counts, ...credits },
      events: {
        items: items.map((request) => ({ request, ...(costs.get(request.id) ?? NO_CREDITS) })),
        next: this.usageCursors.write(next, scope),
      },
    };
  }

  /**
   * An account's requests, newest first; 50 where no limit is given.
   *
   * @throws {InvalidRequestError} the cursor is none of this list
   */
  async logs(accountId: AccountId, request: PageRequest = {}): Promise<ListPage<LoggedRequest, string>> {
    const { limit = LOGS_LIMIT.default, cursor } = request;
    const after = this.logCursors.read(cursor, { accountId });
    await this.deps.recorder.flush();
    const query = { accountId, from: this.oldest(), to: Number.MAX_SAFE_INTEGER };
    const { items, next } = firstOf(await this.deps.log.list(query, limit + 1, after), limit);
    return { items, next: this.logCursors.write(next, { accountId }) };
  }

  private oldest(): number {
    return this.deps.clock.now() - LOG_KEPT_MS;
  }
}

function mayCost({ method, route }: LoggedRequest): boolean {
  return method === "POST" && Object.hasOwn(CREDITS_ROUTES, route);
}
