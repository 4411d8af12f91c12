import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import type { WebhookDelivery } from "../../../core/ports/webhook-records.js";
import type { ShownEndpoint } from "../../../core/webhooks/shown-endpoint.js";
import { type Reception, sendFails, sendHolds, sendReturns } from "../../support/doubles/recording-sender.js";
import { DeliveryHarness } from "../../support/delivery-harness.js";
import { until } from "../../support/until.js";

const isDelivered = ({ state }: WebhookDelivery): boolean => state === "delivered";

/** Of one endpoint under way at once. */
const SLOTS = 5;

describe("Webhook deliveries that are claimed ahead", () => {
  let harness: DeliveryHarness;
  beforeEach(async () => {
    harness = await DeliveryHarness.open();
  });
  afterEach(() => harness.close());

  async function events(count: number, ...endpoints: readonly ShownEndpoint[]): Promise<void> {
    for (let created = 0; created < count; created++) await harness.event(...endpoints);
  }

  const list = (endpoint: ShownEndpoint): Promise<WebhookDelivery[]> =>
    harness.storage.webhooks.listDeliveries({ endpointId: endpoint.id, order: "oldest", limit: 1_000 });
  const leasedOf = async (endpoint: ShownEndpoint): Promise<number> =>
    (await list(endpoint)).filter(({ leaseOwner }) => leaseOwner !== null).length;

  /** Until it has taken so many, then another way. */
  function first(count: number, of: ShownEndpoint, then: Reception): Reception {
    let taken = 0;
    return (message, signal) =>
      (message.url === of.url && (taken += 1) > count ? then : sendReturns(200))(message, signal);
  }

  async function allAreDelivered(endpoint: ShownEndpoint, count: number): Promise<void> {
    const sent = harness.sender.messages.filter(({ url }) => url === endpoint.url).map(({ eventId }) => eventId);
    expect([sent.length, new Set(sent).size]).to.deep.equal([count, count]);
    for (const delivery of await list(endpoint)) expect(delivery).to.include({ state: "delivered", attempts: 1 });
  }

  it("are sent by the limits of their endpoint and host", async () => {
    const endpoints: ShownEndpoint[] = [];
    for (let index = 0; index < 4; index++)
      endpoints.push(await harness.endpoint(`https://one.example.com/hooks/${index}`));
    await events(60, ...endpoints);
    const [active, most] = [new Map<string, number>(), { ofEndpoint: 0, ofHost: 0 }];
    harness.sender.reception = async (message, signal) => {
      active.set(message.url, (active.get(message.url) ?? 0) + 1);
      most.ofEndpoint = Math.max(most.ofEndpoint, ...active.values());
      most.ofHost = Math.max(
        most.ofHost,
        [...active.values()].reduce((sum, count) => sum + count, 0),
      );
      await nextTurn();
      active.set(message.url, (active.get(message.url) ?? 0) - 1);
      return sendReturns(200)(message, signal);
    };
    harness.start();
    await until("all are delivered", async () => (await harness.storage.webhooks.countPending()) === 0);
    for (const endpoint of endpoints) await allAreDelivered(endpoint, 60);
    expect(most).to.deep.equal({ ofEndpoint: SLOTS, ofHost: 10 });
  });

  it("wait a second for their receiver at most, then others may send them", async () => {
    const endpoint = await harness.endpoint();
    await events(80, endpoint);
    const held = sendHolds();
    harness.sender.reception = first(20, endpoint, held.reception);
    harness.start();
    await harness.quiet();
    expect(await leasedOf(endpoint), "as many wait as it took of late").to.be.within(SLOTS + 10, SLOTS + 20);
    await harness.pass(1_500);
    expect(await leasedOf(endpoint)).to.equal(SLOTS);
    held.release();
    await harness.pass(1_000);
    await allAreDelivered(endpoint, 80);
  });

  it("are not sent late by a process that stood still", async () => {
    const endpoint = await harness.endpoint();
    await events(80, endpoint);
    const held = sendHolds();
    harness.sender.reception = first(20, endpoint, held.reception);
    harness.start();
    await harness.quiet();
    const stuck = sendHolds();
    harness.webhookStore.on("endpointsWithDue", async (look, now, after) => {
      await stuck.reception(harness.sender.messages[0] as never, new AbortController().signal);
      return look(now, after);
    });
    await harness.clock.advance(1_500);
    const sent = harness.sender.messages.length;
    held.release();
    await until("the results are written", async () => (await leasedOf(endpoint)) < 30 && harness.sender.waiting === 0);
    expect(harness.sender.messages).to.have.length(sent);
    harness.webhookStore.repair();
    stuck.release();
    await harness.pass(1_000);
    await allAreDelivered(endpoint, 80);
  });

  it("are sent, however long the claim took", async () => {
    const endpoint = await harness.endpoint();
    await events(12, endpoint);
    harness.webhookStore.on("claimDeliveries", async (claim, ...given) => {
      const claimed = await claim(...given);
      await harness.clock.advance(3_000);
      return claimed;
    });
    harness.start();
    await until("all are delivered", async () => (await harness.storage.webhooks.countPending()) === 0);
    await allAreDelivered(endpoint, 12);
  });

  it("are released at once when their endpoint fails", async () => {
    const endpoint = await harness.endpoint();
    await events(80, endpoint);
    harness.sender.reception = first(20, endpoint, sendFails("connect"));
    harness.start();
    await harness.quiet();
    expect(harness.sender.messages.length, "of failures: five, and four that had begun").to.be.within(25, 29);
    expect(await leasedOf(endpoint)).to.equal(0);
    harness.sender.reception = sendReturns(200);
    await harness.pass(40_000);
    expect((await list(endpoint)).filter(({ state }) => state !== "delivered")).to.deep.equal([]);
  });

  it("are released at the first failure of their endpoint, though its host does not count as failing yet", async () => {
    const endpoint = await harness.endpoint();
    await events(80, endpoint);
    const held = sendHolds();
    let hasFailed = false;
    harness.sender.reception = first(20, endpoint, (message, signal) => {
      const reception = hasFailed ? held.reception : sendReturns(500);
      hasFailed = true;
      return reception(message, signal);
    });
    harness.start();
    await harness.quiet();
    expect(await leasedOf(endpoint)).to.equal(SLOTS);
    held.release();
    await harness.pass(1_000);
  });

  it("are released when their host fails at another endpoint", async () => {
    const [well, failing] = [
      await harness.endpoint("https://one.example.com/well"),
      await harness.endpoint("https://one.example.com/fails"),
    ];
    await events(80, well);
    const held = sendHolds();
    harness.sender.reception = first(20, well, held.reception);
    const sender = harness.start();
    await harness.quiet();
    expect(await leasedOf(well)).to.be.greaterThan(SLOTS);
    const [taken, fails] = [harness.sender.reception, sendFails("connect")];
    harness.sender.reception = (message, signal) => (message.url === failing.url ? fails : taken)(message, signal);
    await events(12, failing);
    sender.wake();
    await harness.quiet();
    expect(await leasedOf(well)).to.equal(SLOTS);
    held.release();
    await harness.pass(1_000);
  });

  it("are released by a stopping sender, unsent", async () => {
    const endpoint = await harness.endpoint();
    await events(80, endpoint);
    const held = sendHolds();
    harness.sender.reception = first(20, endpoint, held.reception);
    const sender = harness.start();
    await harness.quiet();
    const sent = harness.sender.messages.length;
    await harness.stop(sender, 1_000);
    expect([harness.sender.messages.length, await leasedOf(endpoint)]).to.deep.equal([sent, 0]);
    harness.sender.reception = sendReturns(200);
    harness.start();
    await harness.quiet();
    expect((await list(endpoint)).every(({ state, attempts }) => state === "delivered" && attempts === 1)).to.equal(
      true,
    );
  });

  it("are not begun any more once the sender is to stop, though a look goes on", async () => {
    const endpoint = await harness.endpoint();
    await events(80, endpoint);
    const [held, stuck] = [sendHolds(), sendHolds()];
    harness.sender.reception = first(20, endpoint, held.reception);
    const sender = harness.start();
    await harness.quiet();
    const { messages } = harness.sender;
    const sent = messages.length;
    let isLooking = false;
    harness.webhookStore.on("endpointsWithDue", async (look, now, after) => {
      isLooking = true;
      await stuck.reception(messages[0] as never, new AbortController().signal);
      return look(now, after);
    });
    sender.wake();
    await until("it looks", () => isLooking);
    const stopped = sender.stop(1_000);
    held.release();
    await until("the results are written", async () => (await list(endpoint)).filter(isDelivered).length === sent);
    stuck.release();
    await stopped;
    expect([messages.length, await leasedOf(endpoint)]).to.deep.equal([sent, 0]);
  });

  it("are begun as soon as results are written, where as many are written as may be", async () => {
    const endpoints: ShownEndpoint[] = [];
    for (let index = 0; index < 20; index++) endpoints.push(await harness.endpoint(`https://${index}.example.com/`));
    await events(16, ...endpoints);
    let isLocked = true;
    harness.webhookStore.on("tryLockDeliveries", async (tryLock, tx, ids) =>
      isLocked ? { locked: new Map(), busy: new Set(ids) } : tryLock(tx, ids),
    );
    harness.start(3_600_000);
    await until("as many are sent as may be", () => harness.sender.messages.length === 300);
    isLocked = false;
    // Results that could not be written are tried again after some milliseconds.
    await harness.clock.advance(100);
    await until("all are sent", () => harness.sender.messages.length === 320);
    await harness.quiet();
  });

  it("are left to their lease when they cannot be released", async () => {
    const endpoint = await harness.endpoint();
    await events(80, endpoint);
    const held = sendHolds();
    harness.sender.reception = first(20, endpoint, held.reception);
    const sender = harness.start();
    await harness.quiet();
    harness.webhookStore.failOn("updateDeliveries", () => new Error("unavailable"));
    await harness.stop(sender, 0);
    expect(harness.logger.lines.some(({ message }) => message.includes("could not be released"))).to.equal(true);
    harness.webhookStore.repair();
    harness.sender.reception = sendReturns(200);
    harness.start();
    await harness.pass(61_000);
    expect((await list(endpoint)).every(({ state }) => state === "delivered")).to.equal(true);
  });
});
