import type { AccountId, WebhookDeliveryId, WebhookEndpointId, WebhookEventId, JobId, ProcessId } from "../ids.js";
import type { TraceContext } from "./tracer.js";
import type { WebhookResult } from "./webhook-sender.js";

/** Failures without a success between them. */
export interface FailureStreak {
  readonly firstAt: number;
  readonly lastAt: number;
  readonly firstEventId: WebhookEventId;
  /** True once a second event has failed: one bad event disables nothing. */
  readonly severalEvents: boolean;
  /** The longest warning that was given, in hours; 0 for none. */
  readonly warnedHours: number;
}

/**
 * Pauses delivery attempts to a receiver that cannot be reached. It is independent of the schedule, whose attempts it
 * does not use up.
 */
export interface EndpointBreaker {
  /** Transport failures in a row. */
  readonly failures: number;
  /** Until then only what was begun goes on; from then on one attempt at a time. */
  readonly openUntil: number;
  /** How long it was opened last. */
  readonly openMs: number;
}

/** What delivery attempts have shown of an endpoint; both null while all succeed. */
export interface EndpointHealth {
  readonly streak: FailureStreak | null;
  readonly breaker: EndpointBreaker | null;
}

export const HEALTHY: EndpointHealth = Object.freeze({ streak: null, breaker: null });

export type EndpointStatus = "active" | "disabled";

/** Who disabled an endpoint: its owner, a 410 of the receiver, or failures for days. */
export type DisabledBy = "user" | "gone" | "failing";

/** A retired secret that signs alongside the current one until it expires. */
export interface RetiredSecret {
  readonly sealed: string;
  readonly signsUntil: number;
}

/** A URL that an account registered for events of ended jobs. */
export interface WebhookEndpoint {
  readonly id: WebhookEndpointId;
  readonly accountId: AccountId;
  /** Normalised. */
  readonly url: string;
  readonly status: EndpointStatus;
  /** The first 12 characters of the secret. */
  readonly secretPrefix: string;
  /** The secret `whsec_…`, sealed for this endpoint's id. */
  readonly sealedSecret: string;
  /** The newest first; at most 2. */
  readonly retiredSecrets: readonly RetiredSecret[];
  readonly createdAt: number;
  readonly updatedAt: number;
  /** null while active. */
  readonly disabledAt: number | null;
  readonly disabledBy: DisabledBy | null;
  readonly health: EndpointHealth;
}

export function disabled(endpoint: WebhookEndpoint, by: DisabledBy, now: number): WebhookEndpoint {
  return { ...endpoint, status: "disabled", disabledAt: now, disabledBy: by };
}

/** Active, with a clean record of failures. */
export function enabled(endpoint: WebhookEndpoint): WebhookEndpoint {
  return { ...endpoint, status: "active", disabledAt: null, disabledBy: null, health: HEALTHY };
}

/** Something that happened, as every receiver gets it: the bytes never change. */
export interface WebhookEvent {
  /** Also the header `webhook-id`. */
  readonly id: WebhookEventId;
  readonly accountId: AccountId;
  /** null for `webhook.ping`. */
  readonly jobId: JobId | null;
  /**
   * The place in the account's list of events: the number of the ledger entry that settled the job, so that a lower
   * one is never committed later. null for `webhook.ping`, which is in no list.
   */
  readonly number: number | null;
  /** `generation.completed`, `stem_split.failed`, `webhook.ping` … */
  readonly type: string;
  readonly body: string;
  readonly createdAt: number;
  /** That of the job; null for an event of a job without one, and for `webhook.ping`. */
  readonly trace: TraceContext | null;
}

/**
 * - `pending`: waits for its first or next attempt
 * - `delivered`: the receiver said 2xx
 * - `exhausted`: every attempt failed
 * - `dropped`: its endpoint was disabled or deleted before it was delivered
 */
export type DeliveryState = "pending" | "delivered" | "exhausted" | "dropped";

/** An event on its way to one endpoint. */
export interface WebhookDelivery {
  readonly id: WebhookDeliveryId;
  readonly eventId: WebhookEventId;
  readonly endpointId: WebhookEndpointId;
  readonly state: DeliveryState;
  /** Scheduled delivery attempts so far. */
  readonly attempts: number;
  /** Raised by every claim and when it is dropped; a write under an older fence changes nothing. */
  readonly fence: number;
  readonly leaseOwner: ProcessId | null;
  /** From when on it may be claimed; while leased the lease's end, null once it is over. */
  readonly dueAt: number | null;
  readonly createdAt: number;
  readonly endedAt: number | null;
}

/** One delivery attempt and its result. */
export interface DeliveryAttempt extends WebhookResult {
  readonly deliveryId: WebhookDeliveryId;
  /** Counts from 1, resends included. */
  readonly number: number;
  readonly startedAt: number;
  /** True for one that an operator asked for. */
  readonly isManual: boolean;
}
