import { expect } from "chai";
import { AesSecretBox } from "../../../adapters/crypto/secret-box.js";
import type { AccountId, WebhookDeliveryId, WebhookEndpointId } from "../../../core/ids.js";
import { CollectAudio } from "../../../core/maintenance/collect-audio.js";
import { Maintenance } from "../../../core/maintenance/maintenance.js";
import { maintenanceTasks } from "../../../core/maintenance/tasks.js";
import { eventsKeptMs } from "../../../core/webhooks/delivery-schedule.js";
import { DeliverWebhooks } from "../../../core/webhooks/deliver-webhooks.js";
import type { WebhookDelivery, WebhookEndpoint, WebhookTry } from "../../../core/webhooks/endpoint.js";
import { ManageEndpoints } from "../../../core/webhooks/manage-endpoints.js";
import { OperateWebhooks } from "../../../core/webhooks/operate-webhooks.js";
import { RecordTry } from "../../../core/webhooks/record-try.js";
import { SendDelivery } from "../../../core/webhooks/send-delivery.js";
import { newDelivery, newEvent } from "../../../core/webhooks/write-events.js";
import { anId } from "../../support/builders.js";
import { type StorageUnderTest, sqliteStorage } from "../../support/databases.js";
import { unrecorded } from "../../support/doubles/unrecorded-actions.js";
import { ManualClock } from "../../support/doubles/manual-clock.js";
import { ManualRandom } from "../../support/doubles/manual-random.js";
import { RecordingLogger } from "../../support/doubles/recording-logger.js";
import { RecordingSender } from "../../support/doubles/recording-sender.js";
import { StubGuard } from "../../support/doubles/stub-guard.js";
import { until } from "../jobs/workshop.js";
import { EVERY_KEY, FixedKeyring } from "../../support/doubles/fixed-keyring.js";

export const SCHEDULE_MS = [
  5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 50_400_000, 72_000_000, 86_400_000,
] as const;
const BREAKER = { openMs: 30_000, openMaxMs: 600_000 };
const STEP_MS = 500;

/** Real storage; time and receivers that do what a test says. */
export class DeliveryRoom {
  readonly clock = new ManualClock();
  readonly random = new ManualRandom();
  readonly logger = new RecordingLogger();
  readonly sender = new RecordingSender();
  readonly guard = new StubGuard();
  readonly secretBox = new AesSecretBox(new FixedKeyring());
  /** What the metrics were told. */
  readonly counted: (readonly [what: string, value: string | number])[] = [];
  readonly endpoints: ManageEndpoints;
  readonly operate: OperateWebhooks;
  private readonly senders: DeliverWebhooks[] = [];
  private registered = 0;

  private constructor(
    readonly storage: StorageUnderTest,
    readonly accountId: AccountId,
  ) {
    const { unitOfWork, webhooks } = storage;
    const { clock, random, logger, guard, secretBox } = this;
    const ids = { next: anId };
    const parts = { unitOfWork, webhooks, guard, secretBox, sealKeys: EVERY_KEY, clock, ids, random };
    this.endpoints = new ManageEndpoints({ ...parts, logger, allowHttp: false });
    this.operate = new OperateWebhooks({ ...parts, audit: unrecorded(unitOfWork), sendDelivery: this.door() });
  }

  static async open(): Promise<DeliveryRoom> {
    const storage = await sqliteStorage.open();
    const room = new DeliveryRoom(storage, (await storage.addAccount()).id);
    // In the middle: every wait is as long as planned.
    room.random.nextFraction = 0.5;
    return room;
  }

  async close(): Promise<void> {
    for (const sender of [...this.senders]) await this.stop(sender, 0);
    const { violations } = await this.storage.ledger.audit();
    await this.storage.close();
    expect(violations).to.deep.equal([]);
  }

  async endpoint(url = `https://hooks.example.com/${(this.registered += 1)}`): Promise<WebhookEndpoint> {
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
      { accountId, jobId: null, type: "generation.completed", data: { job_id: "job_1" } },
      this.clock.now(),
    );
    const deliveries = endpoints.map(({ id }) => newDelivery(ids, event, id));
    await this.storage.inTransaction(async (tx) => {
      await webhooks.insertEvents(tx, [event]);
      await webhooks.insertDeliveries(tx, deliveries);
    });
    return deliveries;
  }

  /** A sender at work. */
  start(sweepMs = 1_000, scheduleMs: readonly number[] = SCHEDULE_MS): DeliverWebhooks {
    const { unitOfWork, webhooks } = this.storage;
    const { clock, random, logger } = this;
    const recordTry = new RecordTry({
      unitOfWork,
      webhooks,
      clock,
      random,
      logger,
      metrics: this.metrics,
      scheduleMs,
      breaker: BREAKER,
    });
    const parts = {
      webhooks,
      unitOfWork,
      sendDelivery: this.door(),
      recordTry,
      clock,
      logger,
      timeoutMs: 15_000,
      sweepMs,
      breaker: BREAKER,
    };
    const sender = new DeliverWebhooks(anId("prc"), parts);
    sender.start();
    this.senders.push(sender);
    return sender;
  }

  maintenance(scheduleMs: readonly number[] = SCHEDULE_MS): Maintenance {
    const { unitOfWork, callbacks, webhooks, jobs, library, uploads, idempotency, requestLog } = this.storage;
    const { clock, logger } = this;
    const endJobs = { endOverdue: () => Promise.resolve(null) };
    const stores = { jobs, callbacks, idempotency, webhooks, requestLog, library, uploads, unitOfWork };
    const noFiles = { list: () => Promise.resolve([]), delete: () => Promise.resolve() };
    const collectAudio = new CollectAudio({ audio: noFiles, jobs, library, uploads, clock, logger });
    const kept = { queueDeadlineMs: 3_600_000, eventsKeptMs: eventsKeptMs(scheduleMs) };
    const tasks = maintenanceTasks({ ...stores, endJobs, collectAudio, clock, logger, ...kept });
    return new Maintenance(tasks, { clock, logger });
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

  /** Resolves when every sender sleeps, and its tries wait for their receivers. */
  async quiet(): Promise<void> {
    await until("the senders are quiet", () => {
      const tries = this.senders.reduce((sum, sender) => sum + sender.tries, 0);
      return this.clock.sleeping === this.senders.length && tries === this.sender.waiting;
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

  async tries(id: WebhookDeliveryId): Promise<WebhookTry[]> {
    return (await this.storage.webhooks.listTries([id])).get(id) ?? [];
  }

  async kept(id: WebhookEndpointId): Promise<WebhookEndpoint> {
    const found = (await this.storage.webhooks.findEndpoints([id])).get(id);
    if (found === undefined) throw new Error(`There is no endpoint ${id}.`);
    return found;
  }

  private door(): SendDelivery {
    return new SendDelivery(this.sender, this.secretBox, this.clock, this.metrics);
  }

  private readonly metrics = {
    countWebhookTry: (outcome: string): void => void this.counted.push(["try", outcome]),
    countEndpointWarning: (hours: number): void => void this.counted.push(["warning", hours]),
    countEndpointDisabled: (by: string): void => void this.counted.push(["disabled", by]),
  };
}
