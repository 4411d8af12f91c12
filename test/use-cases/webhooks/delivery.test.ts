import { expect } from "chai";
import type { WebhookDelivery } from "../../../core/ports/webhook-records.js";
import { sendReturns, sendFails, sendHolds } from "../../support/doubles/recording-sender.js";
import { DeliveryHarness, SCHEDULE_MS } from "../../support/delivery-harness.js";
import { until } from "../../support/until.js";

const HOUR_MS = 3_600_000;

describe("The delivery of a webhook event", () => {
  let harness: DeliveryHarness;
  beforeEach(async () => {
    harness = await DeliveryHarness.open();
  });
  afterEach(() => harness.close());

  it("is attempted at once, signed with the endpoint's secret, and recorded", async () => {
    const { endpoint, secret } = await harness.endpoints.create(harness.accountId, "https://hooks.example.com/a");
    const [delivery] = (await harness.event(endpoint)) as [WebhookDelivery];
    harness.start();
    await harness.quiet();
    const [message] = harness.sender.messages;
    expect(message).to.deep.include({
      url: "https://hooks.example.com/a",
      eventId: delivery.eventId,
      sentAt: harness.clock.now(),
      secrets: [secret],
    });
    expect(JSON.parse(message?.body ?? "")).to.deep.equal({
      type: "generation.completed",
      timestamp: "2026-11-21T06:30:00.000Z",
      data: { job_id: "job_1" },
    });
    expect(await harness.delivery(delivery.id)).to.include({
      state: "delivered",
      attempts: 1,
      dueAt: null,
      leaseOwner: null,
      endedAt: harness.clock.now(),
    });
    expect(await harness.attempts(delivery.id)).to.have.length(1);
    expect(harness.metrics.counted).to.deep.equal([
      ["try", "delivered"],
      ["delivery", "delivered"],
    ]);
  });

  it("is attempted by the schedule with the same id and bytes, signed each time, until exhausted", async () => {
    const [delivery] = (await harness.event(await harness.endpoint())) as [WebhookDelivery];
    harness.sender.reception = sendReturns(500);
    harness.start(3_600_000);
    await harness.quiet();
    for (const [index, wait] of SCHEDULE_MS.entries()) {
      expect(await harness.delivery(delivery.id)).to.include({
        state: "pending",
        attempts: index + 1,
        dueAt: harness.clock.now() + wait,
      });
      await harness.clock.advance(wait);
      await harness.quiet();
    }
    const { messages } = harness.sender;
    expect(messages).to.have.length(SCHEDULE_MS.length + 1);
    expect(new Set(messages.map(({ eventId, body }) => `${eventId} ${body}`)).size).to.equal(1);
    expect(new Set(messages.map(({ sentAt }) => sentAt)).size).to.equal(messages.length);
    expect(await harness.delivery(delivery.id)).to.include({ state: "exhausted", attempts: 10, dueAt: null });
    const attempts = await harness.attempts(delivery.id);
    expect(attempts.map(({ number, status, failure, isManual }) => [number, status, failure, isManual])).to.deep.equal(
      messages.map((_, index) => [index + 1, 500, "http_5xx", false]),
    );
  });

  it("ends with the first success", async () => {
    const [delivery] = (await harness.event(await harness.endpoint())) as [WebhookDelivery];
    harness.sender.reception = sendReturns(503);
    harness.start();
    await harness.quiet();
    harness.sender.reception = sendReturns(204);
    await harness.pass(5_500);
    expect(await harness.delivery(delivery.id)).to.include({ state: "delivered", attempts: 2 });
    await harness.pass(HOUR_MS);
    expect(harness.sender.messages).to.have.length(2);
  });

  it("respects Retry-After", async () => {
    const [delivery] = (await harness.event(await harness.endpoint())) as [WebhookDelivery];
    harness.sender.reception = sendReturns(429, { retryAfterMs: 60_000 });
    harness.start();
    await harness.quiet();
    expect((await harness.delivery(delivery.id)).dueAt).to.equal(harness.clock.now() + 60_000);
  });

  it("goes to every endpoint, whatever the result at the others", async () => {
    const endpoints = [
      await harness.endpoint("https://one.example.com/"),
      await harness.endpoint("https://two.example.com/"),
    ];
    const [one, two] = (await harness.event(...endpoints)) as [WebhookDelivery, WebhookDelivery];
    harness.sender.reception = (message, signal) =>
      (message.url.includes("one") ? sendReturns(500) : sendReturns(200))(message, signal);
    harness.start();
    await harness.quiet();
    expect([(await harness.delivery(one.id)).state, (await harness.delivery(two.id)).state]).to.deep.equal([
      "pending",
      "delivered",
    ]);
  });

  describe("stops at an endpoint that", () => {
    it("was disabled by its owner: pending deliveries are dropped, even if it is enabled again", async () => {
      const endpoint = await harness.endpoint();
      const [delivery] = (await harness.event(endpoint)) as [WebhookDelivery];
      harness.sender.reception = sendReturns(500);
      harness.start();
      await harness.quiet();
      await harness.endpoints.update(harness.accountId, endpoint.id, { status: "disabled" });
      expect(await harness.delivery(delivery.id)).to.include({ state: "dropped", dueAt: null });
      await harness.endpoints.update(harness.accountId, endpoint.id, { status: "active" });
      await harness.pass(10_000);
      expect(harness.sender.messages).to.have.length(1);
    });

    it("was deleted", async () => {
      const endpoint = await harness.endpoint();
      const [delivery] = (await harness.event(endpoint)) as [WebhookDelivery];
      await harness.endpoints.remove(harness.accountId, endpoint.id);
      harness.start();
      await harness.pass(2_000);
      expect(harness.sender.messages).to.deep.equal([]);
      expect((await harness.delivery(delivery.id)).state).to.equal("dropped");
    });

    it("was disabled while its event was written", async () => {
      const endpoint = await harness.endpoint();
      await harness.endpoints.update(harness.accountId, endpoint.id, { status: "disabled" });
      const [delivery] = (await harness.event(endpoint)) as [WebhookDelivery];
      harness.start();
      await harness.pass(2_000);
      expect(harness.sender.messages).to.deep.equal([]);
      expect((await harness.delivery(delivery.id)).state).to.equal("dropped");
    });

    it("returns 410: it is disabled, and its pending deliveries are dropped", async () => {
      const endpoint = await harness.endpoint();
      harness.sender.reception = sendReturns(500);
      const [waiting] = (await harness.event(endpoint)) as [WebhookDelivery];
      harness.start();
      await harness.quiet();
      harness.sender.reception = sendReturns(410);
      const [last] = (await harness.event(endpoint)) as [WebhookDelivery];
      await harness.pass(1_000);
      expect(await harness.kept(endpoint.id)).to.include({
        status: "disabled",
        disabledBy: "gone",
        disabledAt: harness.clock.now(),
      });
      expect([(await harness.delivery(waiting.id)).state, (await harness.delivery(last.id)).state]).to.deep.equal([
        "dropped",
        "dropped",
      ]);
      expect(harness.metrics.counted.at(-1)).to.deep.equal(["disabled", "gone"]);
      expect(
        harness.logger.lines.some(
          ({ level, message }) => level === "error" && message === "A webhook endpoint was disabled",
        ),
      ).to.equal(true);
    });
  });

  it("resets the endpoint's failures when its URL changes", async () => {
    const endpoint = await harness.endpoint();
    harness.sender.reception = sendFails("connect");
    for (let created = 0; created < 5; created++) await harness.event(endpoint);
    harness.start();
    await harness.quiet();
    expect((await harness.kept(endpoint.id)).health.breaker?.failures).to.equal(5);
    harness.sender.reception = sendReturns(200);
    await harness.endpoints.update(harness.accountId, endpoint.id, { url: "https://elsewhere.example.com/" });
    expect((await harness.kept(endpoint.id)).health).to.deep.equal({ streak: null, breaker: null });
    await harness.pass(6_000);
    expect(harness.sender.messages.slice(5).map(({ url }) => url)).to.deep.equal(
      Array(5).fill("https://elsewhere.example.com/"),
    );
  });

  it("survives a lost sender: another sends it again, under the same id", async () => {
    const [delivery] = (await harness.event(await harness.endpoint())) as [WebhookDelivery];
    const claims = [{ endpointId: delivery.endpointId, limit: 1 }];
    const now = harness.clock.now();
    expect(await harness.storage.webhooks.claimDeliveries(claims, now, "prc_lost", now + 60_000)).to.have.length(1);
    harness.start();
    await harness.pass(59_000);
    expect(harness.sender.messages).to.deep.equal([]);
    await harness.pass(2_000);
    expect(harness.sender.messages.map(({ eventId }) => eventId)).to.deep.equal([delivery.eventId]);
    expect(await harness.delivery(delivery.id)).to.include({ state: "delivered", attempts: 1 });
  });

  it("is released by a stopping sender, and does not count as an attempt", async () => {
    const { reception } = sendHolds();
    harness.sender.reception = reception;
    const [delivery] = (await harness.event(await harness.endpoint())) as [WebhookDelivery];
    const sender = harness.start();
    await harness.sender.sent();
    await harness.stop(sender, 1_000);
    expect(await harness.delivery(delivery.id)).to.include({ state: "pending", attempts: 0, leaseOwner: null });
    harness.sender.reception = sendReturns(200);
    harness.start();
    await harness.quiet();
    expect(await harness.delivery(delivery.id)).to.include({ state: "delivered", attempts: 1 });
  });

  it("is sent once by many senders", async () => {
    const endpoints = await Promise.all(
      Array.from({ length: 4 }, (_, index) => harness.endpoint(`https://${index}.example.com/`)),
    );
    const deliveries: WebhookDelivery[] = [];
    for (let created = 0; created < 25; created++) deliveries.push(...(await harness.event(...endpoints)));
    for (let sender = 0; sender < 3; sender++) harness.start();
    await harness.pass(3_000);
    const sent = harness.sender.messages.map(({ eventId, url }) => `${eventId} ${url}`);
    expect(sent).to.have.length(100);
    expect(new Set(sent).size).to.equal(100);
    for (const { id } of deliveries) expect((await harness.delivery(id)).state).to.equal("delivered");
  });

  it("is deleted with its event and attempts after 30 days", async () => {
    const [old] = (await harness.event(await harness.endpoint())) as [WebhookDelivery];
    const sender = harness.start(3_600_000);
    await harness.quiet();
    await harness.stop(sender, 0);
    await harness.clock.advance(30 * 24 * HOUR_MS);
    await harness.maintenance().runOnce();
    expect((await harness.delivery(old.id)).state).to.equal("delivered");
    const [young] = (await harness.event(await harness.endpoint())) as [WebhookDelivery];
    await harness.clock.advance(1);
    await harness.maintenance().runOnce();
    expect(await harness.storage.webhooks.findDelivery(old.id)).to.equal(null);
    expect([
      await harness.attempts(old.id),
      (await harness.storage.webhooks.findEvents([old.eventId])).size,
    ]).to.deep.equal([[], 0]);
    expect((await harness.delivery(young.id)).state).to.equal("pending");
  });

  it("stays with its event until its schedule is over, when that takes longer than 30 days", async () => {
    const schedule = [20, 20].map((days) => days * 24 * HOUR_MS);
    harness.sender.reception = sendReturns(500);
    const [delivery] = (await harness.event(await harness.endpoint())) as [WebhookDelivery];
    const sender = harness.start(3_600_000, schedule);
    const maintenance = harness.maintenance(schedule);
    await harness.pass(40 * 24 * HOUR_MS - 1_000);
    await maintenance.runOnce();
    expect(await harness.delivery(delivery.id)).to.include({ state: "pending", attempts: 2 });
    harness.sender.reception = sendReturns(200);
    await harness.pass(24 * HOUR_MS);
    expect((await harness.delivery(delivery.id)).state).to.equal("delivered");
    await harness.stop(sender, 0);
    // Each wait may be a fifth longer, and a day is added for late attempts.
    await harness.clock.advance(8 * 24 * HOUR_MS + 2_000);
    await maintenance.runOnce();
    expect(await harness.storage.webhooks.findDelivery(delivery.id)).to.equal(null);
  });

  it("does not wait for the results of others to be written, unless one of them failed", async () => {
    const [busy, failing] = [
      await harness.endpoint("https://busy.example.com/"),
      await harness.endpoint("https://fails.example.com/"),
    ];
    for (let created = 0; created < 12; created++) await harness.event(busy, failing);
    harness.sender.reception = (message, signal) =>
      (message.url.includes("fails") ? sendReturns(500) : sendReturns(200))(message, signal);
    let isLocked = true;
    harness.webhookStore.on("tryLockDeliveries", async (tryLock, tx, ids) =>
      isLocked ? { locked: new Map(), busy: new Set(ids) } : tryLock(tx, ids),
    );
    harness.start();
    const sentTo = (name: string): number => harness.sender.messages.filter(({ url }) => url.includes(name)).length;
    await until("all are sent to the one that responds", () => sentTo("busy") === 12);
    expect(sentTo("fails"), "up to four may have started by the fifth failure").to.be.within(5, 9);
    isLocked = false;
    // Results that could not be written are tried again after some milliseconds.
    await harness.clock.advance(100);
    await harness.pass(1_000);
    expect(sentTo("busy")).to.equal(12);
    const filter = { endpointId: busy.id, states: ["delivered"], order: "newest", limit: 50 } as const;
    const delivered = await harness.storage.webhooks.listDeliveries(filter);
    expect(delivered).to.have.length(12);
  });

  it("continues when the storage is available again", async () => {
    const [delivery] = (await harness.event(await harness.endpoint())) as [WebhookDelivery];
    harness.webhookStore.failOn("endpointsWithDue", () => new Error("unavailable"));
    harness.start();
    await harness.pass(3_000);
    expect(harness.sender.messages).to.deep.equal([]);
    harness.webhookStore.repair();
    await harness.pass(1_000);
    expect((await harness.delivery(delivery.id)).state).to.equal("delivered");
  });
});
