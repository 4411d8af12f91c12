import type { AuditAction, AuditEntry } from "../ports/audit-record.js";
import type { RecordsActions } from "../audit/audit-trail.js";
import { OperationRefusedError, UnknownObjectError } from "../errors.js";
import { isId, type WebhookEndpointId } from "../ids.js";
import type { AddressGuard } from "../ports/address-guard.js";
import type { Clock } from "../ports/clock.js";
import type { IdGenerator } from "../ports/id-generator.js";
import type { Random } from "../ports/random.js";
import type { SecretBox } from "../ports/secret-box.js";
import type { Transaction, UnitOfWork } from "../ports/unit-of-work.js";
import type { WebhookStore } from "../ports/webhook-store.js";
import { type BlockedEndpoint, findBlockedEndpoints } from "./blocked-endpoints.js";
import type {
  DeliveryAttempt,
  DeliveryState,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEvent,
} from "../ports/webhook-records.js";
import type { ManageEndpoints } from "./manage-endpoints.js";
import { makeSecret, type SealKeys, withNewSecret } from "./secrets.js";
import type { SendDelivery } from "./send-delivery.js";
import { newDelivery, newEvent } from "./write-events.js";
import { type ShownEndpoint, shownEndpoint } from "./shown-endpoint.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const OVERLAP_MAX_MS = 7 * DAY_MS;
/** How far back a range of deliveries may be sent again, and how many of them at a time. */
export const RESEND_MAX_MS = 14 * DAY_MS;
const RESEND_MAX = 10_000;
const PAGE = 200;

export interface OperateWebhooksDeps {
  readonly endpoints: ManageEndpoints;
  readonly unitOfWork: UnitOfWork;
  readonly audit: RecordsActions;
  readonly webhooks: WebhookStore;
  readonly guard: AddressGuard;
  readonly secretBox: SecretBox;
  readonly sealKeys: SealKeys;
  readonly sendDelivery: SendDelivery;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly random: Random;
}

/** A delivery as operators and embedding apps see it: without that by which workers hold it. */
export type ShownDelivery = Omit<WebhookDelivery, "fence" | "leaseOwner">;

/** A delivery with all its delivery attempts. */
export interface DeliveryReport {
  readonly delivery: ShownDelivery;
  readonly tries: readonly DeliveryAttempt[];
}

/** Which deliveries of an endpoint are meant; all by default. */
export interface DeliverySelection {
  readonly state?: DeliveryState;
  /** Only those behind this one in the list. */
  readonly after?: string;
}

/** What a resend of a range has come to. */
export interface ResendProgress {
  readonly sent: number;
  readonly delivered: number;
  readonly last: Pick<WebhookDelivery, "id" | "createdAt">;
}

/** Webhooks as operators see and repair them. */
export class OperateWebhooks {
  /** Endpoints as their account manages them: lists, creates, changes and removes them. */
  readonly endpoints: ManageEndpoints;

  constructor(private readonly deps: OperateWebhooksDeps) {
    this.endpoints = deps.endpoints;
  }

  /** An endpoint of any account. @throws {OperationRefusedError} no such endpoint */
  async endpoint(id: string): Promise<ShownEndpoint> {
    return shownEndpoint(await this.find(id));
  }

  /** Endpoints of all accounts in the order of their creation. @param after the id of the last of the page before */
  async allEndpoints(limit: number, after: string | null = null): Promise<ShownEndpoint[]> {
    if (after !== null && !isId("whe", after)) throw new UnknownObjectError(`There is no webhook endpoint ${after}.`);
    return (await this.deps.webhooks.listAllEndpoints(after, limit)).map(shownEndpoint);
  }

  /**
   * What was, or is to be, sent to an endpoint, newest first.
   *
   * @throws {OperationRefusedError} no such endpoint, or no such delivery to go on after
   */
  async deliveries(endpointId: string, limit: number, only: DeliverySelection = {}): Promise<DeliveryReport[]> {
    const { webhooks } = this.deps;
    const { id } = await this.endpoint(endpointId);
    const deliveries = await webhooks.listDeliveries({
      endpointId: id,
      order: "newest",
      limit,
      ...(only.state === undefined ? {} : { states: [only.state] }),
      ...(only.after === undefined ? {} : { after: await this.deliveryOf(id, only.after) }),
    });
    const tries = await webhooks.listDeliveryAttempts(deliveries.map((delivery) => delivery.id));
    return deliveries.map(({ fence: _fence, leaseOwner: _owner, ...delivery }) => ({
      delivery,
      tries: tries.get(delivery.id) ?? [],
    }));
  }

