import { expect } from "chai";
import type { WebhookDelivery } from "../../core/ports/webhook-records.js";
import { anId, NOON } from "../support/builders.js";
import { holdAt } from "../support/stepping.js";
import { mysqlStorage, type MysqlUnderTest } from "../support/mysql.js";
import { aDelivery, anEndpoint, anEvent } from "../support/webhook-builders.js";

/** What other transactions do while one is open; with a single writer there are none. */
describe("KnexWebhookStore: MySQL", () => {
  let storage: MysqlUnderTest;
  before(async () => {
    storage = await mysqlStorage.open();
  });
  after(() => storage.close());

  async function add(...deliveries: readonly WebhookDelivery[]): Promise<void> {
    await storage.inTransaction(async (tx) => {
      await storage.webhooks.insertEvents(
        tx,
        deliveries.map(({ eventId, createdAt }) => anEvent({ id: eventId, createdAt })),
      );
      await storage.webhooks.insertDeliveries(tx, deliveries);
    });
  }
  const claim = async (delivery: WebhookDelivery): Promise<string[]> => {
    const claims = [{ endpointId: delivery.endpointId, limit: 5 }];
    return (await storage.webhooks.claimDeliveries(claims, NOON, anId("prc"), NOON + 60_000)).map(
      (taken) => taken.delivery.id,
    );
  };

  it("skips deliveries that another transaction has locked in a claim, without waiting for it", async () => {
    const held = aDelivery({ dueAt: NOON - 1 });
    const free = aDelivery({ endpointId: held.endpointId });
    await add(held, free);
    await storage.inTransaction(async (tx) => {
      await storage.webhooks.updateDeliveries(tx, [{ id: held.id, fence: 0, changes: { attempts: 1 } }]);
      expect(await claim(held)).to.deep.equal([free.id]);
    });
    expect(await claim(held)).to.deep.equal([held.id]);
  });

  it("claims for other endpoints while one's deliveries are being dropped", async () => {
    const [dropped, other] = [aDelivery(), aDelivery()];
    await add(dropped, other);
    await storage.inTransaction(async (tx) => {
      expect(await storage.webhooks.dropPending(tx, dropped.endpointId, NOON)).to.equal(1);
      expect([await claim(dropped), await claim(other)]).to.deep.equal([[], [other.id]]);
    });
    expect(await claim(dropped)).to.deep.equal([]);
  });

  it("does not drop a delivery that ends meanwhile", async () => {
    const delivery = aDelivery();
    await add(delivery);
    const found = holdAt(storage.database, /SELECT id, created_at/);
    const dropped = storage.inTransaction((tx) => storage.webhooks.dropPending(tx, delivery.endpointId, NOON));
    await found.reached;
    const changes = { state: "delivered", dueAt: null, endedAt: NOON } as const;
    await storage.inTransaction((tx) =>
      storage.webhooks.updateDeliveries(tx, [{ id: delivery.id, fence: 0, changes }]),
    );
    found.goOn();
    expect(await dropped).to.equal(0);
    expect(await storage.webhooks.findDelivery(delivery.id)).to.deep.include(changes);
  });

  it("skips events that another transaction deletes, without waiting for it", async () => {
    const deliveries = Array.from({ length: 5 }, (_, age) =>
      aDelivery({ createdAt: NOON - 10_000 + age, state: "delivered", dueAt: null, endedAt: NOON }),
    );
    await add(...deliveries);
    const deleteTwo = (): Promise<number> =>
      storage.inTransaction((tx) => storage.webhooks.deleteOld(tx, NOON - 5_000, 2));
    await storage.inTransaction(async (tx) => {
      expect(await storage.webhooks.deleteOld(tx, NOON - 5_000, 2)).to.equal(2);
      expect([await deleteTwo(), await deleteTwo(), await deleteTwo()]).to.deep.equal([2, 1, 0]);
    });
  });

  it("allows jobs to end while their account's endpoints are locked and old events deleted", async () => {
    const { id: accountId } = await storage.addAccount();
    const endpoint = anEndpoint({ accountId });
    await storage.inTransaction((tx) => storage.webhooks.insertEndpoint(tx, endpoint));
    await add(aDelivery({ createdAt: NOON - 10_000 }));
    await storage.inTransaction(async (tx) => {
      await storage.webhooks.lockEndpoints(tx, accountId);
      await storage.webhooks.saveEndpoint(tx, {
        ...endpoint,
        status: "disabled",
        disabledAt: NOON,
        disabledBy: "user",
      });
      await storage.webhooks.deleteOld(tx, NOON - 5_000, 5);
      await storage.inTransaction(async (settling) => {
        // Uncommitted: other transactions still see it as active.
        expect(await storage.webhooks.activeEndpoints(settling, [accountId])).to.deep.equal([
          { id: endpoint.id, accountId },
        ]);
        const event = anEvent({ accountId });
        await storage.webhooks.insertEvents(settling, [event]);
        await storage.webhooks.insertDeliveries(settling, [aDelivery({ eventId: event.id, endpointId: endpoint.id })]);
      });
    });
    expect((await storage.webhooks.endpointsWithDue(NOON, null)).ids).to.include(endpoint.id);
  });
});
