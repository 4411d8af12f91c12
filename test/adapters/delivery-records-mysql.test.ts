import { expect } from "chai";
import sinon from "sinon";
import { MysqlSession } from "../../adapters/storage/sql/mysql/session.js";
import { SystemClock } from "../../adapters/system/clock.js";
import { SystemRandom } from "../../adapters/system/random.js";
import type { WebhookDelivery, WebhookEndpoint, WebhookEvent } from "../../core/ports/webhook-records.js";
import { RecordDeliveryAttempt } from "../../core/webhooks/record-delivery-attempt.js";
import { NOON } from "../support/builders.js";
import { SILENT } from "../support/databases.js";
import { mysqlStorage } from "../support/mysql.js";
import { Gate } from "../support/stepping.js";
import type { StorageUnderTest } from "../support/storage-under-test.js";
import { aDelivery, aDeliveryAttempt, anEndpoint, anEvent } from "../support/webhook-builders.js";

interface Sent {
  readonly event: WebhookEvent;
  readonly delivery: WebhookDelivery;
  readonly endpoint: WebhookEndpoint;
}

describe("Results of webhook deliveries: MySQL", () => {
  let storage: StorageUnderTest;
  before(async () => {
    storage = await mysqlStorage.open();
  });
  after(() => storage.close());
  afterEach(() => sinon.restore());

  async function add(count: number): Promise<Sent[]> {
    const { id: accountId } = await storage.addAccount();
    const endpoint = anEndpoint({ accountId });
    const sent = Array.from({ length: count }, (): Sent => {
      const event = anEvent({ accountId });
      return { event, delivery: aDelivery({ eventId: event.id, endpointId: endpoint.id }), endpoint };
    });
    await storage.inTransaction(async (tx) => {
      await storage.webhooks.insertEndpoint(tx, endpoint);
      await storage.webhooks.insertEvents(
        tx,
        sent.map(({ event }) => event),
      );
      await storage.webhooks.insertDeliveries(
        tx,
        sent.map(({ delivery }) => delivery),
      );
    });
    return sent;
  }

  const newRecords = (): RecordDeliveryAttempt =>
    new RecordDeliveryAttempt({
      unitOfWork: storage.unitOfWork,
      webhooks: storage.webhooks,
      clock: new SystemClock(),
      random: new SystemRandom(),
      logger: SILENT,
      metrics: null,
      scheduleMs: [5_000],
      breaker: { openMs: 30_000, openMaxMs: 600_000 },
    });

  const record = (records: RecordDeliveryAttempt, one: Sent): Promise<void> => {
    const result = aDeliveryAttempt({ deliveryId: one.delivery.id, failure: null, status: 200 });
    return records.record({ ...one, startedAt: NOON, result });
  };

  const stateOf = async ({ delivery }: Sent): Promise<string | undefined> =>
    (await storage.webhooks.findDelivery(delivery.id))?.state;

  it("of the others are written while another transaction holds a delivery, and that one once it is free", async () => {
    const [held, ...others] = (await add(40)) as [Sent, ...Sent[]];
    const [isHeld, letGo] = [new Gate(), new Gate()];
    const holder = storage.inTransaction(async (tx) => {
      await storage.webhooks.tryLockDeliveries(tx, [held.delivery.id]);
      isHeld.open();
      await letGo.opened;
    });
    await isHeld.opened;
    const records = newRecords();
    const [ofHeld, ...ofOthers] = [held, ...others].map((one) => record(records, one));
    try {
      await Promise.all(ofOthers);
      expect(await Promise.all(others.map(stateOf))).to.deep.equal(others.map(() => "delivered"));
      expect(await stateOf(held)).to.equal("pending");
    } finally {
      letGo.open();
      await holder;
    }
    await ofHeld;
    expect(await stateOf(held)).to.equal("delivered");
    const tries = await storage.webhooks.listDeliveryAttempts([held.delivery.id]);
    expect(tries.get(held.delivery.id)?.map(({ number, status }) => [number, status])).to.deep.equal([[1, 200]]);
  });

  it("that come at once are written in one transaction, which locks each delivery once", async () => {
    const sent = await add(60);
    const records = newRecords();
    const packets = sinon.spy(MysqlSession.prototype, "send" as keyof MysqlSession);
    const transactions = sinon.spy(storage.unitOfWork, "inTransaction");
    await Promise.all(sent.map((one) => record(records, one)));
    expect(await Promise.all(sent.map(stateOf))).to.deep.equal(sent.map(() => "delivered"));
    expect(transactions.callCount).to.equal(1);
    expect(packets.args.join("; ").match(/ FOR UPDATE/g)).to.have.length(1);
  });
});