  /**
   * Sends a delivery once more, now: the same id and bytes, signed again. Its schedule stays as it is; one whose
   * retries were exhausted counts as delivered when this one succeeds.
   *
   * @throws {OperationRefusedError} no such delivery, its event is deleted, or its endpoint is disabled
   */
  async resend(deliveryId: string, signal: AbortSignal): Promise<DeliveryAttempt> {
    const { webhooks } = this.deps;
    const delivery = isId("dlv", deliveryId) ? await webhooks.findDelivery(deliveryId) : null;
    if (delivery === null) throw new UnknownObjectError(`There is no webhook delivery ${deliveryId}.`);
    const event = (await webhooks.findEvents([delivery.eventId])).get(delivery.eventId);
    if (event === undefined) throw new OperationRefusedError(`The event of ${deliveryId} is no longer kept.`);
    const endpoint = await this.activeEndpoint(delivery.endpointId);
    return this.attemptNow("webhooks.resend", { delivery, event, endpoint }, signal);
  }

  /**
   * Sends what an endpoint did not get since a moment, the oldest first, one after another. An interruption loses
   * nothing: begin again after the last one reported.
   *
   * @throws {OperationRefusedError} no such endpoint, it is disabled, or the range is too long
   */
  async *resendSince(
    endpointId: string,
    since: number,
    options: { readonly after?: string; readonly signal: AbortSignal },
  ): AsyncGenerator<ResendProgress> {
    const { webhooks, clock } = this.deps;
    const { id } = await this.activeEndpoint(endpointId);
    if (clock.now() - since > RESEND_MAX_MS) {
      throw new OperationRefusedError(`Deliveries of the last ${RESEND_MAX_MS / DAY_MS} days can be sent again.`);
    }
    let after = options.after === undefined ? undefined : await this.deliveryOf(id, options.after);
    let [sent, delivered] = [0, 0];
    while (sent < RESEND_MAX) {
      const page = await webhooks.listDeliveries({
        endpointId: id,
        since,
        states: ["exhausted", "dropped"],
        order: "oldest",
        limit: Math.min(PAGE, RESEND_MAX - sent),
        ...(after === undefined ? {} : { after }),
      });
      if (page.length === 0) return;
      for (const delivery of page) {
        if (options.signal.aborted) return;
        const created = await this.resend(delivery.id, options.signal);
        sent++;
        if (created.failure === null) delivered++;
        after = delivery;
        yield { sent, delivered, last: { id: delivery.id, createdAt: delivery.createdAt } };
      }
    }
  }

  /**
   * Sends `webhook.ping` by the same door as everything else. @throws {OperationRefusedError} no such endpoint, or it
   * is disabled
   */
  async ping(endpointId: string, signal: AbortSignal): Promise<DeliveryAttempt> {
    const { unitOfWork, webhooks, ids, clock } = this.deps;
    const endpoint = await this.activeEndpoint(endpointId);
    const now = clock.now();
    const event = newEvent(
      ids,
      {
        accountId: endpoint.accountId,
        jobId: null,
        number: null,
        trace: null,
        type: "webhook.ping",
        data: { endpoint_id: endpoint.id },
      },
      now,
    );
    // Ended from the start: an operator sends a ping once.
    const delivery: WebhookDelivery = {
      ...newDelivery(ids, event, endpoint.id),
      state: "exhausted",
      dueAt: null,
      endedAt: now,
    };
    await unitOfWork.inTransaction(async (tx) => {
      await webhooks.insertEvents(tx, [event]);
      await webhooks.insertDeliveries(tx, [delivery]);
    });
    return this.attemptNow("webhooks.ping", { delivery, event, endpoint }, signal);
  }

