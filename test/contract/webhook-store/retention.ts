import { expect } from "chai";
import type { WebhookDelivery, WebhookEvent } from "../../../core/ports/webhook-records.js";
import { NOON } from "../../support/builders.js";
import type { StorageWith } from "../../support/storage-under-test.js";
import { aDelivery, anEvent, aDeliveryAttempt } from "../../support/webhook-builders.js";

/** Before everything that other tests leave; each test has its own moment. */
const LONG_AGO = NOON - 1_500_000_000_000;

export function webhookRetention(opened: () => StorageWith<"webhooks">): void {
  /** An event with two deliveries, one of them with two attempts. */
  async function add(
    createdAt: number,
  ): Promise<{ readonly event: WebhookEvent; readonly deliveries: readonly WebhookDelivery[] }> {
    const event = anEvent({ createdAt });
    const deliveries = [
      aDelivery({ eventId: event.id, createdAt }),
      aDelivery({ eventId: event.id, createdAt, state: "delivered", dueAt: null, endedAt: createdAt }),
    ] as const;
    await opened().inTransaction(async (tx) => {
      await opened().webhooks.insertEvents(tx, [event]);
      await opened().webhooks.insertDeliveries(tx, deliveries);
      for (let attempts = 0; attempts < 2; attempts++)
        await opened().webhooks.insertDeliveryAttempts(tx, [aDeliveryAttempt({ deliveryId: deliveries[1].id })]);
    });
    return { event, deliveries };
  }
  const deleteOld = (createdBefore: number, limit: number): Promise<number> =>
    opened().inTransaction((tx) => opened().webhooks.deleteOld(tx, createdBefore, limit));
  /** The rows of an event: itself, deliveries, attempts. */
  async function left({ event, deliveries }: Awaited<ReturnType<typeof add>>): Promise<readonly number[]> {
    const { webhooks } = opened();
    const events = await webhooks.findEvents([event.id]);
    const found = await Promise.all(deliveries.map(({ id }) => webhooks.findDelivery(id)));
    const attempts = await webhooks.listDeliveryAttempts(deliveries.map(({ id }) => id));
    return [events.size, found.filter((delivery) => delivery !== null).length, [...attempts.values()].flat().length];
  }

  it("deletes events from before a moment with their deliveries and attempts", async () => {
    const [old, atTheMoment, young] = [await add(LONG_AGO - 1), await add(LONG_AGO), await add(LONG_AGO + 1)];
    expect(await deleteOld(LONG_AGO, 10)).to.equal(1);
    expect([await left(old), await left(atTheMoment), await left(young)]).to.deep.equal([
      [0, 0, 0],
      [1, 2, 2],
      [1, 2, 2],
    ]);
    expect(await deleteOld(LONG_AGO, 10)).to.equal(0);
    expect(await deleteOld(LONG_AGO + 2, 10)).to.equal(2);
  });

  it("deletes the oldest first, up to the limit", async () => {
    const [young, oldest, old] = [await add(LONG_AGO + 2), await add(LONG_AGO), await add(LONG_AGO + 1)];
    expect(await deleteOld(LONG_AGO + 9, 2)).to.equal(2);
    expect([await left(young), await left(oldest), await left(old)]).to.deep.equal([
      [1, 2, 2],
      [0, 0, 0],
      [0, 0, 0],
    ]);
    expect(await deleteOld(LONG_AGO + 9, 0)).to.equal(0);
    expect(await deleteOld(LONG_AGO + 9, 2)).to.equal(1);
  });

  it("shares the work among concurrent deletions", async () => {
    const added = await Promise.all(Array.from({ length: 24 }, (_, age) => add(LONG_AGO + age)));
    let deleted = 0;
    // Rows of another deletion are skipped: a round may take fewer than there are.
    for (let rounds = 0; deleted < 24 && rounds < 20; rounds++) {
      const counts = await Promise.all(Array.from({ length: 6 }, () => deleteOld(LONG_AGO + 99, 5)));
      deleted += counts.reduce((sum, count) => sum + count, 0);
    }
    expect(deleted).to.equal(24);
    expect((await Promise.all(added.map(left))).flat().every((count) => count === 0)).to.equal(true);
  });

  it("leaves no attempt that is added meanwhile", async () => {
    for (let round = 0; round < 5; round++) {
      const old = await add(LONG_AGO);
      const [, delivered] = old.deliveries as readonly [WebhookDelivery, WebhookDelivery];
      const attempts = Array.from({ length: 4 }, () =>
        opened().inTransaction((tx) =>
          opened().webhooks.insertDeliveryAttempts(tx, [
            aDeliveryAttempt({ deliveryId: delivered.id, isManual: true }),
          ]),
        ),
      );
      await Promise.all([...attempts.slice(2), deleteOld(LONG_AGO + 1, 5), ...attempts.slice(0, 2)]);
      expect(await left(old)).to.deep.equal([0, 0, 0]);
    }
  });

  it("is rolled back with the transaction", async () => {
    const old = await add(LONG_AGO);
    const cause = new Error("second thoughts");
    const outcome = opened().inTransaction(async (tx) => {
      await opened().webhooks.deleteOld(tx, LONG_AGO + 1, 5);
      throw cause;
    });
    expect(await outcome.catch((error: unknown) => error)).to.equal(cause);
    expect(await left(old)).to.deep.equal([1, 2, 2]);
    expect(await deleteOld(LONG_AGO + 1, 5)).to.equal(1);
  });
}
