import { expect } from "chai";
import type { WebhookDelivery } from "../../../core/ports/webhook-records.js";
import type { ShownEndpoint } from "../../../core/webhooks/shown-endpoint.js";
import { sendReturns, sendFails, sendHolds } from "../../support/doubles/recording-sender.js";
import { anId } from "../../support/builders.js";
import { DeliveryHarness } from "../../support/delivery-harness.js";

const ENDPOINTS = 20;
const EVENTS = 3;
const HOUR_MS = 3_600_000;

describe("The receiving hosts of webhooks", () => {
  let harness: DeliveryHarness;
  beforeEach(async () => {
    harness = await DeliveryHarness.open();
  });
  afterEach(() => harness.close());

  /** Endpoints at one host, each of an account of its own. */
  async function endpointsAt(host: string, count: number): Promise<ShownEndpoint[]> {
    const endpoints: ShownEndpoint[] = [];
    for (let index = 0; index < count; index++) {
      const { id } = await harness.storage.addAccount();
      endpoints.push((await harness.endpoints.create(id, `https://${host}/${index}`)).endpoint);
    }
    return endpoints;
  }

  async function eventsFor(endpoints: readonly ShownEndpoint[], count: number): Promise<WebhookDelivery[]> {
    const deliveries: WebhookDelivery[] = [];
    for (let index = 0; index < count; index++)
      for (const endpoint of endpoints) deliveries.push(...(await harness.event(endpoint)));
    return deliveries;
  }

  const sentTo = (host: string): number =>
    harness.sender.messages.filter(({ url }) => new URL(url).host === host).length;

  for (const [what, reception, most] of [
    // Five failures in a row of the ten concurrent attempts; then one attempt at the end of each pause, which doubles
    // up to 10 min.
    ["cannot be reached", sendFails("connect"), 25],
    // The first attempt of each endpoint is made: it may succeed where others fail.
    ["responds with errors alone", sendReturns(500), 45],
  ] as const) {
    it(`share one backoff when a host ${what}: 60 deliveries of 20 endpoints do not make 60 attempts`, async () => {
      await eventsFor(await endpointsAt("fails.example.com", ENDPOINTS), EVENTS);
      harness.sender.reception = reception;
      harness.start();
      await harness.pass(HOUR_MS);
      expect(sentTo("fails.example.com")).to.be.within(10, most);
    });
  }

  it("are all served without a wait for a sweep, while one look does not see all of their backlogs", async () => {
    const endpoints: ShownEndpoint[] = [];
    for (let index = 0; index < ENDPOINTS; index++)
      endpoints.push(...(await endpointsAt(`well-${index}.example.com`, 1)));
    await eventsFor(endpoints, 20);
    harness.start();
    await harness.quiet();
    expect(await harness.storage.webhooks.countPending()).to.equal(0);
  });

  it("that hang with hundreds of due endpoints delay no endpoint behind those, and none is left out", async () => {
    const hanging = await endpointsAt("hangs.example.com", 260);
    const well: ShownEndpoint[] = [];
    for (let index = 0; index < 260; index++) well.push(...(await endpointsAt(`well-${index}.example.com`, 1)));
    await eventsFor(hanging, 1);
    const deliveries = await eventsFor(well, 1);
    const { reception } = sendHolds();
    harness.sender.reception = (message, signal) =>
      (message.url.includes("hangs") ? reception : sendReturns(204))(message, signal);
    harness.start();
    await harness.pass(5_000);
    expect(sentTo("hangs.example.com")).to.equal(10);
    for (const [index, { id }] of deliveries.entries()) {
      expect(sentTo(`well-${index}.example.com`)).to.equal(1);
      expect((await harness.storage.webhooks.findDelivery(id))?.state).to.equal("delivered");
    }
  });

  it("get all pending deliveries after one attempt succeeds", async () => {
    const deliveries = await eventsFor(await endpointsAt("fails.example.com", ENDPOINTS), EVENTS);
    harness.sender.reception = sendFails("connect");
    harness.start();
    await harness.pass(60_000);
    harness.sender.reception = sendReturns(204);
    // Longer than the longest pause of a host, and than the second wait of the schedule.
    await harness.pass(660_000);
    for (const { id } of deliveries) expect((await harness.delivery(id)).state).to.equal("delivered");
  });

  it("have at most ten concurrent attempts each, and do not use those of others", async () => {
    await eventsFor(await endpointsAt("slow.example.com", ENDPOINTS), EVENTS);
    const others = await eventsFor(await endpointsAt("quick.example.com", 2), 1);
    const held = sendHolds();
    harness.sender.reception = (message, signal) =>
      (message.url.includes("slow") ? held.reception : sendReturns(204))(message, signal);
    harness.start();
    await harness.quiet();
    expect(sentTo("slow.example.com")).to.equal(10);
    for (const { id } of others) expect((await harness.delivery(id)).state).to.equal("delivered");
    held.release();
    await harness.pass(1_000);
    expect(sentTo("slow.example.com")).to.equal(ENDPOINTS * EVENTS);
  });

  it("that respond well to one account do not make it wait for the failures of another", async () => {
    const [well, ...failing] = (await endpointsAt("shared.example.com", 6)) as [ShownEndpoint, ...ShownEndpoint[]];
    const reception = (message: { readonly url: string }) => sendReturns(message.url === well.url ? 204 : 404);
    harness.sender.reception = (message, signal) => reception(message)(message, signal);
    await eventsFor(failing, EVENTS);
    harness.start();
    await harness.quiet();
    const [delivery] = (await harness.event(well)) as [WebhookDelivery];
    await harness.pass(1_500);
    expect((await harness.delivery(delivery.id)).state).to.equal("delivered");
  });

  it("are distinguished by their port", async () => {
    await eventsFor(await endpointsAt("app.example.com", 10), 1);
    const [delivery] = (await eventsFor(await endpointsAt("app.example.com:8443", 1), 1)) as [WebhookDelivery];
    harness.sender.reception = (message, signal) =>
      (message.url.includes(":8443") ? sendReturns(204) : sendFails("connect"))(message, signal);
    harness.start();
    await harness.quiet();
    expect((await harness.delivery(delivery.id)).state).to.equal("delivered");
  });

  it("serve several endpoints with one URL, from before URLs were unique", async () => {
    const one = await harness.endpoint("https://hooks.example.com/old");
    const two = { ...one, id: anId("whe"), retiredSecrets: [] };
    await harness.storage.inTransaction((tx) =>
      harness.storage.webhooks.insertEndpoint(tx, {
        ...two,
        sealedSecret: harness.secretBox.seal("whsec_b2xkIHNlY3JldCBvbGQgc2VjcmV0IG9sZCBzZWNyZXQ=", two.id),
      }),
    );
    const deliveries = await harness.event(one, two);
    harness.start();
    await harness.quiet();
    for (const { id } of deliveries) expect((await harness.delivery(id)).state).to.equal("delivered");
    for (const status of ["disabled", "active"] as const)
      expect(await harness.endpoints.update(harness.accountId, two.id, { status, url: one.url })).to.include({
        status,
        url: one.url,
      });
  });
});
