import { expect } from "chai";
import type { WebhookDelivery } from "../../../core/ports/webhook-records.js";
import { responses, fails, holds } from "../../support/doubles/recording-sender.js";
import { DeliveryRoom, SCHEDULE_MS } from "./delivery-harness.js";

const HOUR_MS = 3_600_000;

describe("The delivery of a webhook event", () => {
  let room: DeliveryRoom;
  beforeEach(async () => {
    room = await DeliveryRoom.open();
  });
  afterEach(() => room.close());

  it("is made at once, signed with the endpoint's secret, and written down", async () => {
    const { endpoint, secret } = await room.endpoints.create(room.accountId, "https://hooks.example.com/a");
    const [delivery] = (await room.event(endpoint)) as [WebhookDelivery];
    room.start();
    await room.quiet();
    const [message] = room.sender.messages;
    expect(message).to.deep.include({
      url: "https://hooks.example.com/a",
      eventId: delivery.eventId,
      sentAt: room.clock.now(),
      secrets: [secret],
    });
    expect(JSON.parse(message?.body ?? "")).to.deep.equal({
      type: "generation.completed",
      timestamp: "2026-11-21T06:30:00.000Z",
      data: { job_id: "job_1" },
    });
    expect(await room.delivery(delivery.id)).to.include({
      state: "delivered",
      attempts: 1,
      dueAt: null,
      leaseOwner: null,
      endedAt: room.clock.now(),
    });
    expect(await room.tries(delivery.id)).to.have.length(1);
    expect(room.metrics.counted).to.deep.equal([["try", "delivered"]]);
  });

  it("is tried by the schedule with the same id and bytes, each time signed anew, until it is exhausted", async () => {
    const [delivery] = (await room.event(await room.endpoint())) as [WebhookDelivery];
    room.sender.reception = responses(500);
    room.start(3_600_000);
    await room.quiet();
    for (const [index, wait] of SCHEDULE_MS.entries()) {
      expect(await room.delivery(delivery.id)).to.include({
        state: "pending",
        attempts: index + 1,
        dueAt: room.clock.now() + wait,
      });
      await room.clock.advance(wait);
      await room.quiet();
    }
    const { messages } = room.sender;
    expect(messages).to.have.length(SCHEDULE_MS.length + 1);
    expect(new Set(messages.map(({ eventId, body }) => `${eventId} ${body}`)).size).to.equal(1);
    expect(new Set(messages.map(({ sentAt }) => sentAt)).size).to.equal(messages.length);
    expect(await room.delivery(delivery.id)).to.include({ state: "exhausted", attempts: 10, dueAt: null });
    const tries = await room.tries(delivery.id);
    expect(tries.map(({ number, status, failure, isManual }) => [number, status, failure, isManual])).to.deep.equal(
      messages.map((_, index) => [index + 1, 500, "http_5xx", false]),
    );
  });

  it("ends with the first success", async () => {
    const [delivery] = (await room.event(await room.endpoint())) as [WebhookDelivery];
    room.sender.reception = responses(503);
    room.start();
    await room.quiet();
    room.sender.reception = responses(204);
    await room.pass(5_500);
    expect(await room.delivery(delivery.id)).to.include({ state: "delivered", attempts: 2 });
    await room.pass(HOUR_MS);
    expect(room.sender.messages).to.have.length(2);
  });

  it("keeps a Retry-After", async () => {
    const [delivery] = (await room.event(await room.endpoint())) as [WebhookDelivery];
    room.sender.reception = responses(429, { retryAfterMs: 60_000 });
    room.start();
    await room.quiet();
    expect((await room.delivery(delivery.id)).dueAt).to.equal(room.clock.now() + 60_000);
  });

  it("goes to every endpoint, whatever becomes of the others", async () => {
    const endpoints = [
      await room.endpoint("https://one.example.com/"),
      await room.endpoint("https://two.example.com/"),
    ];
    const [one, two] = (await room.event(...endpoints)) as [WebhookDelivery, WebhookDelivery];
    room.sender.reception = (message, signal) =>
      (message.url.includes("one") ? responses(500) : responses(200))(message, signal);
    room.start();
    await room.quiet();
    expect([(await room.delivery(one.id)).state, (await room.delivery(two.id)).state]).to.deep.equal([
      "pending",
      "delivered",
    ]);
  });

  describe("stops at an endpoint that", () => {
    it("was disabled by its owner: what waits is dropped and never sent, also after it is enabled again", async () => {
      const endpoint = await room.endpoint();
      const [delivery] = (await room.event(endpoint)) as [WebhookDelivery];
      room.sender.reception = responses(500);
      room.start();
      await room.quiet();
      await room.endpoints.update(room.accountId, endpoint.id, { status: "disabled" });
      expect(await room.delivery(delivery.id)).to.include({ state: "dropped", dueAt: null });
      await room.endpoints.update(room.accountId, endpoint.id, { status: "active" });
      await room.pass(10_000);
      expect(room.sender.messages).to.have.length(1);
    });

    it("was deleted", async () => {
      const endpoint = await room.endpoint();
      const [delivery] = (await room.event(endpoint)) as [WebhookDelivery];
      await room.endpoints.remove(room.accountId, endpoint.id);
      room.start();
      await room.pass(2_000);
      expect(room.sender.messages).to.deep.equal([]);
      expect((await room.delivery(delivery.id)).state).to.equal("dropped");
    });

    it("was disabled while its event was written", async () => {
      const endpoint = await room.endpoint();
      await room.endpoints.update(room.accountId, endpoint.id, { status: "disabled" });
      const [delivery] = (await room.event(endpoint)) as [WebhookDelivery];
      room.start();
      await room.pass(2_000);
      expect(room.sender.messages).to.deep.equal([]);
      expect((await room.delivery(delivery.id)).state).to.equal("dropped");
    });

    it("answers 410: it is disabled, and everything that waits for it is dropped", async () => {
      const endpoint = await room.endpoint();
      room.sender.reception = responses(500);
      const [waiting] = (await room.event(endpoint)) as [WebhookDelivery];
      room.start();
      await room.quiet();
      room.sender.reception = responses(410);
      const [last] = (await room.event(endpoint)) as [WebhookDelivery];
      await room.pass(1_000);
      expect(await room.kept(endpoint.id)).to.include({
        status: "disabled",
        disabledBy: "gone",
        disabledAt: room.clock.now(),
      });
      expect([(await room.delivery(waiting.id)).state, (await room.delivery(last.id)).state]).to.deep.equal([
        "dropped",
        "dropped",
      ]);
      expect(room.metrics.counted.at(-1)).to.deep.equal(["disabled", "gone"]);
      expect(
        room.logger.lines.some(
          ({ level, message }) => level === "error" && message === "A webhook endpoint was disabled",
        ),
      ).to.equal(true);
    });

    it("has failed for five days: it is disabled after warnings", async () => {
      const endpoint = await room.endpoint();
      room.sender.reception = responses(500);
      room.start(60_000);
      for (let hours = 0; hours <= 124; hours += 4) {
        await room.event(endpoint);
        await room.pass(4 * HOUR_MS);
      }
      expect(await room.kept(endpoint.id)).to.include({ status: "disabled", disabledBy: "failing" });
      expect(room.metrics.counted.filter(([what]) => what !== "try")).to.deep.equal([
        ["warning", 24],
        ["warning", 72],
        ["disabled", "failing"],
      ]);
      const sent = room.sender.messages.length;
      await room.pass(24 * HOUR_MS);
      expect(room.sender.messages).to.have.length(sent);
    });
  });

  it("begins a clean record with a new URL", async () => {
    const endpoint = await room.endpoint();
    room.sender.reception = fails("connect");
    for (let created = 0; created < 5; created++) await room.event(endpoint);
    room.start();
    await room.quiet();
    expect((await room.kept(endpoint.id)).health.breaker?.failures).to.equal(5);
    room.sender.reception = responses(200);
    await room.endpoints.update(room.accountId, endpoint.id, { url: "https://elsewhere.example.com/" });
    expect((await room.kept(endpoint.id)).health).to.deep.equal({ streak: null, breaker: null });
    await room.pass(6_000);
    expect(room.sender.messages.slice(5).map(({ url }) => url)).to.deep.equal(
      Array(5).fill("https://elsewhere.example.com/"),
    );
  });

  it("survives a lost sender: another makes it again, under the same id", async () => {
    const [delivery] = (await room.event(await room.endpoint())) as [WebhookDelivery];
    const claims = [{ endpointId: delivery.endpointId, limit: 1 }];
    const now = room.clock.now();
    expect(await room.storage.webhooks.claimDeliveries(claims, now, "prc_lost", now + 60_000)).to.have.length(1);
    room.start();
    await room.pass(59_000);
    expect(room.sender.messages).to.deep.equal([]);
    await room.pass(2_000);
    expect(room.sender.messages.map(({ eventId }) => eventId)).to.deep.equal([delivery.eventId]);
    expect(await room.delivery(delivery.id)).to.include({ state: "delivered", attempts: 1 });
  });

  it("is handed back by a sender that stops, and counts as no try", async () => {
    const { reception } = holds();
    room.sender.reception = reception;
    const [delivery] = (await room.event(await room.endpoint())) as [WebhookDelivery];
    const sender = room.start();
    await room.sender.sent();
    await room.stop(sender, 1_000);
    expect(await room.delivery(delivery.id)).to.include({ state: "pending", attempts: 0, leaseOwner: null });
    room.sender.reception = responses(200);
    room.start();
    await room.quiet();
    expect(await room.delivery(delivery.id)).to.include({ state: "delivered", attempts: 1 });
  });

  it("is made once by many senders", async () => {
    const endpoints = await Promise.all(
      Array.from({ length: 4 }, (_, index) => room.endpoint(`https://${index}.example.com/`)),
    );
    const deliveries: WebhookDelivery[] = [];
    for (let created = 0; created < 25; created++) deliveries.push(...(await room.event(...endpoints)));
    for (let sender = 0; sender < 3; sender++) room.start();
    await room.pass(3_000);
    const sent = room.sender.messages.map(({ eventId, url }) => `${eventId} ${url}`);
    expect(sent).to.have.length(100);
    expect(new Set(sent).size).to.equal(100);
    for (const { id } of deliveries) expect((await room.delivery(id)).state).to.equal("delivered");
  });

  describe("to an endpoint that hangs", () => {
    it("takes at most five tries at once, and delays no other endpoint", async () => {
      const [hanging, healthy] = [
        await room.endpoint("https://hangs.example.com/"),
        await room.endpoint("https://well.example.com/"),
      ];
      const { reception } = holds();
      room.sender.reception = (message, signal) =>
        (message.url.includes("hangs") ? reception : responses(200))(message, signal);
      for (let created = 0; created < 40; created++) await room.event(hanging, healthy);
      room.start();
      await room.pass(2_000);
      const sentTo = (name: string): number => room.sender.messages.filter(({ url }) => url.includes(name)).length;
      expect([sentTo("hangs"), sentTo("well")]).to.deep.equal([5, 40]);
    });

    it("waits behind its breaker without using up tries, then lets one through", async () => {
      const endpoint = await room.endpoint();
      room.sender.reception = fails("timeout");
      const deliveries: WebhookDelivery[] = [];
      for (let created = 0; created < 12; created++) deliveries.push(...(await room.event(endpoint)));
      room.start();
      await room.quiet();
      // The fifth failure opens the breaker; up to four others may have begun by then.
      const begun = room.sender.messages.length;
      expect(begun).to.be.within(5, 9);
      await room.pass(29_000);
      expect(room.sender.messages).to.have.length(begun);
      await room.pass(2_000);
      expect(room.sender.messages).to.have.length(begun + 1);
      room.sender.reception = responses(200);
      await room.pass(400_000);
      for (const { id } of deliveries) expect((await room.delivery(id)).state).to.equal("delivered");
      expect((await room.kept(endpoint.id)).health).to.deep.equal({ streak: null, breaker: null });
    });
  });

  it("is forgotten with its event and tries after 30 days", async () => {
    const [old] = (await room.event(await room.endpoint())) as [WebhookDelivery];
    const sender = room.start(3_600_000);
    await room.quiet();
    await room.stop(sender, 0);
    await room.clock.advance(30 * 24 * HOUR_MS);
    await room.maintenance().runOnce();
    expect((await room.delivery(old.id)).state).to.equal("delivered");
    const [young] = (await room.event(await room.endpoint())) as [WebhookDelivery];
    await room.clock.advance(1);
    await room.maintenance().runOnce();
    expect(await room.storage.webhooks.findDelivery(old.id)).to.equal(null);
    expect([await room.tries(old.id), (await room.storage.webhooks.findEvents([old.eventId])).size]).to.deep.equal([
      [],
      0,
    ]);
    expect((await room.delivery(young.id)).state).to.equal("pending");
  });

  it("stays with its event until its schedule is over, where that takes longer than 30 days", async () => {
    const schedule = [20, 20].map((days) => days * 24 * HOUR_MS);
    room.sender.reception = responses(500);
    const [delivery] = (await room.event(await room.endpoint())) as [WebhookDelivery];
    const sender = room.start(3_600_000, schedule);
    const maintenance = room.maintenance(schedule);
    await room.pass(40 * 24 * HOUR_MS - 1_000);
    await maintenance.runOnce();
    expect(await room.delivery(delivery.id)).to.include({ state: "pending", attempts: 2 });
    room.sender.reception = responses(200);
    await room.pass(24 * HOUR_MS);
    expect((await room.delivery(delivery.id)).state).to.equal("delivered");
    await room.stop(sender, 0);
    // Each wait may be a fifth longer, and a day is added for attempts that are late.
    await room.clock.advance(8 * 24 * HOUR_MS + 2_000);
    await maintenance.runOnce();
    expect(await room.storage.webhooks.findDelivery(delivery.id)).to.equal(null);
  });

  it("goes on when the storage comes back", async () => {
    const [delivery] = (await room.event(await room.endpoint())) as [WebhookDelivery];
    const { webhooks } = room.storage;
    const reach = webhooks.endpointsWithDue.bind(webhooks);
    let isOut = true;
    webhooks.endpointsWithDue = (now) => (isOut ? Promise.reject(new Error("out of reach")) : reach(now));
    room.start();
    await room.pass(3_000);
    expect(room.sender.messages).to.deep.equal([]);
    isOut = false;
    await room.pass(1_000);
    expect((await room.delivery(delivery.id)).state).to.equal("delivered");
  });
});
