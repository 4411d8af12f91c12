import type { LedgerEntry } from "../credits/balance.js";
import type { WebhookDeliveryId, WebhookEndpointId } from "../ids.js";
import type { Billable, ProviderCost } from "../ports/music-provider.js";
import type { DeliveryAttempt, DeliveryState, WebhookDelivery } from "../ports/webhook-records.js";
import type { AttemptLoss, Job, JobAttempt, JobError, JobOutput } from "./job.js";
import type { Track } from "../library/track.js";

/** Something that happened to a job. */
export type TimelineEvent = {
  /** Names it within the job: the same whenever the timeline is read, such as `attempt.1.accepted`. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
} & TimelineFact;

export type TimelineFact =
  /** The request was accepted, and its credits were reserved. */
  | { readonly type: "accepted"; readonly credits: number }
  /** A worker calls the provider. */
  | ({ readonly type: "attempt_started"; readonly model: string | null } & OfAttempt)
  /** The provider has accepted the work, and renders. */
  | ({ readonly type: "attempt_accepted" } & OfAttempt)
  /** The last that the provider said of how far it is; a member is null where it says nothing. */
  | ({
      readonly type: "attempt_progress";
      readonly percent: number | null;
      readonly queuePosition: number | null;
    } & OfAttempt)
  /** The provider has completed the work. */
  | ({ readonly type: "attempt_finished" } & OfAttempt)
  /** The attempt ended without a result for the job. */
  | ({
      readonly type: "attempt_failed";
      readonly state: "refused" | "failed" | "abandoned";
      /** The kind of failure; null when none is known. */
      readonly outcome: JobAttempt["outcome"];
      /** Whether the job went on after it. */
      readonly retried: boolean;
      /** The provider's words, for operators. */
      readonly message: string | null;
      readonly loss: AttemptLoss | null;
      readonly cost: ProviderCost | null;
      readonly billable: Billable | null;
    } & OfAttempt)
  /** The result is stored here. */
  | ({ readonly type: "files_stored"; readonly files: number; readonly bytes: number } & OfAttempt)
  | { readonly type: "cancel_requested" }
  | { readonly type: "charged" | "refunded"; readonly credits: number }
  | { readonly type: "completed" }
  | { readonly type: "failed"; readonly error: JobError }
  /** A delivery attempt of the job's webhook event. */
  | {
      readonly type: "delivery_tried";
      readonly delivery: WebhookDeliveryId;
      readonly endpoint: WebhookEndpointId;
      readonly number: number;
      /** The status of the receiver's response; null when there was none. */
      readonly status: number | null;
      /** null when it was delivered. */
      readonly failure: DeliveryAttempt["failure"];
      readonly message: string | null;
    }
  /** No more delivery attempts follow. */
  | {
      readonly type: "delivery_ended";
      readonly delivery: WebhookDeliveryId;
      readonly endpoint: WebhookEndpointId;
      readonly state: Exclude<DeliveryState, "pending">;
    };

interface OfAttempt {
  /** Counts from 1. */
  readonly attempt: number;
  readonly provider: string;
}

/** What is stored of a job, whole. */
export interface JobHistory {
  readonly job: Job;
  /** In their order. */
  readonly attempts: readonly JobAttempt[];
  /** Of the job: its reservation, then its charge or refund. */
  readonly entries: readonly LedgerEntry[];
  readonly tracks: readonly Track[];
  readonly outputs: readonly JobOutput[];
  /** Of its webhook event, each with its delivery attempts. */
  readonly deliveries: readonly { readonly delivery: WebhookDelivery; readonly tries: readonly DeliveryAttempt[] }[];
}

/**
 * All that happened to a job, in the order in which one thing led to the next; of what does not depend on each other
 * the earlier is first. An event that was there keeps its place before those that come later.
 */
export function timelineOf(history: JobHistory): TimelineEvent[] {
  const { job, attempts } = history;
  const accepted = { id: "accepted", at: job.createdAt, type: "accepted", credits: costOfReservation(job) } as const;
  const tried = attempts.flatMap((attempt) => attemptEvents(attempt, history));
  return [
    accepted,
    ...withCancellation(tried, job),
    ...endEvents(history),
    ...history.deliveries.flatMap(deliveryEvents).sort((a, b) => a.at - b.at),
  ];
}

function costOfReservation({ reserved }: Pick<Job, "reserved">): number {
  return reserved.monthly + reserved.pack;
}

/** A request to cancel comes from outside: its moment alone says where it belongs. */
function withCancellation(tried: readonly TimelineEvent[], { cancelRequestedAt }: Job): TimelineEvent[] {
  if (cancelRequestedAt === null) return [...tried];
  const before = tried.findLastIndex(({ at }) => at <= cancelRequestedAt) + 1;
  const requested = { id: "cancel_requested", at: cancelRequestedAt, type: "cancel_requested" } as const;
  return [...tried.slice(0, before), requested, ...tried.slice(before)];
}

function attemptEvents(attempt: JobAttempt, history: JobHistory): TimelineEvent[] {
  const { number, providerId: provider, startedAt, acceptedAt, finishedAt, progress } = attempt;
  const of = { attempt: number, provider };
  const id = (what: string): string => `attempt.${number}.${what}`;
  const events: TimelineEvent[] = [
    { id: id("started"), at: startedAt, type: "attempt_started", ...of, model: attempt.modelId },
  ];
  // What was finished with the call itself was never accepted before.
  if (acceptedAt !== null && acceptedAt !== finishedAt)
    events.push({ id: id("accepted"), at: acceptedAt, type: "attempt_accepted", ...of });
  if (progress !== null) {
    const { percent, queuePosition, at } = progress;
    events.push({ id: id("progress"), at, type: "attempt_progress", ...of, percent, queuePosition });
  }
  if (finishedAt !== null) events.push({ id: id("finished"), at: finishedAt, type: "attempt_finished", ...of });
  return [...events, ...lastEvents(attempt, history, of)];
}

function lastEvents(attempt: JobAttempt, { job, attempts, ...stored }: JobHistory, of: OfAttempt): TimelineEvent[] {
  const { number, state, startedAt, endedAt, outcome, message, loss, cost, billable } = attempt;
  const at = endedAt ?? startedAt;
  if (state === "settled" || state === "stored") {
    const sizes = attempt.files === null ? sizesOf(stored) : sizesOf(attempt.files);
    const files = { files: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
    const storedAt = state === "settled" ? (job.completedAt ?? at) : at;
    return [{ id: `attempt.${number}.stored`, at: storedAt, type: "files_stored", ...of, ...files }];
  }
  if (state !== "refused" && state !== "failed" && state !== "abandoned") return [];
  const retried = job.completedAt === null || attempts.some((other) => other.number > number);
  const said = { state, outcome, message, loss, cost, billable, retried };
  return [{ id: `attempt.${number}.failed`, at, type: "attempt_failed", ...of, ...said }];
}

function sizesOf({
  tracks,
  outputs,
}: {
  readonly tracks: readonly Pick<Track, "assets">[];
  readonly outputs: readonly JobOutput[];
}): number[] {
  return [...tracks.flatMap(({ assets }) => assets), ...outputs].map(({ sizeBytes }) => sizeBytes);
}

/** The end of the job, with the movement of credits that was written with it. */
function endEvents({ job, entries }: JobHistory): TimelineEvent[] {
  const { completedAt: at, status, error } = job;
  if (at === null) return [];
  const moved =
    entries.length === 0
      ? [archivedMovement(job, at)]
      : entries.flatMap(({ kind, spent, monthly, pack, createdAt }): TimelineEvent[] => {
          if (kind === "charge") return [{ id: "charged", at: createdAt, type: "charged", credits: spent }];
          if (kind === "refund") return [{ id: "refunded", at: createdAt, type: "refunded", credits: monthly + pack }];
          return [];
        });
  const ended: TimelineEvent[] =
    status === "completed"
      ? [{ id: "completed", at, type: "completed" }]
      : error === null
        ? []
        : [{ id: "failed", at, type: "failed", error }];
  return [...moved, ...ended];
}

/** What the entry said, once it is archived: a job is charged or refunded when it ends. */
function archivedMovement(job: Job, at: number): TimelineEvent {
  if (job.status === "completed") return { id: "charged", at, type: "charged", credits: job.creditsCharged };
  return { id: "refunded", at, type: "refunded", credits: costOfReservation(job) };
}

function deliveryEvents({ delivery, tries }: JobHistory["deliveries"][number]): TimelineEvent[] {
  const of = { delivery: delivery.id, endpoint: delivery.endpointId };
  const tried = tries.map(({ number, startedAt, status, failure, message }): TimelineEvent => {
    const id = `delivery.${delivery.id}.${number}`;
    return { id, at: startedAt, type: "delivery_tried", ...of, number, status, failure, message };
  });
  const { state, endedAt } = delivery;
  if (state === "pending" || endedAt === null) return tried;
  return [...tried, { id: `delivery.${delivery.id}.${state}`, at: endedAt, type: "delivery_ended", ...of, state }];
}

/** What an account sees of an event of its own job. */
export type AccountEvent = Pick<TimelineEvent, "id" | "at"> &
  (
    | Exclude<
        TimelineFact,
        { readonly type: "attempt_failed" | "attempt_progress" | "delivery_tried" | "delivery_ended" }
      >
    | Omit<Extract<TimelineFact, { readonly type: "attempt_failed" }>, "message" | "loss" | "cost" | "billable">
  );

/**
 * The account's own part of an event: without the provider's words and what it bills, which are for operators; null for
 * what it does not see. Progress is in the outlook.
 */
export function accountPart(event: TimelineEvent): AccountEvent | null {
  switch (event.type) {
    case "attempt_progress":
    case "delivery_tried":
    case "delivery_ended":
      return null;
    case "attempt_failed": {
      const { message: _message, loss: _loss, cost: _cost, billable: _billable, ...seen } = event;
      return seen;
    }
    default:
      return event;
  }
}
