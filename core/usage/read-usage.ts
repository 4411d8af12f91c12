import type { AccountId } from "../ids.js";
import type { Clock } from "../ports/clock.js";
import type { RequestCounts, RequestCredits, RequestLogStore, RequestQuery } from "../ports/request-log-store.js";
import type { RecordRequests } from "./record-requests.js";
import { CREDITS_ROUTES, LOG_KEPT_MS, type LoggedRequest } from "../ports/request-log.js";

export const LOGS_LIMIT = { default: 50, minimum: 1, maximum: 100 } as const;

/** The newest requests that a usage report shows. */
export const EVENTS_MAX = 100;

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
  /** The newest, at most {@link EVENTS_MAX}. */
  readonly events: readonly UsageEvent[];
}

const NO_CREDITS: RequestCredits = { used: 0, refunded: 0 };

export interface ReadUsageDeps {
  readonly log: RequestLogStore;
  readonly recorder: Pick<RecordRequests, "flush">;
  readonly clock: Clock;
}

/**
 * An account's own view of its requests. Those that this process served are all there; those of other processes follow
 * within a second.
 *
 * @see decisions, "Usage, logs"
 */
export class ReadUsage {
  constructor(private readonly deps: ReadUsageDeps) {}

  /** The requests of an account that fit a filter: their sums, and the newest one by one. */
  async usage(accountId: AccountId, { from, to, client, route, status }: UsageFilter): Promise<UsageReport> {
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
    const requests = await log.list(query, EVENTS_MAX);
    const costs = await log.creditsOf(requests.filter(mayCost));
    const counts = await log.count(query);
    const kind = route === undefined ? undefined : CREDITS_ROUTES[route];
    const credits = route !== undefined && kind === undefined ? NO_CREDITS : await log.sumCredits({ ...window, kind });
    return {
      summary: { ...counts, ...credits },
      events: requests.map((request) => ({ request, ...(costs.get(request.id) ?? NO_CREDITS) })),
    };
  }

  /** Newest first. */
  async logs(accountId: AccountId, limit: number): Promise<LoggedRequest[]> {
    await this.deps.recorder.flush();
    return this.deps.log.list({ accountId, from: this.oldest(), to: Number.MAX_SAFE_INTEGER }, limit);
  }

  private oldest(): number {
    return this.deps.clock.now() - LOG_KEPT_MS;
  }
}

function mayCost({ method, route }: LoggedRequest): boolean {
  return method === "POST" && Object.hasOwn(CREDITS_ROUTES, route);
}
