import { expect } from "chai";
import { AesSecretBox } from "../../adapters/crypto/secret-box.js";
import type { AccountId, WebhookDeliveryId, WebhookEndpointId } from "../../core/ids.js";
import { createMaintenance } from "../../core/maintenance/create-maintenance.js";
import type { Maintenance } from "../../core/maintenance/maintenance.js";
import { createWebhooks, type Webhooks } from "../../core/webhooks/create-webhooks.js";
import type { DeliverWebhooks } from "../../core/webhooks/deliver-webhooks.js";
import type { WebhookDelivery, WebhookEndpoint, DeliveryAttempt } from "../../core/ports/webhook-records.js";
import type { ShownEndpoint } from "../../core/webhooks/shown-endpoint.js";
import type { ManageEndpoints } from "../../core/webhooks/manage-endpoints.js";
import type { OperateWebhooks } from "../../core/webhooks/operate-webhooks.js";
import { newDelivery, newEvent } from "../../core/webhooks/write-events.js";
import { anId, RETENTION } from "./builders.js";
import { corePorts } from "./core-ports.js";
import { RecordingMetrics } from "./doubles/recording-metrics.js";
import { memoryStorage } from "./memory-storage.js";
import type { StorageUnderTest } from "./storage-under-test.js";
import { unrecorded } from "../../core/audit/unrecorded.js";
import { ManualClock } from "./doubles/manual-clock.js";
import { ManualRandom } from "./doubles/manual-random.js";
import { RecordingLogger } from "./doubles/recording-logger.js";
import { RecordingSender } from "./doubles/recording-sender.js";
import { StubGuard } from "./doubles/stub-guard.js";
import { until } from "./until.js";
import type { WebhookStore } from "../../core/ports/webhook-store.js";
import { FaultyPort } from "./doubles/faulty-port.js";
import { EVERY_KEY, FixedKeyring } from "./doubles/fixed-keyring.js";

export const SCHEDULE_MS = [
  5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 50_400_000, 72_000_000, 86_400_000,
] as const;
const STEP_MS = 500;

/** The stores in memory; a manual clock and scripted receivers. */
export class DeliveryHarness {
  readonly random = new ManualRandom();
  readonly logger = new RecordingLogger();
  readonly sender = new RecordingSender();
  readonly guard = new StubGuard();
  readonly secretBox = new AesSecretBox(new FixedKeyring());
  readonly metrics = new RecordingMetrics();
  readonly endpoints: ManageEndpoints;
  readonly operate: OperateWebhooks;
  readonly webhookStore: FaultyPort<WebhookStore>;
  private readonly senders: DeliverWebhooks[] = [];
  private registered = 0;

  private constructor(
    readonly storage: StorageUnderTest,
    readonly clock: ManualClock,
    readonly accountId: AccountId,
  ) {
    this.webhookStore = new FaultyPort(storage.webhooks);
    const { operate } = this.webhooks();
    this.endpoints = operate.endpoints;
    this.operate = operate;
  }

  static async open(): Promise<DeliveryHarness> {
    const clock = new ManualClock();
    const storage = await memoryStorage(clock);
    const harness = new DeliveryHarness(storage, clock, (await storage.addAccount()).id);
    // In the middle: every wait is as long as planned.
    harness.random.nextFraction = 0.5;
    return harness;
  }

  async close(): Promise<void> {
    for (const sender of [...this.senders]) await this.stop(sender, 0);
    const { violations } = await this.storage.ledger.audit();
    expect(violations).to.deep.equal([]);
  }

  async endpoint(url = `https://hooks.example.com/${(this.registered += 1)}`): Promise<ShownEndpoint> {
    return (await this.endpoints.create(this.accountId, url)).endpoint;
  }

