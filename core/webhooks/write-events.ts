import { assert } from "../assert.js";
import { eventTypeOf, type JobEnded } from "../jobs/ended-jobs.js";
import type { EndedJobsWriter, Settled } from "../jobs/settle-jobs.js";
import type { IdGenerator } from "../ports/id-generator.js";
import type { Transaction } from "../ports/unit-of-work.js";
import type { WebhookStore } from "../ports/webhook-store.js";
import type { AccountId, WebhookEndpointId } from "../ids.js";
import type { WebhookDelivery, WebhookEvent } from "../ports/webhook-records.js";

/** An ended job as JSON, as `GET /jobs/{id}` shows it; its URLs outlive the schedule of attempts. */
export type JobPresenter = (ended: JobEnded) => object;

export interface WriteEventsDeps {
  readonly webhooks: WebhookStore;
  readonly ids: IdGenerator;
  readonly presentJob: JobPresenter;
}

/** Writes an endpoint's events in the transaction that causes them. */
export class WriteEvents implements EndedJobsWriter {
  constructor(private readonly deps: WriteEventsDeps) {}

  async endpointsOf(
    tx: Transaction,
    accountIds: readonly AccountId[],
  ): Promise<ReadonlyMap<AccountId, readonly WebhookEndpointId[]>> {
    const active = await this.deps.webhooks.activeEndpoints(tx, accountIds);
    const byAccount = new Map<AccountId, WebhookEndpointId[]>();
    for (const { id, accountId } of active) byAccount.set(accountId, [...(byAccount.get(accountId) ?? []), id]);
    return byAccount;
  }

  /**
   * One event for each job, and one delivery for each active endpoint of its account. Accounts without endpoints read
   * their events by the API. @see decisions, "Webhooks"
   */
  async write(tx: Transaction, ended: readonly JobEnded[], { endpoints, settledBy, now }: Settled): Promise<void> {
    const events: WebhookEvent[] = [];
    const deliveries: WebhookDelivery[] = [];
    for (const one of ended) {
      const number = settledBy.get(one.job.id);
      assert(number !== undefined, "a job ends with a ledger entry");
      const event = this.toEvent(one, number, now);
      const endpointIds = endpoints.get(one.job.accountId) ?? [];
      events.push(event);
      deliveries.push(...endpointIds.map((endpointId) => newDelivery(this.deps.ids, event, endpointId)));
    }
    await this.deps.webhooks.insertEvents(tx, events);
    await this.deps.webhooks.insertDeliveries(tx, deliveries);
  }

  private toEvent(ended: JobEnded, number: number, now: number): WebhookEvent {
    const { job } = ended;
    const { client, metadata } = job.request;
    // Receivers see them in this order.
    const data = Object.assign({}, this.deps.presentJob(ended), { client, metadata });
    const type = eventTypeOf(job);
    const about = { accountId: job.accountId, jobId: job.id, number, type, trace: job.trace, data };
    return newEvent(this.deps.ids, about, now);
  }
}

/** An event whose bytes are fixed from now on. */
export function newEvent(
  ids: IdGenerator,
  {
    data,
    ...event
  }: Pick<WebhookEvent, "accountId" | "jobId" | "number" | "type" | "trace"> & { readonly data: object },
  now: number,
): WebhookEvent {
  const body = JSON.stringify({ type: event.type, timestamp: new Date(now).toISOString(), data });
  return { id: ids.next("evt"), body, createdAt: now, ...event };
}

/** Due at once. */
export function newDelivery(ids: IdGenerator, event: WebhookEvent, endpointId: WebhookEndpointId): WebhookDelivery {
  return {
    id: ids.next("dlv"),
    eventId: event.id,
    endpointId,
    state: "pending",
    attempts: 0,
    fence: 0,
    leaseOwner: null,
    dueAt: event.createdAt,
    createdAt: event.createdAt,
    endedAt: null,
  };
}
