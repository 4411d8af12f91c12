import type { RetainedKind } from "../ports/growth-store.js";
import { scheduleEndsWithinMs } from "../webhooks/delivery-schedule.js";

const DAY_MS = 86_400_000;

/** How long each kind is kept, in milliseconds. */
export interface Retention {
  /** What ended jobs were asked for, from when the job was created. */
  readonly requestsMs: number;
  /** Closed attempts of ended jobs, from their end. */
  readonly attemptsMs: number;
  /** Events of webhooks with their deliveries; longer where the schedule of deliveries is. */
  readonly eventsMs: number;
  readonly callbacksMs: number;
  readonly requestLogMs: number;
  /** Audio of failed jobs, and whatever else no track names, from when it was written. */
  readonly failedAudioMs: number;
}

/** One kind of what is deleted once its time is over. */
export interface RetentionRule {
  readonly kind: RetainedKind;
  /** The setting that says how long, as operators know it. */
  readonly setting: string;
  /** From when it begins to age; 0 where what is stored says itself until when it is kept. */
  readonly keptMs: number;
}

/** @param scheduleMs the waits between the attempts of a delivery */
export function retentionRules(retention: Retention, scheduleMs: readonly number[]): readonly RetentionRule[] {
  return [
    { kind: "idempotency_records", setting: "idempotency.ttlHours", keptMs: 0 },
    {
      kind: "webhook_events",
      setting: "retention.eventDays",
      keptMs: Math.max(retention.eventsMs, scheduleEndsWithinMs(scheduleMs)),
    },
    { kind: "provider_callbacks", setting: "retention.callbackDays", keptMs: retention.callbacksMs },
    { kind: "request_log", setting: "retention.requestLogDays", keptMs: retention.requestLogMs },
    // A day's count is of requests until its end.
    { kind: "request_counts", setting: "retention.requestLogDays", keptMs: retention.requestLogMs + DAY_MS },
    { kind: "credit_sums", setting: "retention.requestLogDays", keptMs: retention.requestLogMs + DAY_MS },
    { kind: "job_requests", setting: "retention.requestDays", keptMs: retention.requestsMs },
    { kind: "job_attempts", setting: "retention.attemptDays", keptMs: retention.attemptsMs },
  ];
}