  /** Writes an event for these endpoints, as the end of a job does. @returns its deliveries */
  async event(
    ...endpoints: readonly (Pick<WebhookEndpoint, "id"> & Partial<Pick<WebhookEndpoint, "accountId">>)[]
  ): Promise<WebhookDelivery[]> {
    const accountId = endpoints[0]?.accountId ?? this.accountId;
    const ids = { next: anId };
    const { webhooks } = this.storage;
    const event = newEvent(
      ids,
      { accountId, jobId: null, number: null, trace: null, type: "generation.completed", data: { job_id: "job_1" } },
      this.clock.now(),
    );
    const deliveries = endpoints.map(({ id }) => newDelivery(ids, event, id));
    await this.storage.inTransaction(async (tx) => {
      await webhooks.insertEvents(tx, [event]);
      await webhooks.insertDeliveries(tx, deliveries);
    });
    return deliveries;
  }

  /** A running sender. */
  start(sweepMs = 1_000, scheduleMs: readonly number[] = SCHEDULE_MS): DeliverWebhooks {
    const sender = this.webhooks(sweepMs, scheduleMs).createDeliveries();
    sender.start();
    this.senders.push(sender);
    return sender;
  }

  maintenance(scheduleMs: readonly number[] = SCHEDULE_MS): Maintenance {
    const { clock, logger, storage } = this;
    const ports = corePorts(storage, { clock, logger });
    const endJobs = { endOverdue: () => Promise.resolve(null) };
    const scheduled = {
      endJobs,
      queueDeadlineMs: 3_600_000,
      retention: RETENTION,
      scheduleMs,
      ledgerFullCheckMs: 86_400_000,
      everyMs: 5_000,
      others: [],
    };
    return createMaintenance({ ports, audit: unrecorded(storage.unitOfWork), ...scheduled }).maintenance;
  }

  async stop(sender: DeliverWebhooks, graceMs: number): Promise<void> {
    this.senders.splice(this.senders.indexOf(sender), 1);
    let isDone = false;
    const done = sender.stop(graceMs).finally(() => (isDone = true));
    await until("the sender has stopped", async () => {
      if (!isDone) await this.clock.advance(10);
      return isDone;
    });
    await done;
  }

  /** Resolves when every sender sleeps, and its attempts wait for their receivers. */
  async quiet(): Promise<void> {
    await until("the senders are quiet", () => {
      const attempts = this.senders.reduce((sum, sender) => sum + sender.tries, 0);
      return this.clock.sleeping === this.senders.length && attempts === this.sender.waiting;
    });
  }

  async pass(ms: number): Promise<void> {
    await this.quiet();
    const step = ms > 60_000 ? ms / 100 : STEP_MS;
    for (let left = ms; left > 0; left -= step) {
      await this.clock.advance(Math.min(left, step));
      await this.quiet();
    }
  }

  async delivery(id: WebhookDeliveryId): Promise<WebhookDelivery> {
    const found = await this.storage.webhooks.findDelivery(id);
    if (found === null) throw new Error(`There is no delivery ${id}.`);
    return found;
  }

  async attempts(id: WebhookDeliveryId): Promise<DeliveryAttempt[]> {
    return (await this.storage.webhooks.listDeliveryAttempts([id])).get(id) ?? [];
  }

  async kept(id: WebhookEndpointId): Promise<WebhookEndpoint> {
    const found = (await this.storage.webhooks.findEndpoints([id])).get(id);
    if (found === undefined) throw new Error(`There is no endpoint ${id}.`);
    return found;
  }

  private webhooks(sweepMs = 1_000, scheduleMs: readonly number[] = SCHEDULE_MS): Webhooks {
    const { storage, clock, random, logger, sender: webhookSender, guard: addressGuard, metrics } = this;
    const webhooks = this.webhookStore.port;
    return createWebhooks({
      ports: corePorts(storage, { clock, random, logger, webhookSender, addressGuard, metrics, webhooks }),
      options: { allowHttp: false, timeoutMs: 15_000, scheduleMs, eventBody: ({ job }) => ({ job_id: job.id }) },
      audit: unrecorded(storage.unitOfWork),
      sealKeys: EVERY_KEY,
      audioUrls: { sign: () => "https://fermata.test/audio" },
      sweepMs,
    });
  }
}
