import type { JobTimeline } from "../../../core/jobs/read-timelines.js";
import type { TimelineEvent } from "../../../core/jobs/timeline.js";
import type { JobOutlook } from "../../../core/providers/outlook.js";
import { timestamp } from "./time.js";

/** Where a job stands, and what is expected of it by what its model's last renders took. */
export interface Outlook {
  state: "waiting" | "retrying" | "submitting" | "rendering" | "ended";
  /**
   * How many jobs begin before it, at most 1,000; null once it has begun.
   * @isInt
   */
  waiting_before: number | null;
  /**
   * How far the provider says it is, 0 to 100; null where it does not say.
   * @isInt
   */
  percent: number | null;
  /**
   * How many works are before it in the provider's queue; null where the provider does not say.
   * @isInt
   */
  queue_position: number | null;
  /**
   * When it is expected to begin; null once it has begun, and when that is not known.
   * @format date-time
   */
  starts_at: string | null;
  /**
   * When it is expected to end; null once it has ended, when it takes longer than usual, and when that is not known.
   * @format date-time
   */
  ends_at: string | null;
}

export function presentOutlook(outlook: JobOutlook): Outlook {
  return {
    state: outlook.state,
    waiting_before: outlook.waitingBefore,
    percent: outlook.percent,
    queue_position: outlook.queuePosition,
    starts_at: outlook.startsAt === null ? null : timestamp(outlook.startsAt),
    ends_at: outlook.endsAt === null ? null : timestamp(outlook.endsAt),
  };
}

/** All of a job's story, for operators: members in the case of JSON, moments as dates. */
export function presentTimeline({ events, outlook }: JobTimeline): {
  readonly events: object[];
  readonly outlook: Outlook;
} {
  return { events: events.map(presentEvent), outlook: presentOutlook(outlook) };
}

export function presentEvent({ id, type, at, ...fact }: Pick<TimelineEvent, "id" | "type" | "at">): object {
  const members = Object.entries(fact).map(([name, value]) => [
    name === "queuePosition" ? "queue_position" : name,
    value,
  ]);
  return { id, type, at: timestamp(at), ...(Object.fromEntries(members) as object) };
}