  /**
   * Gives an endpoint a new secret; the old one signs alongside it for `overlapMs`, 0 when it has leaked.
   *
   * @returns the new secret, this once
   * @throws {OperationRefusedError} no such endpoint, or an overlap that is too long
   */
  async rotateSecret(
    endpointId: string,
    overlapMs: number,
  ): Promise<{ readonly endpoint: ShownEndpoint; readonly secret: string }> {
    const { audit, webhooks, secretBox, sealKeys, random, clock } = this.deps;
    if (!(overlapMs >= 0 && overlapMs <= OVERLAP_MAX_MS))
      throw new OperationRefusedError("Two secrets sign side by side for 0 to 168 hours.");
    const { id } = await this.endpoint(endpointId);
    const secret = makeSecret((count) => random.bytes(count));
    const rotate = async (tx: Transaction): Promise<WebhookEndpoint> => {
      const found = await webhooks.lockEndpoint(tx, id);
      if (found === null) throw new UnknownObjectError(`There is no webhook endpoint ${id}.`);
      const rotated = withNewSecret(found, secret, secretBox, overlapMs, clock.now());
      await sealKeys.requireInForce(tx, secretBox.keyIdOf(rotated.sealedSecret));
      await webhooks.saveEndpoint(tx, rotated);
      return rotated;
    };
    const endpoint = await audit.inTransaction(rotate, ({ accountId }) => ({
      action: "webhooks.rotate_secret",
      accountId,
      targets: [id],
      fields: { overlap_hours: overlapMs / HOUR_MS },
    }));
    return { endpoint: shownEndpoint(endpoint), secret };
  }

  /** The active endpoints whose host resolves to what must not be reached. */
  blockedEndpoints(): Promise<BlockedEndpoint[]> {
    return findBlockedEndpoints(this.deps.webhooks, this.deps.guard);
  }

  private async find(id: string): Promise<WebhookEndpoint> {
    const found = isId("whe", id) ? (await this.deps.webhooks.findEndpoints([id])).get(id) : undefined;
    if (found === undefined) throw new UnknownObjectError(`There is no webhook endpoint ${id}.`);
    return found;
  }

  private async activeEndpoint(id: string): Promise<WebhookEndpoint> {
    const endpoint = await this.find(id);
    if (endpoint.status !== "active") {
      throw new OperationRefusedError(`The webhook endpoint ${id} is disabled; its owner can make it active again.`);
    }
    return endpoint;
  }

  private async deliveryOf(endpointId: WebhookEndpointId, id: string): Promise<WebhookDelivery> {
    const found = isId("dlv", id) ? await this.deps.webhooks.findDelivery(id) : null;
    if (found?.endpointId !== endpointId)
      throw new OperationRefusedError(`The webhook endpoint ${endpointId} has no delivery ${id}.`);
    return found;
  }

  /** What was sent is on record with what became of it: both are known together. */
  private async attemptNow(
    action: AuditAction,
    { delivery, event, endpoint }: ManualDeliveryAttempt,
    signal: AbortSignal,
  ): Promise<DeliveryAttempt> {
    const { audit, webhooks, sendDelivery, clock } = this.deps;
    const startedAt = clock.now();
    const result = await sendDelivery.send(event, endpoint, signal);
    const created = { ...result, deliveryId: delivery.id, startedAt, isManual: true };
    const isLate = result.failure === null && (delivery.state === "exhausted" || delivery.state === "dropped");
    const keep = async (tx: Transaction): Promise<DeliveryAttempt> => {
      if (isLate)
        await webhooks.updateDeliveries(tx, [
          { id: delivery.id, fence: delivery.fence, changes: { state: "delivered" } },
        ]);
      const [number = 0] = await webhooks.insertDeliveryAttempts(tx, [created]);
      return { ...created, number };
    };
    return audit.inTransaction(keep, ({ failure }): AuditEntry => ({
      action,
      accountId: endpoint.accountId,
      targets: [delivery.id, endpoint.id],
      fields: { failure },
    }));
  }
}

/** A delivery that an operator sends, and its endpoint. */
interface ManualDeliveryAttempt {
  readonly delivery: WebhookDelivery;
  readonly event: WebhookEvent;
  readonly endpoint: WebhookEndpoint;
}
