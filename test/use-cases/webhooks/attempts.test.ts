import { expect } from "chai";
import type { WebhookDelivery } from "../../../core/ports/webhook-records.js";
import type { DeliverWebhooks } from "../../../core/webhooks/deliver-webhooks.js";
import type { ShownEndpoint } from "../../../core/webhooks/shown-endpoint.js";
import { sendFails, sendHolds, sendReturns } from "../../support/doubles/recording-sender.js";
import { DeliveryHarness } from "../../support/delivery-harness.js";
import { until } from "../../support/until.js";

describe("An attempt to deliver a webhook event", () => {
  let harness: DeliveryHarness;
  beforeEach(async () => {
    harness = await DeliveryHarness.open();
  });
  afterEach(() => harness.close());

  const linesOf = (message: string) => harness.logger.lines.filter((line) => line.message === message);

  /** An attempt that waits for its receiver, which then does this. */
  async function underWay(then = sendFails("connect")): Promise<{
    readonly endpoint: ShownEndpoint;
    readonly delivery: WebhookDelivery;
    readonly sender: DeliverWebhooks;
    end(): Promise<void>;
  }> {
    const endpoint = await harness.endpoint();
    const [delivery] = (await harness.event(endpoint)) as [WebhookDelivery];
    const held = sendHolds(then);
    harness.sender.reception = held.reception;
    const sent = harness.sender.messages.length;
    const sender = harness.start();
    await harness.sender.sent(sent + 1);
    const end = async (): Promise<void> => {
      held.release();
      await harness.quiet();
    };
    return { endpoint, delivery, sender, end };
  }

  it("is one of a hundred at most that a process sends at once", async () => {
    const endpoints: ShownEndpoint[] = [];
    for (let index = 0; index < 24; index++) {
      const accountId = index < 12 ? harness.accountId : (await harness.storage.addAccount()).id;
      endpoints.push((await harness.endpoints.create(accountId, `https://${index}.example.com/`)).endpoint);
    }
    for (const endpoint of endpoints) for (let created = 0; created < 5; created++) await harness.event(endpoint);
    const held = sendHolds();
    harness.sender.reception = held.reception;
    harness.start();
    await harness.pass(2_000);
    expect(harness.sender.messages).to.have.length(100);
    held.release();
    await harness.pass(2_000);
    expect(harness.sender.messages).to.have.length(120);
  });

  it("says nothing of a URL that its endpoint had before", async () => {
    const { endpoint, delivery, end } = await underWay();
    await harness.endpoints.update(harness.accountId, endpoint.id, { url: "https://elsewhere.example.com/" });
    await end();
    expect((await harness.kept(endpoint.id)).health).to.deep.equal({ streak: null, breaker: null });
    expect(await harness.delivery(delivery.id)).to.include({ state: "pending", attempts: 1 });
  });

  it("changes nothing of an endpoint that was disabled or deleted meanwhile", async () => {
    const { endpoint, delivery, end } = await underWay();
    await harness.endpoints.update(harness.accountId, endpoint.id, { status: "disabled" });
    const before = await harness.kept(endpoint.id);
    await end();
    expect(await harness.kept(endpoint.id)).to.deep.equal(before);
    expect(await harness.delivery(delivery.id)).to.include({ state: "dropped", attempts: 0 });

    const another = await underWay();
    await harness.endpoints.remove(harness.accountId, another.endpoint.id);
    await another.end();
    expect(await harness.delivery(another.delivery.id)).to.include({ state: "dropped", attempts: 0 });
    expect(linesOf("A webhook endpoint was disabled")).to.deep.equal([]);
    expect(harness.logger.lines.filter(({ level }) => level === "error")).to.deep.equal([]);
  });

  it("is logged with its reason when it fails, and counted once it was the last", async () => {
    const { endpoint, delivery, end } = await underWay(sendReturns(500));
    await end();
    const fields = { delivery: delivery.id, event: delivery.eventId, endpoint: endpoint.id, job_id: null };
    const failed = { ...fields, failure: "http_5xx", status: 500 };
    const [line, ...others] = linesOf("A webhook delivery failed");
    expect([line?.level, line?.fields, others.length]).to.deep.equal([
      "info",
      { ...failed, message: "The receiver returned 500." },
      0,
    ]);
    expect(linesOf("A webhook delivery was tried").map((one) => one.fields)).to.deep.equal([failed]);
    expect(harness.metrics.counted).to.deep.equal([["try", "http_5xx"]]);
    harness.sender.reception = sendReturns(200);
    await harness.pass(6_000);
    expect(linesOf("A webhook delivery failed")).to.have.length(1);
    expect(harness.metrics.counted.slice(1)).to.deep.equal([
      ["try", "delivered"],
      ["delivery", "delivered"],
    ]);
  });

  it("is repeated after its lease when its result could not be written", async () => {
    const { delivery, end } = await underWay(sendReturns(200));
    harness.webhookStore.failOn("tryLockDeliveries", () => new Error("unavailable"));
    await end();
    const lines = linesOf("A webhook delivery failed unexpectedly; it will be retried");
    expect(lines.map(({ level, fields }) => [level, fields["delivery"]])).to.deep.equal([["error", delivery.id]]);
    expect(JSON.stringify(lines[0]?.fields["error"])).to.include("unavailable");
    harness.webhookStore.repair();
    harness.sender.reception = sendReturns(200);
    await harness.pass(59_000);
    expect(harness.sender.messages).to.have.length(1);
    await harness.pass(2_000);
    expect(harness.sender.messages).to.have.length(2);
    expect(await harness.delivery(delivery.id)).to.include({ state: "delivered", attempts: 1 });
  });

  it("waits with its result while another holds its delivery's row, and delays no other's", async () => {
    const endpoint = await harness.endpoint();
    const [held, free] = [...(await harness.event(endpoint)), ...(await harness.event(endpoint))] as [
      WebhookDelivery,
      WebhookDelivery,
    ];
    let isHeld = true;
    harness.webhookStore.on("tryLockDeliveries", async (tryLock, tx, ids) => {
      const taken = isHeld ? ids.filter((id) => id === held.id) : [];
      const { locked, busy } = await tryLock(
        tx,
        ids.filter((id) => !taken.includes(id)),
      );
      return { locked, busy: new Set([...busy, ...taken]) };
    });
    harness.start();
    const stateOf = async ({ id }: WebhookDelivery): Promise<string> => (await harness.delivery(id)).state;
    await until("the other result is written", async () => (await stateOf(free)) === "delivered");
    expect(await stateOf(held)).to.equal("pending");
    expect(await harness.attempts(held.id)).to.deep.equal([]);
    isHeld = false;
    await until("its result is written", async () => {
      await harness.clock.advance(10);
      return (await stateOf(held)) === "delivered";
    });
    expect(await harness.attempts(held.id)).to.have.length(1);
    expect(harness.sender.messages).to.have.length(2);
  });

  it("is made, and not dropped, where its endpoint is enabled again right after it was seen disabled", async () => {
    const endpoint = await harness.endpoint();
    await harness.endpoints.update(harness.accountId, endpoint.id, { status: "disabled" });
    const [delivery] = (await harness.event(endpoint)) as [WebhookDelivery];
    harness.webhookStore.on("findEndpoints", async (find, ids) => {
      const found = await find(ids);
      harness.webhookStore.repair();
      await harness.endpoints.update(harness.accountId, endpoint.id, { status: "active" });
      return found;
    });
    harness.start();
    await harness.pass(2_000);
    expect(await harness.delivery(delivery.id)).to.include({ state: "delivered", attempts: 1 });
  });

  it("that is the last by its schedule is counted as such, also where it disables its endpoint", async () => {
    const endpoint = await harness.endpoint();
    const [delivery] = (await harness.event(endpoint)) as [WebhookDelivery];
    harness.sender.reception = sendReturns(410);
    harness.start(1_000, []);
    await harness.quiet();
    expect(await harness.delivery(delivery.id)).to.include({ state: "exhausted", attempts: 1 });
    expect(harness.metrics.counted).to.deep.equal([
      ["try", "gone"],
      ["delivery", "exhausted"],
      ["disabled", "gone"],
    ]);
    const [line, ...others] = linesOf("A webhook endpoint was disabled");
    const fields = { endpoint: endpoint.id, account: harness.accountId, by: "gone" };
    expect([line?.level, line?.fields, others]).to.deep.equal(["error", fields, []]);
  });

  it("is recorded although its process stops, where a response arrived", async () => {
    const { delivery, sender } = await underWay();
    const responds = sendReturns(204);
    harness.sender.reception = responds;
    await harness.event(await harness.endpoint());
    // It responds in the moment of the abort.
    const [other] = (await harness.event(await harness.endpoint())) as [WebhookDelivery];
    const held = sendHolds();
    harness.sender.reception = (message, signal) =>
      Promise.resolve(held.reception(message, signal)).then(() => responds(message, signal));
    sender.wake();
    await harness.sender.sent(3);
    await harness.stop(sender, 100);
    expect(await harness.delivery(other.id)).to.include({ state: "delivered", attempts: 1 });
    expect(await harness.delivery(delivery.id)).to.include({ state: "pending", attempts: 0, leaseOwner: null });
  });

  it("ends at once when a stop is hurried", async () => {
    const { delivery, sender } = await underWay();
    const hurried = new AbortController();
    const stopped = sender.stop(3_600_000, hurried.signal);
    hurried.abort();
    await stopped;
    expect(await harness.delivery(delivery.id)).to.include({ state: "pending", attempts: 0, leaseOwner: null });
  });
});
