import type {
  AccountId,
  JobId,
  ProcessId,
  WebhookDeliveryId,
  WebhookEndpointId,
  WebhookEventId,
} from "../../../core/ids.js";
import type { WebhookFailure } from "../../../core/ports/webhook-sender.js";
import type { DeliveryChanges } from "../../../core/ports/webhook-store.js";
import type {
  DeliveryState,
  DisabledBy,
  EndpointStatus,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEvent,
  WebhookTry,
} from "../../../core/webhooks/endpoint.js";
import { fromJson } from "./rows.js";
import type { SqlValue, Table } from "./session.js";

export interface EndpointRow {
  id: WebhookEndpointId;
  account_id: AccountId;
  url: string;
  status: EndpointStatus;
  secret_prefix: string;
  sealed_secret: string;
  retired_secrets: string;
  created_at: number;
  updated_at: number;
  disabled_at: number | null;
  disabled_by: DisabledBy | null;
  health: string;
}

export const WEBHOOK_ENDPOINTS: Table<EndpointRow> = {
  name: "webhook_endpoints",
  columns: [
    "id",
    "account_id",
    "url",
    "status",
    "secret_prefix",
    "sealed_secret",
    "retired_secrets",
    "created_at",
    "updated_at",
    "disabled_at",
    "disabled_by",
    "health",
  ],
  key: ["id"],
};

export function toEndpointRow(endpoint: WebhookEndpoint): EndpointRow {
  return {
    id: endpoint.id,
    account_id: endpoint.accountId,
    url: endpoint.url,
    status: endpoint.status,
    secret_prefix: endpoint.secretPrefix,
    sealed_secret: endpoint.sealedSecret,
    retired_secrets: JSON.stringify(endpoint.retiredSecrets),
    created_at: endpoint.createdAt,
    updated_at: endpoint.updatedAt,
    disabled_at: endpoint.disabledAt,
    disabled_by: endpoint.disabledBy,
    health: JSON.stringify(endpoint.health),
  };
}

export function toEndpoint(row: EndpointRow): WebhookEndpoint {
  return {
    id: row.id,
    accountId: row.account_id,
    url: row.url,
    status: row.status,
    secretPrefix: row.secret_prefix,
    sealedSecret: row.sealed_secret,
    retiredSecrets: fromJson<WebhookEndpoint["retiredSecrets"]>(row.retired_secrets),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    disabledAt: row.disabled_at,
    disabledBy: row.disabled_by,
    health: fromJson<WebhookEndpoint["health"]>(row.health),
  };
}

export interface EventRow {
  id: WebhookEventId;
  account_id: AccountId;
  job_id: JobId | null;
  type: string;
  created_at: number;
  body: string;
}

export const WEBHOOK_EVENTS: Table<EventRow> = {
  name: "webhook_events",
  columns: ["id", "account_id", "job_id", "type", "created_at", "body"],
  key: ["id"],
};

export function toEventRow(event: WebhookEvent): EventRow {
  return {
    id: event.id,
    account_id: event.accountId,
    job_id: event.jobId,
    type: event.type,
    created_at: event.createdAt,
    body: event.body,
  };
}

export function toEvent(row: EventRow): WebhookEvent {
  return {
    id: row.id,
    accountId: row.account_id,
    jobId: row.job_id,
    type: row.type,
    body: row.body,
    createdAt: row.created_at,
  };
}

export interface DeliveryRow {
  id: WebhookDeliveryId;
  event_id: WebhookEventId;
  endpoint_id: WebhookEndpointId;
  state: DeliveryState;
  attempts: number;
  fence: number;
  lease_owner: ProcessId | null;
  due_at: number | null;
  created_at: number;
  ended_at: number | null;
}

export const WEBHOOK_DELIVERIES: Table<DeliveryRow> = {
  name: "webhook_deliveries",
  columns: [
    "id",
    "event_id",
    "endpoint_id",
    "state",
    "attempts",
    "fence",
    "lease_owner",
    "due_at",
    "created_at",
    "ended_at",
  ],
  key: ["id"],
};

export function toDeliveryRow(delivery: WebhookDelivery): DeliveryRow {
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    endpoint_id: delivery.endpointId,
    state: delivery.state,
    attempts: delivery.attempts,
    fence: delivery.fence,
    lease_owner: delivery.leaseOwner,
    due_at: delivery.dueAt,
    created_at: delivery.createdAt,
    ended_at: delivery.endedAt,
  };
}

export function toDelivery(row: DeliveryRow): WebhookDelivery {
  return {
    id: row.id,
    eventId: row.event_id,
    endpointId: row.endpoint_id,
    state: row.state,
    attempts: row.attempts,
    fence: row.fence,
    leaseOwner: row.lease_owner,
    dueAt: row.due_at,
    createdAt: row.created_at,
    endedAt: row.ended_at,
  };
}

/** The column of each member that may change. */
const CHANGES: readonly (readonly [keyof DeliveryChanges, keyof DeliveryRow])[] = [
  ["state", "state"],
  ["attempts", "attempts"],
  ["leaseOwner", "lease_owner"],
  ["dueAt", "due_at"],
  ["endedAt", "ended_at"],
];

/** The columns that `changes` names, with their values; a member that is undefined is not named. */
export function toChangedColumns(changes: DeliveryChanges): {
  readonly columns: (keyof DeliveryRow)[];
  readonly values: SqlValue[];
} {
  const columns: (keyof DeliveryRow)[] = [];
  const values: SqlValue[] = [];
  for (const [member, column] of CHANGES) {
    const value = changes[member];
    if (value === undefined) continue;
    columns.push(column);
    values.push(value);
  }
  return { columns, values };
}

export interface TryRow {
  delivery_id: WebhookDeliveryId;
  number: number;
  started_at: number;
  /** 0 or 1 */
  is_manual: number;
  status: number | null;
  failure: WebhookFailure | null;
  message: string | null;
  excerpt: string;
  retry_after_ms: number | null;
  phases: string;
}

export const WEBHOOK_TRIES: Table<TryRow> = {
  name: "webhook_tries",
  columns: [
    "delivery_id",
    "number",
    "started_at",
    "is_manual",
    "status",
    "failure",
    "message",
    "excerpt",
    "retry_after_ms",
    "phases",
  ],
  key: ["delivery_id", "number"],
};

export function toTryRow(made: WebhookTry): TryRow {
  return {
    delivery_id: made.deliveryId,
    number: made.number,
    started_at: made.startedAt,
    is_manual: Number(made.isManual),
    status: made.status,
    failure: made.failure,
    message: made.message,
    excerpt: made.excerpt,
    retry_after_ms: made.retryAfterMs,
    phases: JSON.stringify(made.phases),
  };
}

export function toTry(row: TryRow): WebhookTry {
  return {
    deliveryId: row.delivery_id,
    number: row.number,
    startedAt: row.started_at,
    isManual: Boolean(row.is_manual),
    status: row.status,
    failure: row.failure,
    message: row.message,
    excerpt: row.excerpt,
    retryAfterMs: row.retry_after_ms,
    phases: fromJson<WebhookTry["phases"]>(row.phases),
  };
}
