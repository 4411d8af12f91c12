import {
  type WebhookDelivery,
  type WebhookEndpoint,
  type WebhookEvent,
  type DeliveryAttempt,
  HEALTHY,
} from "../../core/ports/webhook-records.js";
import type { WebhookMessage } from "../../core/ports/webhook-sender.js";
import { anId, NOON } from "./builders.js";

/**
 * An active webhook endpoint that has never failed.
 *
 * @example
 * const disabled = anEndpoint({ status: "disabled", disabledAt: NOON, disabledBy: "failing" });
 */
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

/**
 * The event of a completed generation, with its body as it is sent.
 *
 * @example
 * const event = anEvent({ accountId: anAccount().id });
 */
export function anEvent(overrides: Partial<WebhookEvent> = {}): WebhookEvent {
  return {
    id: anId("evt"),
    accountId: anId("acct"),
    jobId: anId("job"),
    number: null,
    type: "generation.completed",
    body: '{"type":"generation.completed","timestamp":"2026-11-21T06:30:00.000Z","data":{}}',
    createdAt: NOON,
    trace: null,
    ...overrides,
  };
}

/**
 * A due delivery without attempts, of an event and an endpoint of its own.
 *
 * @example
 * const delivery = aDelivery({ eventId: anEvent().id, endpointId: anEndpoint().id });
 */
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

/**
 * A successful delivery attempt, answered with 204.
 *
 * @example
 * const timedOut = aDeliveryAttempt({ deliveryId: aDelivery().id, failure: "timeout", status: null });
 */
export function aDeliveryAttempt(
  overrides: Partial<Omit<DeliveryAttempt, "number">> = {},
): Omit<DeliveryAttempt, "number"> {
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

/**
 * What a webhook sender is given: the signed event of a completed generation.
 *
 * @example
 * const sender = new RecordingSender();
 * await sender.send(aMessage({ url: "https://hooks.example/fermata" }), AbortSignal.timeout(1_000));
 */
export function aMessage(fields: Partial<WebhookMessage> & Pick<WebhookMessage, "url">): WebhookMessage {
  return {
    eventId: "evt_01jd0000000000000000000000",
    sentAt: 1_770_000_000_123,
    body: '{"type":"generation.completed"}',
    secrets: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    trace: null,
    ...fields,
  };
}
