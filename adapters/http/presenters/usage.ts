import type { UsageEvent as Event, UsageReport } from "../../../core/usage/read-usage.js";
import { timestamp } from "./time.js";

/** What the account's requests were, and what they cost. */
export interface Usage {
  summary: UsageSummary;
  /** The newest of them, newest first; those before with `next_cursor`. */
  events: UsageEvent[];
  next_cursor: string | null;
}

/** Of all requests that fit the filters. */
export interface UsageSummary {
  /** @isInt */
  requests: number;
  /**
   * Credits that they reserved.
   * @isInt
   */
  credits_used: number;
  /**
   * Credits that came back of those, since jobs failed.
   * @isInt
   */
  credits_refunded: number;
  /**
   * Those with a status of 400 and above.
   * @isInt
   */
  failed_requests: number;
}

/** A request, without its query and its body. */
export interface UsageEvent {
  request_id: string;
  /** The path's template. */
  endpoint: string;
  method: string;
  /** @isInt */
  status_code: number;
  /** @isInt */
  credits_used: number;
  /** @isInt */
  credits_refunded: number;
  /**
   * When it arrived; the first of them.
   * @format date-time
   */
  created_at: string;
  /**
   * How many requests the event stands for: beyond 20 refused ones (429) of a kind of limit in a minute, one event
   * counts the rest.
   * @isInt
   */
  count: number;
}

export function presentUsage({ summary, events }: UsageReport): Usage {
  return {
    summary: {
      requests: summary.requests,
      credits_used: summary.used,
      credits_refunded: summary.refunded,
      failed_requests: summary.failed,
    },
    events: events.items.map(presentEvent),
    next_cursor: events.next,
  };
}

function presentEvent({ request, used, refunded }: Event): UsageEvent {
  return {
    request_id: request.id,
    endpoint: request.route,
    method: request.method,
    status_code: request.status,
    credits_used: used,
    credits_refunded: refunded,
    created_at: timestamp(request.createdAt),
    count: request.count,
  };
}
