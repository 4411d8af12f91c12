import type {
  AccountId,
  JobId,
  ProcessId,
  WebhookDeliveryId,
  WebhookEndpointId,
  WebhookEventId,
} from "../../../../core/ids.js";
import type { WebhookFailure } from "../../../../core/ports/webhook-sender.js";
import type {
  DeliveryState,
  DisabledBy,
  EndpointStatus,
  WebhookEndpoint,
  WebhookEvent,
  DeliveryAttempt,
} from "../../../../core/ports/webhook-records.js";
import { flag, json, plain, type RowOf, table } from "../table.js";

export const WEBHOOK_ENDPOINTS = table(
  "webhook_endpoints",
  {
    id: plain<WebhookEndpointId>(),
    accountId: plain<AccountId>(),
    url: plain<string>(),
    status: plain<EndpointStatus>(),
    secretPrefix: plain<string>(),
    sealedSecret: plain<string>(),
    retiredSecrets: json<WebhookEndpoint["retiredSecrets"]>(),
    createdAt: plain<number>(),
    updatedAt: plain<number>(),
    disabledAt: plain<number | null>(),
    disabledBy: plain<DisabledBy | null>(),
    health: json<WebhookEndpoint["health"]>(),
  },
  ["id"],
);
export type EndpointRow = RowOf<typeof WEBHOOK_ENDPOINTS>;

export const WEBHOOK_EVENTS = table(
  "webhook_events",
  {
    id: plain<WebhookEventId>(),
    accountId: plain<AccountId>(),
    jobId: plain<JobId | null>(),
    number: plain<number | null>(),
    type: plain<string>(),
    createdAt: plain<number>(),
    body: plain<string>(),
    trace: json<WebhookEvent["trace"]>(),
  },
  ["id"],
);
export type EventRow = RowOf<typeof WEBHOOK_EVENTS>;

export const WEBHOOK_DELIVERIES = table(
  "webhook_deliveries",
  {
    id: plain<WebhookDeliveryId>(),
    eventId: plain<WebhookEventId>(),
    endpointId: plain<WebhookEndpointId>(),
    state: plain<DeliveryState>(),
    attempts: plain<number>(),
    fence: plain<number>(),
    leaseOwner: plain<ProcessId | null>(),
    dueAt: plain<number | null>(),
    createdAt: plain<number>(),
    endedAt: plain<number | null>(),
  },
  ["id"],
);
export type DeliveryRow = RowOf<typeof WEBHOOK_DELIVERIES>;

/** Delivery attempts. */
export const DELIVERY_ATTEMPTS = table(
  "webhook_tries",
  {
    deliveryId: plain<WebhookDeliveryId>(),
    number: plain<number>(),
    startedAt: plain<number>(),
    isManual: flag(),
    status: plain<number | null>(),
    failure: plain<WebhookFailure | null>(),
    message: plain<string | null>(),
    excerpt: plain<string>(),
    retryAfterMs: plain<number | null>(),
    phases: json<DeliveryAttempt["phases"]>(),
  },
  ["deliveryId", "number"],
);
export type DeliveryAttemptRow = RowOf<typeof DELIVERY_ATTEMPTS>;
