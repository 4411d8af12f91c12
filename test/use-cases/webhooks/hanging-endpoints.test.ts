import { expect } from "chai";
import type { WebhookDelivery } from "../../../core/ports/webhook-records.js";
import { sendReturns, sendFails, sendHolds } from "../../support/doubles/recording-sender.js";
import { DeliveryHarness } from "../../support/delivery-harness.js";

describe("The delivery of a webhook event", () => {
  let harness: DeliveryHarness;
  beforeEach(async () => {
    harness = await DeliveryHarness.open();
  });
  afterEach(() => harness.close());

  describe("to an endpoint that hangs", () => {
    it("has at most five concurrent attempts, and delays no other endpoint", async () => {
      const [hanging, healthy] = [
        await harness.endpoint("https://hangs.example.com/"),
        await harness.endpoint("https://well.example.com/"),
      ];
      const { reception } = sendHolds();
      harness.sender.reception = (message, signal) =>
        (message.url.includes("hangs") ? reception : sendReturns(200))(message, signal);
      for (let created = 0; created < 40; created++) await harness.event(hanging, healthy);
      harness.start();
      await harness.pass(2_000);
      const sentTo = (name: string): number => harness.sender.messages.filter(({ url }) => url.includes(name)).length;
      expect([sentTo("hangs"), sentTo("well")]).to.deep.equal([5, 40]);
    });

    it("leaves a backlog that holds up nothing that comes later, from this process or another", async () => {
      const hanging = await harness.endpoint("https://hangs.example.com/");
      const { reception, release } = sendHolds();
      harness.sender.reception = (message, signal) =>
        (message.url.includes("hangs") ? reception : sendReturns(200))(message, signal);
      for (let created = 0; created < 12; created++) await harness.event(hanging);
      const sender = harness.start();
      await harness.quiet();
      const [own] = (await harness.event(await harness.endpoint())) as [WebhookDelivery];
      sender.wake();
      await harness.quiet();
      expect((await harness.delivery(own.id)).state).to.equal("delivered");
      const [ofAnother] = (await harness.event(await harness.endpoint())) as [WebhookDelivery];
      await harness.pass(1_000);
      expect((await harness.delivery(ofAnother.id)).state).to.equal("delivered");
      harness.sender.reception = sendReturns(200);
      release();
      await harness.pass(1_000);
      expect(await harness.storage.webhooks.countPending()).to.equal(0);
    });

    it("is sent again when the lease is over of attempts that never end, which keep no place", async () => {
      const endpoint = await harness.endpoint();
      const { reception, release } = sendHolds(sendFails("timeout"));
      harness.sender.reception = reception;
      const deliveries: WebhookDelivery[] = [];
      for (let created = 0; created < 6; created++) deliveries.push(...(await harness.event(endpoint)));
      harness.start();
      await harness.pass(59_500);
      expect(harness.sender.messages).to.have.length(5);
      harness.sender.reception = sendReturns(200);
      await harness.pass(2_000);
      expect(harness.sender.messages).to.have.length(11);
      // What those of before have to say comes too late.
      release();
      await harness.pass(1_000);
      for (const { id } of deliveries) expect((await harness.delivery(id)).state).to.equal("delivered");
    });

    it("takes no place from another endpoint, however many attempts never end", async () => {
      const { reception } = sendHolds();
      harness.sender.reception = reception;
      for (let host = 0; host < 19; host++) {
        const hanging = await harness.endpoint(`https://hangs-${host}.example.com/`);
        for (let created = 0; created < 20; created++) await harness.event(hanging);
      }
      harness.start();
      // Five at each host, and as many again whenever their leases are over: more than a process has under way.
      for (let leases = 0; leases < 4; leases++) await harness.pass(60_500);
      const begun = harness.sender.messages.length;
      expect(begun).to.be.greaterThan(300);
      const [own] = (await harness.event(await harness.endpoint())) as [WebhookDelivery];
      harness.sender.reception = sendReturns(200);
      await harness.pass(61_000);
      expect((await harness.delivery(own.id)).state).to.equal("delivered");
    });

    it("waits while its breaker is open without using up attempts, then lets one through", async () => {
      const endpoint = await harness.endpoint();
      harness.sender.reception = sendFails("timeout");
      const deliveries: WebhookDelivery[] = [];
      for (let created = 0; created < 12; created++) deliveries.push(...(await harness.event(endpoint)));
      harness.start();
      await harness.quiet();
      // The fifth failure opens the breaker; up to four others may have started by then.
      const begun = harness.sender.messages.length;
      expect(begun).to.be.within(5, 9);
      await harness.pass(29_000);
      expect(harness.sender.messages).to.have.length(begun);
      await harness.pass(2_000);
      expect(harness.sender.messages).to.have.length(begun + 1);
      harness.sender.reception = sendReturns(200);
      await harness.pass(400_000);
      for (const { id } of deliveries) expect((await harness.delivery(id)).state).to.equal("delivered");
      expect((await harness.kept(endpoint.id)).health).to.deep.equal({ streak: null, breaker: null });
    });
  });
});
