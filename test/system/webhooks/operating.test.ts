import { expect } from "chai";
import { OperationRefusedError } from "../../../core/errors.js";
import type { WebhookDelivery, WebhookEndpoint } from "../../../core/ports/webhook-records.js";
import type { ResendProgress } from "../../../core/webhooks/operate-webhooks.js";
import { responses } from "../../support/doubles/recording-sender.js";
import { DeliveryRoom } from "./delivery-harness.js";

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
  let room: DeliveryRoom;
  let endpoint: WebhookEndpoint;
  beforeEach(async () => {
    room = await DeliveryRoom.open();
    endpoint = await room.endpoint();
  });
  afterEach(() => room.close());

  /** Deliveries all of whose tries have failed. */
  async function exhausted(count: number): Promise<WebhookDelivery[]> {
    const deliveries: WebhookDelivery[] = [];
    for (let created = 0; created < count; created++) {
      const [delivery] = (await room.event(endpoint)) as [WebhookDelivery];
      const changes = { state: "exhausted", attempts: 10, dueAt: null, endedAt: room.clock.now() } as const;
      await room.storage.inTransaction((tx) =>
        room.storage.webhooks.updateDeliveries(tx, [{ id: delivery.id, fence: delivery.fence, changes }]),
      );
      deliveries.push(delivery);
      await room.clock.advance(1_000);
    }
    return deliveries;
  }

  describe("a resend", () => {
    it("sends the same id and bytes, signed anew, and turns an exhausted delivery into a delivered one", async () => {
      const [delivery] = (await exhausted(1)) as [WebhookDelivery];
      await room.clock.advance(HOUR_MS);
      const created = await room.operate.resend(delivery.id, signal);
      expect(created).to.include({ number: 1, isManual: true, failure: null });
      expect(room.sender.messages[0]).to.include({ eventId: delivery.eventId, sentAt: room.clock.now() });
      expect(await room.delivery(delivery.id)).to.include({ state: "delivered", attempts: 10 });
      expect((await room.tries(delivery.id)).map(({ isManual }) => isManual)).to.deep.equal([true]);
    });

    it("leaves the schedule of a pending delivery as it is", async () => {
      const [delivery] = (await room.event(endpoint)) as [WebhookDelivery];
      await room.operate.resend(delivery.id, signal);
      expect(await room.delivery(delivery.id)).to.deep.equal(delivery);
    });

    it("that fails changes nothing but the list of tries", async () => {
      const [delivery] = (await exhausted(1)) as [WebhookDelivery];
      const before = await room.delivery(delivery.id);
      room.sender.reception = responses(500);
      expect(await room.operate.resend(delivery.id, signal)).to.include({ failure: "http_5xx" });
      expect(await room.delivery(delivery.id)).to.deep.equal(before);
      expect((await room.kept(endpoint.id)).health.streak).to.equal(null);
    });

    it("is refused while the endpoint is disabled, and for what is not there", async () => {
      const [delivery] = (await exhausted(1)) as [WebhookDelivery];
      await room.endpoints.update(room.accountId, endpoint.id, { status: "disabled" });
      expect(await refusalOf(room.operate.resend(delivery.id, signal))).to.include("is disabled");
      expect(await refusalOf(room.operate.resend("dlv_nothing", signal))).to.include(
        "There is no webhook delivery dlv_nothing",
      );
      expect(room.sender.messages).to.deep.equal([]);
    });
  });

  describe("a resend of a range", () => {
    const all = async (since: number, after?: string): Promise<ResendProgress[]> => {
      const progress: ResendProgress[] = [];
      const options = { signal, ...(after === undefined ? {} : { after }) };
      for await (const step of room.operate.resendSince(endpoint.id, since, options)) progress.push(step);
      return progress;
    };

    it("sends what was not delivered since then, the oldest first", async () => {
      const [old, ...rest] = await exhausted(4);
      await room.event(endpoint);
      const progress = await all((rest[0] as WebhookDelivery).createdAt);
      expect(room.sender.messages.map(({ eventId }) => eventId)).to.deep.equal(rest.map(({ eventId }) => eventId));
      expect(progress.at(-1)).to.deep.include({ sent: 3, delivered: 3 });
      expect((await room.delivery((old as WebhookDelivery).id)).state).to.equal("exhausted");
    });

    it("goes on after the last one", async () => {
      const [first, second, third] = (await exhausted(3)) as [WebhookDelivery, WebhookDelivery, WebhookDelivery];
      await all(first.createdAt, second.id);
      expect(room.sender.messages.map(({ eventId }) => eventId)).to.deep.equal([third.eventId]);
    });

    it("counts what was not delivered this time either", async () => {
      const [first] = (await exhausted(2)) as [WebhookDelivery, WebhookDelivery];
      room.sender.reception = responses(404);
      expect((await all(first.createdAt)).at(-1)).to.deep.include({ sent: 2, delivered: 0 });
    });

    it("takes more than a page", async () => {
      const [first] = (await exhausted(205)) as [WebhookDelivery];
      expect((await all(first.createdAt)).at(-1)).to.deep.include({ sent: 205, delivered: 205 });
      expect(new Set(room.sender.messages.map(({ eventId }) => eventId)).size).to.equal(205);
    });

    it("is refused for more than 14 days, and for a delivery of another endpoint", async () => {
      expect(await refusalOf(all(room.clock.now() - 15 * DAY_MS))).to.include("14 days");
      const [foreign] = (await room.event(await room.endpoint())) as [WebhookDelivery];
      expect(await refusalOf(all(room.clock.now(), foreign.id))).to.include(`has no delivery ${foreign.id}`);
    });
  });

  it("pings by the same door, and lists the ping among the deliveries", async () => {
    const created = await room.operate.ping(endpoint.id, signal);
    expect(created).to.include({ failure: null, isManual: true });
    expect(JSON.parse(room.sender.messages[0]?.body ?? "")).to.deep.include({
      type: "webhook.ping",
      data: { endpoint_id: endpoint.id },
    });
    const [report] = await room.operate.deliveries(endpoint.id, 10);
    expect(report?.delivery).to.include({ state: "delivered", attempts: 0 });
    expect(report?.tries).to.have.length(1);
  });

  it("lists deliveries newest first, each with its tries", async () => {
    const deliveries = await exhausted(3);
    await room.operate.resend((deliveries[1] as WebhookDelivery).id, signal);
    const reports = await room.operate.deliveries(endpoint.id, 2);
    expect(reports.map(({ delivery, tries }) => [delivery.id, tries.length])).to.deep.equal([
      [deliveries[2]?.id, 0],
      [deliveries[1]?.id, 1],
    ]);
    expect(await refusalOf(room.operate.deliveries("whe_nothing", 1))).to.include(
      "There is no webhook endpoint whe_nothing",
    );
  });

  describe("a rotation of the secret", () => {
    const secretsSent = async (): Promise<readonly string[]> => {
      await room.operate.ping(endpoint.id, signal);
      return room.sender.messages.at(-1)?.secrets ?? [];
    };

    it("signs with both secrets for a day, then with the new one", async () => {
      const [old] = await secretsSent();
      const { secret, endpoint: rotated } = await room.operate.rotateSecret(endpoint.id, DAY_MS);
      expect(rotated.secretPrefix).to.equal(secret.slice(0, 12));
      expect(await secretsSent()).to.deep.equal([secret, old]);
      await room.clock.advance(DAY_MS);
      expect(await secretsSent()).to.deep.equal([secret]);
    });

    it("keeps two old secrets at most", async () => {
      const created = [(await secretsSent())[0]];
      for (let time = 0; time < 3; time++)
        created.unshift((await room.operate.rotateSecret(endpoint.id, DAY_MS)).secret);
      expect(await secretsSent()).to.deep.equal(created.slice(0, 3));
    });

    it("without overlap silences every old secret at once", async () => {
      await room.operate.rotateSecret(endpoint.id, DAY_MS);
      const { secret } = await room.operate.rotateSecret(endpoint.id, 0);
      expect(await secretsSent()).to.deep.equal([secret]);
    });

    it("is refused for longer than a week", async () => {
      expect(await refusalOf(room.operate.rotateSecret(endpoint.id, 8 * DAY_MS))).to.include("0 to 168 hours");
    });
  });

  it("names active endpoints that resolve to blocked addresses", async () => {
    const inside = await room.endpoint("https://moved.example.com/");
    const asleep = await room.endpoint("https://asleep.example.com/");
    await room.endpoints.update(room.accountId, asleep.id, { status: "disabled" });
    for (const name of ["moved", "asleep"])
      room.guard.response(`${name}.example.com`, { state: "blocked", addresses: ["10.0.0.8"] });
    expect(
      (await room.operate.blockedEndpoints()).map(({ endpoint: { id }, addresses }) => [id, addresses]),
    ).to.deep.equal([[inside.id, ["10.0.0.8"]]]);
  });
});
