import { expect } from "chai";
import { OperationRefusedError } from "../../../core/errors.js";
import type { WebhookDelivery } from "../../../core/ports/webhook-records.js";
import type { ShownEndpoint } from "../../../core/webhooks/shown-endpoint.js";
import type { ResendProgress } from "../../../core/webhooks/operate-webhooks.js";
import { sendReturns } from "../../support/doubles/recording-sender.js";
import { DeliveryHarness } from "../../support/delivery-harness.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const signal = new AbortController().signal;

async function refusalOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (cause: unknown) => cause,
  );
  expect(error).to.be.instanceOf(OperationRefusedError);
  return (error as Error).message;
}

describe("Operating webhooks", () => {
  let harness: DeliveryHarness;
  let endpoint: ShownEndpoint;
  beforeEach(async () => {
    harness = await DeliveryHarness.open();
    endpoint = await harness.endpoint();
  });
  afterEach(() => harness.close());

  /** Deliveries whose attempts have all failed. */
  async function exhausted(count: number): Promise<WebhookDelivery[]> {
    const deliveries: WebhookDelivery[] = [];
    for (let created = 0; created < count; created++) {
      const [delivery] = (await harness.event(endpoint)) as [WebhookDelivery];
      const changes = { state: "exhausted", attempts: 10, dueAt: null, endedAt: harness.clock.now() } as const;
      await harness.storage.inTransaction((tx) =>
        harness.storage.webhooks.updateDeliveries(tx, [{ id: delivery.id, fence: delivery.fence, changes }]),
      );
      deliveries.push(delivery);
      await harness.clock.advance(1_000);
    }
    return deliveries;
  }

  describe("a resend", () => {
    it("sends the same id and bytes, signed again, and turns an exhausted delivery into a delivered one", async () => {
      const [delivery] = (await exhausted(1)) as [WebhookDelivery];
      await harness.clock.advance(HOUR_MS);
      const created = await harness.operate.resend(delivery.id, signal);
      expect(created).to.include({ number: 1, isManual: true, failure: null });
      expect(harness.sender.messages[0]).to.include({ eventId: delivery.eventId, sentAt: harness.clock.now() });
      expect(await harness.delivery(delivery.id)).to.include({ state: "delivered", attempts: 10 });
      expect((await harness.attempts(delivery.id)).map(({ isManual }) => isManual)).to.deep.equal([true]);
    });

    it("does not change the schedule of a pending delivery", async () => {
      const [delivery] = (await harness.event(endpoint)) as [WebhookDelivery];
      await harness.operate.resend(delivery.id, signal);
      expect(await harness.delivery(delivery.id)).to.deep.equal(delivery);
    });

    it("that fails changes only the list of attempts", async () => {
      const [delivery] = (await exhausted(1)) as [WebhookDelivery];
      const before = await harness.delivery(delivery.id);
      harness.sender.reception = sendReturns(500);
      expect(await harness.operate.resend(delivery.id, signal)).to.include({ failure: "http_5xx" });
      expect(await harness.delivery(delivery.id)).to.deep.equal(before);
      expect((await harness.kept(endpoint.id)).health.streak).to.equal(null);
    });

    it("is refused while the endpoint is disabled, and for unknown deliveries", async () => {
      const [delivery] = (await exhausted(1)) as [WebhookDelivery];
      await harness.endpoints.update(harness.accountId, endpoint.id, { status: "disabled" });
      expect(await refusalOf(harness.operate.resend(delivery.id, signal))).to.include("is disabled");
      expect(await refusalOf(harness.operate.resend("dlv_nothing", signal))).to.include(
        "There is no webhook delivery dlv_nothing",
      );
      expect(harness.sender.messages).to.deep.equal([]);
    });
  });

  describe("a resend of a range", () => {
    const all = async (since: number, after?: string): Promise<ResendProgress[]> => {
      const progress: ResendProgress[] = [];
      const options = { signal, ...(after === undefined ? {} : { after }) };
      for await (const step of harness.operate.resendSince(endpoint.id, since, options)) progress.push(step);
      return progress;
    };

    it("sends the undelivered events since then, oldest first", async () => {
      const [old, ...rest] = await exhausted(4);
      await harness.event(endpoint);
      const progress = await all((rest[0] as WebhookDelivery).createdAt);
      expect(harness.sender.messages.map(({ eventId }) => eventId)).to.deep.equal(rest.map(({ eventId }) => eventId));
      expect(progress.at(-1)).to.deep.include({ sent: 3, delivered: 3 });
      expect((await harness.delivery((old as WebhookDelivery).id)).state).to.equal("exhausted");
    });

    it("continues after the last one", async () => {
      const [first, second, third] = (await exhausted(3)) as [WebhookDelivery, WebhookDelivery, WebhookDelivery];
      await all(first.createdAt, second.id);
      expect(harness.sender.messages.map(({ eventId }) => eventId)).to.deep.equal([third.eventId]);
    });

    it("counts what failed again", async () => {
      const [first] = (await exhausted(2)) as [WebhookDelivery, WebhookDelivery];
      harness.sender.reception = sendReturns(404);
      expect((await all(first.createdAt)).at(-1)).to.deep.include({ sent: 2, delivered: 0 });
    });

    it("covers more than one page", async () => {
      const [first] = (await exhausted(205)) as [WebhookDelivery];
      expect((await all(first.createdAt)).at(-1)).to.deep.include({ sent: 205, delivered: 205 });
      expect(new Set(harness.sender.messages.map(({ eventId }) => eventId)).size).to.equal(205);
    });

    it("is refused for more than 14 days, and for a delivery of another endpoint", async () => {
      expect(await refusalOf(all(harness.clock.now() - 15 * DAY_MS))).to.include("14 days");
      const [foreign] = (await harness.event(await harness.endpoint())) as [WebhookDelivery];
      expect(await refusalOf(all(harness.clock.now(), foreign.id))).to.include(`has no delivery ${foreign.id}`);
    });
  });

  it("sends a ping as a delivery, and lists it among the deliveries", async () => {
    const created = await harness.operate.ping(endpoint.id, signal);
    expect(created).to.include({ failure: null, isManual: true });
    expect(JSON.parse(harness.sender.messages[0]?.body ?? "")).to.deep.include({
      type: "webhook.ping",
      data: { endpoint_id: endpoint.id },
    });
    const [report] = await harness.operate.deliveries(endpoint.id, 10);
    expect(report?.delivery).to.include({ state: "delivered", attempts: 0 });
    expect(report?.tries).to.have.length(1);
  });

  it("lists deliveries newest first, each with its attempts", async () => {
    const deliveries = await exhausted(3);
    await harness.operate.resend((deliveries[1] as WebhookDelivery).id, signal);
    const reports = await harness.operate.deliveries(endpoint.id, 2);
    expect(reports.map(({ delivery, tries: attempts }) => [delivery.id, attempts.length])).to.deep.equal([
      [deliveries[2]?.id, 0],
      [deliveries[1]?.id, 1],
    ]);
    expect(await refusalOf(harness.operate.deliveries("whe_nothing", 1))).to.include(
      "There is no webhook endpoint whe_nothing",
    );
  });

  describe("a rotation of the secret", () => {
    const secretsSent = async (): Promise<readonly string[]> => {
      await harness.operate.ping(endpoint.id, signal);
      return harness.sender.messages.at(-1)?.secrets ?? [];
    };

    it("signs with both secrets for a day, then with the new one", async () => {
      const [old] = await secretsSent();
      const { secret, endpoint: rotated } = await harness.operate.rotateSecret(endpoint.id, DAY_MS);
      expect(rotated.secretPrefix).to.equal(secret.slice(0, 12));
      expect(await secretsSent()).to.deep.equal([secret, old]);
      await harness.clock.advance(DAY_MS);
      expect(await secretsSent()).to.deep.equal([secret]);
    });

    it("keeps two old secrets at most", async () => {
      const created = [(await secretsSent())[0]];
      for (let time = 0; time < 3; time++)
        created.unshift((await harness.operate.rotateSecret(endpoint.id, DAY_MS)).secret);
      expect(await secretsSent()).to.deep.equal(created.slice(0, 3));
    });

    it("without overlap ends the use of every old secret at once", async () => {
      await harness.operate.rotateSecret(endpoint.id, DAY_MS);
      const { secret } = await harness.operate.rotateSecret(endpoint.id, 0);
      expect(await secretsSent()).to.deep.equal([secret]);
    });

    it("is refused for longer than a week", async () => {
      expect(await refusalOf(harness.operate.rotateSecret(endpoint.id, 8 * DAY_MS))).to.include("0 to 168 hours");
    });
  });

  it("lists active endpoints that resolve to blocked addresses", async () => {
    const inside = await harness.endpoint("https://moved.example.com/");
    const asleep = await harness.endpoint("https://asleep.example.com/");
    await harness.endpoints.update(harness.accountId, asleep.id, { status: "disabled" });
    for (const name of ["moved", "asleep"])
      harness.guard.response(`${name}.example.com`, { state: "blocked", addresses: ["10.0.0.8"] });
    expect(
      (await harness.operate.blockedEndpoints()).map(({ endpoint: { id }, addresses }) => [id, addresses]),
    ).to.deep.equal([[inside.id, ["10.0.0.8"]]]);
  });
});
