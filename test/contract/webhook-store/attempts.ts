import { expect } from "chai";
import type { DeliveryAttempt } from "../../../core/ports/webhook-records.js";
import { anId, NOON } from "../../support/builders.js";
import type { StorageWith } from "../../support/storage-under-test.js";
import { aDelivery, anEvent, aDeliveryAttempt } from "../../support/webhook-builders.js";

export function webhookTries(opened: () => StorageWith<"webhooks">): void {
  const addDelivery = async (): Promise<DeliveryAttempt["deliveryId"]> => {
    const event = anEvent();
    const delivery = aDelivery({ eventId: event.id });
    await opened().inTransaction(async (tx) => {
      await opened().webhooks.insertEvents(tx, [event]);
      await opened().webhooks.insertDeliveries(tx, [delivery]);
    });
    return delivery.id;
  };
  const addAll = (created: readonly Omit<DeliveryAttempt, "number">[]): Promise<number[]> =>
    opened().inTransaction((tx) => opened().webhooks.insertDeliveryAttempts(tx, created));
  const add = async (created: Omit<DeliveryAttempt, "number">): Promise<number | undefined> =>
    (await addAll([created]))[0];

  it("store every member, with numbers from 1", async () => {
    const deliveryId = await addDelivery();
    const failed = aDeliveryAttempt({
      deliveryId,
      startedAt: NOON + 1,
      isManual: true,
      failure: "blocked_address",
      status: 503,
      retryAfterMs: 120_000,
      message: "10.0.0.1 — “nicht erreichbar”",
      excerpt: `<html>'"\\ 👩‍👩‍👧‍👦 \u0000 é</html> `,
      phases: { dnsMs: 0.25, connectMs: null, tlsMs: null, firstByteMs: null, totalMs: 12.75 },
    });
    const taken = aDeliveryAttempt({ deliveryId });
    expect([await add(failed), await add(taken)]).to.deep.equal([1, 2]);
    expect((await opened().webhooks.listDeliveryAttempts([deliveryId])).get(deliveryId)).to.deep.equal([
      { ...failed, number: 1 },
      { ...taken, number: 2 },
    ]);
  });

  it("store a long excerpt", async () => {
    const deliveryId = await addDelivery();
    await add(aDeliveryAttempt({ deliveryId, excerpt: "ÿ".repeat(1_024), message: "m".repeat(2_000) }));
    const [found] = (await opened().webhooks.listDeliveryAttempts([deliveryId])).get(deliveryId) ?? [];
    expect(found).to.include({ excerpt: "ÿ".repeat(1_024), message: "m".repeat(2_000) });
  });

  it("are listed by delivery; one without attempts is omitted", async () => {
    const [one, two, untried] = [await addDelivery(), await addDelivery(), await addDelivery()];
    for (const deliveryId of [one, two, one, one]) await add(aDeliveryAttempt({ deliveryId }));
    const found = await opened().webhooks.listDeliveryAttempts([two, untried, one, anId("dlv"), one]);
    const numbers = [...found].map(([id, attempts]) => [id, attempts.map(({ number }) => number)]);
    expect(numbers).to.deep.equal([
      [two, [1]],
      [one, [1, 2, 3]],
    ]);
    expect(await opened().webhooks.listDeliveryAttempts([])).to.deep.equal(new Map());
  });

  it("are numbered without gaps or duplicates, however many are added at once", async () => {
    const deliveryId = await addDelivery();
    const numbers = await Promise.all(Array.from({ length: 15 }, () => add(aDeliveryAttempt({ deliveryId }))));
    const ascending = numbers.map(Number).sort((a, b) => a - b);
    expect(ascending).to.deep.equal(Array.from({ length: 15 }, (_, index) => index + 1));
  });

  it("of several deliveries are added together, each under its own next number", async () => {
    const [one, two, gone] = [await addDelivery(), await addDelivery(), anId("dlv")];
    await add(aDeliveryAttempt({ deliveryId: two }));
    const attempts = [two, gone, one, two].map((deliveryId) => aDeliveryAttempt({ deliveryId, message: deliveryId }));
    expect(await addAll(attempts)).to.deep.equal([2, 0, 1, 3]);
    const found = await opened().webhooks.listDeliveryAttempts([one, two, gone]);
    expect([...found.keys()].sort()).to.deep.equal([one, two].sort());
    expect(found.get(one)).to.deep.equal([{ ...attempts[2], number: 1 }]);
    expect(found.get(two)?.map(({ number }) => number)).to.deep.equal([1, 2, 3]);
    expect(await addAll([])).to.deep.equal([]);
  });

  it("wait for no other: deliveries are locked as far as they are free, and one that is gone is neither", async () => {
    const [one, two, gone] = [await addDelivery(), await addDelivery(), anId("dlv")];
    const { locked, busy } = await opened().inTransaction((tx) =>
      opened().webhooks.tryLockDeliveries(tx, [two, gone, one, two]),
    );
    expect([...locked.keys()].sort()).to.deep.equal([one, two].sort());
    expect(locked.get(one)).to.deep.equal(await opened().webhooks.findDelivery(one));
    expect([...busy]).to.deep.equal([]);
  });

  it("are added to deliveries that their transaction has locked before, and to others", async () => {
    const [one, two, gone] = [await addDelivery(), await addDelivery(), anId("dlv")];
    await add(aDeliveryAttempt({ deliveryId: one }));
    const { webhooks } = opened();
    const numbers = await opened().inTransaction(async (tx) => {
      const { locked } = await webhooks.tryLockDeliveries(tx, [one, gone]);
      const attempts = [one, two, gone].map((deliveryId) => aDeliveryAttempt({ deliveryId }));
      return webhooks.insertDeliveryAttempts(tx, attempts, locked);
    });
    expect(numbers).to.deep.equal([2, 1, 0]);
  });

  it("are not added to a deleted delivery", async () => {
    const deliveryId = anId("dlv");
    expect(await add(aDeliveryAttempt({ deliveryId }))).to.equal(0);
    expect((await opened().webhooks.listDeliveryAttempts([deliveryId])).size).to.equal(0);
  });
}
