import {
  type WebhookDelivery,
  type WebhookEndpoint,
  type WebhookEvent,
  type DeliveryAttempt,
  HEALTHY,
} from "../../core/ports/webhook-records.js";
import { anId, NOON } from "./builders.js";

/** An active endpoint that has never failed. */
export function anEndpoint(overrides: Partial<WebhookEndpoint> = {}): WebhookEndpoint {
  const createdAt = overrides.createdAt ?? NOON;
  return {
    id: anId("whe"),
    accountId: anId("acct"),
    url: "https://hooks.nightingale.example/fermata",
    status: "active",
    secretPrefix: "whsec_MfKQ9r",
    sealedSecret: "v1.c2VhbGVk",
    retiredSecrets: [],
    createdAt,
    updatedAt: createdAt,
    disabledAt: null,
    disabledBy: null,
    health: HEALTHY,
    ...overrides,
  };
}

export function anEvent(overrides: Partial<WebhookEvent> = {}): WebhookEvent {
  return {
    id: anId("evt"),
    accountId: anId("acct"),
    jobId: anId("job"),
    type: "generation.completed",
    body: '{"type":"generation.completed","timestamp":"2026-11-21T06:30:00.000Z","data":{}}',
    createdAt: NOON,
    ...overrides,
  };
}

/** A due delivery without attempts. */
export function aDelivery(overrides: Partial<WebhookDelivery> = {}): WebhookDelivery {
  const createdAt = overrides.createdAt ?? NOON;
  return {
    id: anId("dlv"),
    eventId: anId("evt"),
    endpointId: anId("whe"),
    state: "pending",
    attempts: 0,
    fence: 0,
    leaseOwner: null,
    dueAt: createdAt,
    createdAt,
    endedAt: null,
    ...overrides,
  };
}

/** A successful delivery attempt. */
export function aTry(overrides: Partial<Omit<DeliveryAttempt, "number">> = {}): Omit<DeliveryAttempt, "number"> {
  return {
    deliveryId: anId("dlv"),
    startedAt: NOON,
    isManual: false,
    failure: null,
    status: 204,
    retryAfterMs: null,
    message: null,
    excerpt: "",
    phases: { dnsMs: 1, connectMs: 2, tlsMs: 5, firstByteMs: 30, totalMs: 31 },
    ...overrides,
  };
}
