import type { WebhookEndpointId } from "../ids.js";
import type { Clock } from "../ports/clock.js";
import type { Logger } from "../ports/logger.js";
import type { Random } from "../ports/random.js";
import type { Transaction, UnitOfWork } from "../ports/unit-of-work.js";
import type { WebhookResult } from "../ports/webhook-sender.js";
import type { DeliveryChanges, WebhookStore } from "../ports/webhook-store.js";
import { afterDeliveryAttempt } from "./delivery-schedule.js";
import {
  disabled,
  type DisabledBy,
  type WebhookDelivery,
  type WebhookEndpoint,
  type WebhookEvent,
  HEALTHY,
} from "../ports/webhook-records.js";
import { afterFailedAttempt, type EndpointBreakerPolicy } from "./endpoint-health.js";
import type { WebhookMetrics } from "./send-delivery.js";

export interface RecordDeliveryAttemptDeps {
  readonly unitOfWork: UnitOfWork;
  readonly webhooks: WebhookStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: WebhookMetrics | null;
  /** The waits between attempts; there is one attempt more than waits. */
  readonly scheduleMs: readonly number[];
  readonly breaker: EndpointBreakerPolicy;
}

/** A finished delivery attempt. */
export interface EndedDeliveryAttempt {
  readonly delivery: WebhookDelivery;
  readonly event: WebhookEvent;
  /** As it was when the attempt began. */
  readonly endpoint: WebhookEndpoint;
  readonly startedAt: number;
  readonly result: WebhookResult;
}

interface EndpointChange {
  readonly endpoint: WebhookEndpoint;
  readonly disabledBy: DisabledBy | null;
  readonly warnHours: number | null;
}

/** Records the result of an attempt of the schedule, for its delivery and for its endpoint. */
export class RecordDeliveryAttempt {
  constructor(private readonly deps: RecordDeliveryAttemptDeps) {}

  /** Records an attempt whose delivery another sender has claimed since, without another change of the delivery. */
  async record(created: EndedDeliveryAttempt): Promise<void> {
    const { unitOfWork, webhooks, clock, random } = this.deps;
    const { delivery, endpoint, startedAt, result } = created;
    const now = clock.now();
    const changes = afterDeliveryAttempt(delivery, result, this.deps.scheduleMs, now, random.fraction());
    const shown = await unitOfWork.inTransaction(async (tx) => {
      const shownOfEndpoint = await this.classifyEndpoint(tx, created, now);
      const isDisabled = shownOfEndpoint !== null && shownOfEndpoint.disabledBy !== null;
      await webhooks.updateDeliveries(tx, [
        { id: delivery.id, fence: delivery.fence, changes: isDisabled ? orDropped(changes, now) : changes },
      ]);
      if (isDisabled) await webhooks.dropPending(tx, endpoint.id, now);
      await webhooks.insertDeliveryAttempt(tx, { ...result, deliveryId: delivery.id, startedAt, isManual: false });
      return shownOfEndpoint;
    });
    const isDropped = shown !== null && shown.disabledBy !== null;
    if (changes.state !== "pending" && !isDropped) this.deps.metrics?.countDeliveryEnded(changes.state);
    this.log(shown);
  }

  /** The usual case, a healthy endpoint that responded: nothing of it changes, so its row is not locked. */
  private async classifyEndpoint(
    tx: Transaction,
    { endpoint, event, result }: EndedDeliveryAttempt,
    now: number,
  ): Promise<EndpointChange | null> {
    const { webhooks, breaker } = this.deps;
    if (result.failure === null && endpoint.health.streak === null && endpoint.health.breaker === null) return null;
    const current = await webhooks.lockEndpoint(tx, endpoint.id);
    // What is shown of an old URL says nothing of the new one.
    if (current === null || current.status === "disabled" || current.url !== endpoint.url) return null;
    const change = toChange(current, event, result, breaker, now);
    await webhooks.saveEndpoint(tx, change.endpoint);
    return change;
  }

  private log(shown: EndpointChange | null): void {
    if (shown === null) return;
    const { logger, metrics } = this.deps;
    const { endpoint, disabledBy, warnHours } = shown;
    const fields = { endpoint: endpoint.id, account: endpoint.accountId };
    if (disabledBy !== null) {
      logger.error("A webhook endpoint was disabled", { ...fields, by: disabledBy });
      metrics?.countEndpointDisabled(disabledBy);
    } else if (warnHours !== null) {
      logger.warn("A webhook endpoint has been failing", { ...fields, hours: warnHours });
      metrics?.countEndpointWarning(warnHours);
    }
  }

  /** Drops what waits for an endpoint that is gone or disabled. */
  async drop(endpointId: WebhookEndpointId): Promise<void> {
    const { unitOfWork, webhooks, clock } = this.deps;
    await unitOfWork.inTransaction(async (tx) => {
      const endpoint = await webhooks.lockEndpoint(tx, endpointId);
      if (endpoint?.status !== "active") await webhooks.dropPending(tx, endpointId, clock.now());
    });
  }
}

function toChange(
  endpoint: WebhookEndpoint,
  event: WebhookEvent,
  { failure }: WebhookResult,
  breaker: EndpointBreakerPolicy,
  now: number,
): EndpointChange {
  if (failure === null) return { endpoint: { ...endpoint, health: HEALTHY }, disabledBy: null, warnHours: null };
  const { health, disables, warnHours } = afterFailedAttempt(endpoint.health, event.id, failure, breaker, now);
  const disabledBy = failure === "gone" ? "gone" : disables ? "failing" : null;
  const changed = { ...endpoint, health };
  return {
    endpoint: disabledBy === null ? changed : { ...disabled(changed, disabledBy, now), updatedAt: now },
    disabledBy,
    warnHours,
  };
}

/** A delivery that would be tried again, at an endpoint that was just disabled. */
function orDropped(changes: Required<DeliveryChanges>, now: number): DeliveryChanges {
  return changes.state === "pending" ? { ...changes, state: "dropped", dueAt: null, endedAt: now } : changes;
}
