import { expect } from "chai";
import type { WebhookDelivery, WebhookEndpoint } from "../../../core/ports/webhook-records.js";
import { responses, fails, holds } from "../../support/doubles/recording-sender.js";
import { anId } from "../../support/builders.js";
import { DeliveryRoom } from "./delivery-harness.js";

const ENDPOINTS = 20;
const EVENTS = 3;
const HOUR_MS = 3_600_000;

describe("The hosts that webhooks go to", () => {
  let room: DeliveryRoom;
  beforeEach(async () => {
    room = await DeliveryRoom.open();
  });
  afterEach(() => room.close());

  /** Endpoints at one host, each of an account of its own. */
  async function endpointsAt(host: string, count: number): Promise<WebhookEndpoint[]> {
    const endpoints: WebhookEndpoint[] = [];
    for (let index = 0; index < count; index++) {
      const { id } = await room.storage.addAccount();
      endpoints.push((await room.endpoints.create(id, `https://${host}/${index}`)).endpoint);
    }
    return endpoints;
  }

  async function eventsFor(endpoints: readonly WebhookEndpoint[], count: number): Promise<WebhookDelivery[]> {
    const deliveries: WebhookDelivery[] = [];
    for (let index = 0; index < count; index++)
      for (const endpoint of endpoints) deliveries.push(...(await room.event(endpoint)));
    return deliveries;
  }

  const sentTo = (host: string): number => room.sender.messages.filter(({ url }) => new URL(url).host === host).length;

  for (const [what, reception, most] of [
    // Five in a row of those ten that begin together; then one each time that the pause is over, which doubles up to 10
    // min.
    ["cannot be reached", fails("connect"), 25],
    // The first attempt of each endpoint comes through: it may fare better than the others.
    ["responds with errors alone", responses(500), 45],
  ] as const) {
    it(`back off as one where a host ${what}: 60 deliveries of 20 endpoints are no 60 attempts`, async () => {
      await eventsFor(await endpointsAt("fails.example.com", ENDPOINTS), EVENTS);
      room.sender.reception = reception;
      room.start();
      await room.pass(HOUR_MS);
      expect(sentTo("fails.example.com")).to.be.within(10, most);
    });
  }

  it("get all that waits once one attempt succeeds", async () => {
    const deliveries = await eventsFor(await endpointsAt("fails.example.com", ENDPOINTS), EVENTS);
    room.sender.reception = fails("connect");
    room.start();
    await room.pass(60_000);
    room.sender.reception = responses(204);
    // Longer than the longest pause of a host, and than the second wait of the schedule.
    await room.pass(660_000);
    for (const { id } of deliveries) expect((await room.delivery(id)).state).to.equal("delivered");
  });

  it("have at most ten attempts under way each, and do not take those of others", async () => {
    await eventsFor(await endpointsAt("slow.example.com", ENDPOINTS), EVENTS);
    const others = await eventsFor(await endpointsAt("quick.example.com", 2), 1);
    const held = holds();
    room.sender.reception = (message, signal) =>
      (message.url.includes("slow") ? held.reception : responses(204))(message, signal);
    room.start();
    await room.quiet();
    expect(sentTo("slow.example.com")).to.equal(10);
    for (const { id } of others) expect((await room.delivery(id)).state).to.equal("delivered");
    held.release();
    await room.pass(1_000);
    expect(sentTo("slow.example.com")).to.equal(ENDPOINTS * EVENTS);
  });

  it("that respond well to one account do not make it wait for the failures of another", async () => {
    const [well, ...failing] = (await endpointsAt("shared.example.com", 6)) as [WebhookEndpoint, ...WebhookEndpoint[]];
    const reception = (message: { readonly url: string }) => responses(message.url === well.url ? 204 : 404);
    room.sender.reception = (message, signal) => reception(message)(message, signal);
    await eventsFor(failing, EVENTS);
    room.start();
    await room.quiet();
    const [delivery] = (await room.event(well)) as [WebhookDelivery];
    await room.pass(1_500);
    expect((await room.delivery(delivery.id)).state).to.equal("delivered");
  });

  it("are told apart by their port", async () => {
    await eventsFor(await endpointsAt("app.example.com", 10), 1);
    const [delivery] = (await eventsFor(await endpointsAt("app.example.com:8443", 1), 1)) as [WebhookDelivery];
    room.sender.reception = (message, signal) =>
      (message.url.includes(":8443") ? responses(204) : fails("connect"))(message, signal);
    room.start();
    await room.quiet();
    expect((await room.delivery(delivery.id)).state).to.equal("delivered");
  });

  it("serve endpoints of one URL that are from before URLs were unique", async () => {
    const one = await room.endpoint("https://hooks.example.com/old");
    const two = { ...one, id: anId("whe"), sealedSecret: "" };
    await room.storage.inTransaction((tx) =>
      room.storage.webhooks.insertEndpoint(tx, {
        ...two,
        sealedSecret: room.secretBox.seal("whsec_b2xkIHNlY3JldCBvbGQgc2VjcmV0IG9sZCBzZWNyZXQ=", two.id),
      }),
    );
    const deliveries = await room.event(one, two);
    room.start();
    await room.quiet();
    for (const { id } of deliveries) expect((await room.delivery(id)).state).to.equal("delivered");
    for (const status of ["disabled", "active"] as const)
      expect(await room.endpoints.update(room.accountId, two.id, { status, url: one.url })).to.include({
        status,
        url: one.url,
      });
  });
});
