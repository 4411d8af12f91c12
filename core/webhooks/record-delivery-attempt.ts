import type { WebhookDeliveryId, WebhookEndpointId } from "../ids.js";
import { BUSY, Lane, LANE_DEFAULTS, type LaneOptions } from "../lane.js";
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

interface RecordedAttempt extends EndedDeliveryAttempt {
  readonly changes: Required<DeliveryChanges>;
}

/** A result that is not recorded is sent again, which costs more than a wait. */
const LANE: LaneOptions = { ...LANE_DEFAULTS, waitMaxMs: 15_000, busyMaxMs: 15_000 };

interface EndpointChange {
  readonly endpoint: WebhookEndpoint;
  readonly disabledBy: DisabledBy | null;
  readonly warnHours: number | null;
}

/**
 * Records the results of attempts of the schedule, for their deliveries and endpoints. The usual ones are written in
 * groups.
 */
export class RecordDeliveryAttempt {
  private readonly usual: Lane<RecordedAttempt, null>;

  constructor(private readonly deps: RecordDeliveryAttemptDeps) {
    this.usual = new Lane((group) => this.writeUsual(group), deps.clock, LANE);
  }

  /** Records an attempt whose delivery another sender has claimed since, without another change of the delivery. */
  async record(created: EndedDeliveryAttempt): Promise<void> {
    const { clock, random, scheduleMs, metrics } = this.deps;
    const now = clock.now();
    const changes = afterDeliveryAttempt(created.delivery, created.result, scheduleMs, now, random.fraction());
    const recorded = { changes, ...created };
    const shown = isUsual(created) ? await this.usual.submit(recorded) : await this.writeAlone(recorded, now);
    if (changes.state !== "pending") metrics?.countDeliveryEnded(changes.state);
    this.log(shown);
  }

  private writeUsual(group: readonly RecordedAttempt[]): Promise<readonly (null | typeof BUSY)[]> {
    const { unitOfWork, webhooks } = this.deps;
    return unitOfWork.inTransaction(async (tx) => {
      const ids = group.map(({ delivery }) => delivery.id);
      const { locked, busy } = await webhooks.tryLockDeliveries(tx, ids);
      await this.write(
        tx,
        group.filter(({ delivery }) => !busy.has(delivery.id)),
        locked,
      );
      return ids.map((id) => (busy.has(id) ? BUSY : null));
    });
  }

  private writeAlone(recorded: RecordedAttempt, now: number): Promise<EndpointChange | null> {
    const { unitOfWork, webhooks } = this.deps;
    return unitOfWork.inTransaction(async (tx) => {
      const shown = await this.classifyEndpoint(tx, recorded, now);
      await this.write(tx, [recorded]);
      // What is to be tried again, this delivery included, is not any more.
      if (shown !== null && shown.disabledBy !== null) await webhooks.dropPending(tx, recorded.endpoint.id, now);
      return shown;
    });
  }

  private async write(
    tx: Transaction,
    all: readonly RecordedAttempt[],
    locked?: ReadonlyMap<WebhookDeliveryId, WebhookDelivery>,
  ): Promise<void> {
    const { webhooks } = this.deps;
    const updates = all.map(({ delivery: { id, fence }, changes }) => ({ id, fence, changes }));
    const attempts = all.map(({ delivery, startedAt, result }) => ({
      deliveryId: delivery.id,
      startedAt,
      isManual: false,
      ...result,
    }));
    // Together, so that they travel in one packet.
    await Promise.all([webhooks.updateDeliveries(tx, updates), webhooks.insertDeliveryAttempts(tx, attempts, locked)]);
  }

  private async classifyEndpoint(
    tx: Transaction,
    { endpoint, event, result }: EndedDeliveryAttempt,
    now: number,
  ): Promise<EndpointChange | null> {
    const { webhooks, breaker } = this.deps;
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

/** A healthy endpoint that responded: nothing of it changes, so its row is not locked. */
function isUsual({ endpoint: { health }, result }: EndedDeliveryAttempt): boolean {
  return result.failure === null && health.streak === null && health.breaker === null;
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
