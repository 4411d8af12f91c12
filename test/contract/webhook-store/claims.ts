import { expect } from "chai";
import type { ProcessId, WebhookDeliveryId, WebhookEndpointId } from "../../../core/ids.js";
import type { ClaimedDelivery, DeliveryClaim, EndpointsWithDue } from "../../../core/ports/webhook-store.js";
import type { WebhookDelivery, WebhookEvent } from "../../../core/ports/webhook-records.js";
import { anId, NOON } from "../../support/builders.js";
import type { StorageWith } from "../../support/storage-under-test.js";
import { aDelivery, anEvent } from "../../support/webhook-builders.js";

/** Due before everything that other tests leave. */
const LONG_AGO = NOON - 1_000_000_000_000;

export function webhookClaims(opened: () => StorageWith<"webhooks">): void {
  /** Adds deliveries, each of its own event. */
  async function add(...deliveries: readonly WebhookDelivery[]): Promise<Map<WebhookDeliveryId, WebhookEvent>> {
    const events = new Map(deliveries.map(({ id, eventId }) => [id, anEvent({ id: eventId })]));
    await opened().inTransaction(async (tx) => {
      await opened().webhooks.insertEvents(tx, [...events.values()]);
      await opened().webhooks.insertDeliveries(tx, deliveries);
    });
    return events;
  }
  const claim = (
    claims: readonly DeliveryClaim[],
    {
      now = NOON,
      owner = anId("prc"),
      leaseUntil = now + 60_000,
    }: { now?: number; owner?: ProcessId; leaseUntil?: number } = {},
  ): Promise<ClaimedDelivery[]> => opened().webhooks.claimDeliveries(claims, now, owner, leaseUntil);
  const claimOf = async (endpointId: WebhookEndpointId, limit: number, now = NOON): Promise<WebhookDeliveryId[]> =>
    (await claim([{ endpointId, limit }], { now })).map(({ delivery }) => delivery.id);
  const drop = (endpointId: WebhookEndpointId, now = NOON): Promise<number> =>
    opened().inTransaction((tx) => opened().webhooks.dropPending(tx, endpointId, now));
  const find = (id: WebhookDeliveryId): Promise<WebhookDelivery | null> => opened().webhooks.findDelivery(id);

  it("take a due delivery under a new fence, leased, with its event", async () => {
    const delivery = aDelivery({ fence: 4, attempts: 2, dueAt: NOON });
    const events = await add(delivery);
    const owner = anId("prc");
    const claimed = await claim([{ endpointId: delivery.endpointId, limit: 5 }], { owner, leaseUntil: NOON + 7 });
    const after: WebhookDelivery = { ...delivery, fence: 5, leaseOwner: owner, dueAt: NOON + 7 };
    expect(claimed).to.deep.equal([{ delivery: after, event: events.get(delivery.id) }]);
    expect(await find(delivery.id)).to.deep.equal(after);
  });

  it("leave deliveries that are not due, ended, or of other endpoints", async () => {
    const endpointId = anId("whe");
    const over = { endpointId, dueAt: null, endedAt: NOON } as const;
    await add(
      aDelivery({ endpointId, dueAt: NOON + 1 }),
      aDelivery({ ...over, state: "delivered" }),
      aDelivery({ ...over, state: "exhausted" }),
      aDelivery({ ...over, state: "dropped" }),
      aDelivery(),
    );
    expect(await claimOf(endpointId, 9)).to.deep.equal([]);
    expect(await claimOf(endpointId, 9, NOON + 1)).to.have.length(1);
    expect(await claim([])).to.deep.equal([]);
  });

  it("take the longest due first, up to the limit of each endpoint", async () => {
    const [busy, quiet, other] = [anId("whe"), anId("whe"), anId("whe")];
    const [third, first, second] = [NOON - 1, NOON - 3, NOON - 2].map((dueAt) =>
      aDelivery({ endpointId: busy, dueAt }),
    ) as [WebhookDelivery, WebhookDelivery, WebhookDelivery];
    const lone = aDelivery({ endpointId: quiet });
    await add(third, first, second, lone, aDelivery({ endpointId: other }));
    const claimed = await claim([
      { endpointId: busy, limit: 2 },
      { endpointId: quiet, limit: 9 },
      { endpointId: other, limit: 0 },
      { endpointId: anId("whe"), limit: 3 },
    ]);
    expect(claimed.map(({ delivery }) => delivery.id)).to.deep.equal([first.id, second.id, lone.id]);
    expect(await claimOf(busy, 9)).to.deep.equal([third.id]);
  });

  it("deliver an event of several endpoints to each of them", async () => {
    const event = anEvent();
    const [one, two] = [aDelivery({ eventId: event.id }), aDelivery({ eventId: event.id })];
    await opened().inTransaction(async (tx) => {
      await opened().webhooks.insertEvents(tx, [event]);
      await opened().webhooks.insertDeliveries(tx, [one, two]);
    });
    const claimed = await claim([one, two].map(({ endpointId }) => ({ endpointId, limit: 1 })));
    expect(claimed.map((taken) => taken.event)).to.deep.equal([event, event]);
  });

  it("leave a leased delivery until its lease ends, and then fence off its owner", async () => {
    const delivery = aDelivery();
    const { id, endpointId } = delivery;
    await add(delivery);
    await claim([{ endpointId, limit: 1 }], { leaseUntil: NOON + 10 });
    expect(await claimOf(endpointId, 1, NOON + 9)).to.deep.equal([]);
    expect(await claimOf(endpointId, 1, NOON + 10)).to.deep.equal([id]);
    const late = await opened().inTransaction((tx) =>
      opened().webhooks.updateDeliveries(tx, [
        { id, fence: 1, changes: { state: "delivered", dueAt: null, endedAt: NOON } },
      ]),
    );
    expect([late, (await find(id))?.state]).to.deep.equal([0, "pending"]);
  });

  it("never share a delivery, however many claim at once", async () => {
    const [left, right] = [anId("whe"), anId("whe")];
    const deliveries = Array.from({ length: 120 }, (_, index) =>
      aDelivery({ endpointId: index % 2 === 0 ? left : right }),
    );
    await add(...deliveries);
    const claims = [left, right].map((endpointId) => ({ endpointId, limit: 4 }));
    const taken: WebhookDeliveryId[] = [];
    // Deliveries of another claim are skipped: a round may take fewer than there are.
    for (let rounds = 0; taken.length < 120 && rounds < 50; rounds++) {
      const round = await Promise.all(
        Array.from({ length: 12 }, (_, index) => claim(index % 2 === 0 ? claims : claims.toReversed())),
      );
      taken.push(...round.flat().map(({ delivery }) => delivery.id));
    }
    expect(taken).to.have.length(120);
    expect(new Set(taken)).to.deep.equal(new Set(deliveries.map(({ id }) => id)));
  });

  describe("the due deliveries", () => {
    const due = async (now: number, among: readonly WebhookEndpointId[]): Promise<WebhookEndpointId[]> =>
      (await looks(now)).filter((id) => among.includes(id)).sort();
    /** As many looks as it takes. */
    const looks = async (now: number): Promise<WebhookEndpointId[]> => {
      const found: WebhookEndpointId[] = [];
      for (let after: WebhookEndpointId | null = null; ;) {
        const { ids, next }: EndpointsWithDue = await opened().webhooks.endpointsWithDue(now, after);
        found.push(...ids);
        if (next === null) return found;
        after = next;
      }
    };

    it("name each endpoint with a due delivery once", async () => {
      const [several, one, later, over] = [anId("whe"), anId("whe"), anId("whe"), anId("whe")];
      await add(
        aDelivery({ endpointId: several, dueAt: LONG_AGO }),
        aDelivery({ endpointId: several, dueAt: LONG_AGO - 1 }),
        aDelivery({ endpointId: several, dueAt: LONG_AGO + 9 }),
        aDelivery({ endpointId: one, dueAt: LONG_AGO }),
        aDelivery({ endpointId: later, dueAt: LONG_AGO + 1 }),
        aDelivery({ endpointId: over, state: "exhausted", dueAt: null, endedAt: NOON }),
      );
      expect(await looks(LONG_AGO - 2)).to.deep.equal([]);
      expect(await looks(LONG_AGO - 1)).to.deep.equal([several]);
      expect(await looks(LONG_AGO)).to.have.members([several, one]);
      expect(await looks(LONG_AGO + 1)).to.have.members([several, one, later]);
      for (const endpointId of [several, one, later]) await drop(endpointId);
      expect(await looks(LONG_AGO + 1)).to.deep.equal([]);
    });

    it("omit an endpoint while all its deliveries are leased", async () => {
      const endpointId = anId("whe");
      await add(aDelivery({ endpointId }));
      await claim([{ endpointId, limit: 1 }], { leaseUntil: NOON + 10 });
      expect(await due(NOON + 9, [endpointId])).to.deep.equal([]);
      expect(await due(NOON + 10, [endpointId])).to.deep.equal([endpointId]);
    });

    it("include the other endpoints alongside those with a backlog, in any order", async () => {
      const ids = Array.from({ length: 8 }, () => anId("whe"));
      const [first, crowded, between, waiting, , alsoCrowded, , last] = ids as [
        WebhookEndpointId,
        ...WebhookEndpointId[],
      ];
      const crowd = (
        endpointId: WebhookEndpointId | undefined,
        length: number,
        overrides: Partial<WebhookDelivery>,
      ): WebhookDelivery[] =>
        Array.from({ length }, (_, age) =>
          aDelivery({ endpointId: endpointId as WebhookEndpointId, dueAt: NOON - 400 + age, ...overrides }),
        );
      const justDue = { dueAt: NOON };
      await add(
        ...crowd(crowded, 160, {}),
        ...crowd(alsoCrowded, 151, {}),
        ...crowd(waiting, 60, { dueAt: NOON + 1 }),
        ...crowd(first, 1, justDue),
        ...crowd(between, 2, justDue),
        ...crowd(last, 1, justDue),
      );
      expect(await due(NOON, ids)).to.deep.equal([first, crowded, between, alsoCrowded, last]);
    });

    it("of very many endpoints are found in looks of a bounded size, each going on behind the one before", async () => {
      const ids = Array.from({ length: 900 }, () => anId("whe")).sort();
      await add(...ids.map((endpointId, index) => aDelivery({ endpointId, dueAt: index % 3 === 0 ? NOON + 1 : NOON })));
      const looks: (readonly WebhookEndpointId[])[] = [];
      for (let after: WebhookEndpointId | null = null; ;) {
        const look: EndpointsWithDue = await opened().webhooks.endpointsWithDue(NOON, after);
        looks.push(look.ids);
        if (look.next === null) break;
        after = look.next;
      }
      expect(looks.length).to.be.above(2);
      for (const found of looks) expect(found.length).to.be.below(250);
      const found = looks.flat();
      expect(new Set(found).size, "no endpoint twice").to.equal(found.length);
      expect(found.filter((id) => ids.includes(id))).to.deep.equal(ids.filter((_, index) => index % 3 !== 0));
      for (const id of ids) await drop(id);
    });

    it("have the due time of the next pending delivery, leased ones included", async () => {
      const { webhooks } = opened();
      const before = await webhooks.nextDeliveryAt();
      const [leased, later] = [aDelivery({ dueAt: LONG_AGO }), aDelivery({ dueAt: LONG_AGO + 60 })];
      await add(later, leased, aDelivery({ state: "delivered", dueAt: null, createdAt: LONG_AGO, endedAt: LONG_AGO }));
      expect(await webhooks.nextDeliveryAt()).to.equal(LONG_AGO);
      await claim([{ endpointId: leased.endpointId, limit: 1 }], { now: LONG_AGO, leaseUntil: LONG_AGO + 59 });
      expect(await webhooks.nextDeliveryAt()).to.equal(LONG_AGO + 59);
      await drop(leased.endpointId);
      expect(await webhooks.nextDeliveryAt()).to.equal(LONG_AGO + 60);
      await drop(later.endpointId);
      expect(await webhooks.nextDeliveryAt()).to.equal(before);
    });

    it("are counted while pending, leased or not", async () => {
      const before = await opened().webhooks.countPending();
      const [one, two] = [aDelivery(), aDelivery({ leaseOwner: anId("prc"), dueAt: NOON + 9 })];
      await add(one, two, aDelivery({ state: "dropped", dueAt: null, endedAt: NOON }));
      expect(await opened().webhooks.countPending()).to.equal(before + 2);
      await drop(two.endpointId);
      expect(await opened().webhooks.countPending()).to.equal(before + 1);
    });
  });

  describe("dropping", () => {
    it("ends the pending deliveries of one endpoint, and leaves the rest", async () => {
      const endpointId = anId("whe");
      const [waiting, delivered] = [
        aDelivery({ endpointId, attempts: 2 }),
        aDelivery({ endpointId, state: "delivered", dueAt: null, endedAt: NOON }),
      ];
      const leased = aDelivery({ endpointId, fence: 3, leaseOwner: anId("prc"), dueAt: NOON + 60_000 });
      const other = aDelivery();
      await add(waiting, delivered, leased, other);
      expect(await drop(endpointId, NOON + 5)).to.equal(2);
      const over = { state: "dropped", leaseOwner: null, dueAt: null, endedAt: NOON + 5 } as const;
      expect(await find(waiting.id)).to.deep.equal({ ...waiting, ...over, fence: 1 });
      expect(await find(leased.id)).to.deep.equal({ ...leased, ...over, fence: 4 });
      expect([await find(delivered.id), await find(other.id)]).to.deep.equal([delivered, other]);
      expect(await drop(endpointId, NOON + 6)).to.equal(0);
    });

    it("makes the result of a running attempt change nothing", async () => {
      const delivery = aDelivery();
      await add(delivery);
      const [taken] = await claim([{ endpointId: delivery.endpointId, limit: 1 }]);
      await drop(delivery.endpointId);
      const { id, fence } = taken?.delivery as WebhookDelivery;
      const written = await opened().inTransaction((tx) =>
        opened().webhooks.updateDeliveries(tx, [
          { id, fence, changes: { state: "pending", dueAt: NOON + 5, endedAt: null } },
        ]),
      );
      expect([written, (await find(id))?.state]).to.deep.equal([0, "dropped"]);
    });

    it("covers all of them, however many there are, also of one moment", async () => {
      const endpointId = anId("whe");
      const deliveries = Array.from({ length: 1_203 }, (_, index) =>
        aDelivery({ endpointId, createdAt: NOON + Math.floor(index / 700) }),
      );
      await add(...deliveries);
      expect(await drop(endpointId)).to.equal(1_203);
      expect(
        await opened().webhooks.listDeliveries({ endpointId, order: "newest", limit: 1, states: ["pending"] }),
      ).to.deep.equal([]);
    });

    it("races with claims and reports: in the end every delivery is dropped or was reported before", async () => {
      const endpointId = anId("whe");
      const deliveries = Array.from({ length: 60 }, () => aDelivery({ endpointId }));
      await add(...deliveries);
      const deliver = async (): Promise<WebhookDeliveryId[]> => {
        const claimed = await claim([{ endpointId, limit: 3 }]);
        const updates = claimed.map(({ delivery: { id, fence } }) => ({
          id,
          fence,
          changes: { state: "delivered", attempts: 1, leaseOwner: null, dueAt: null, endedAt: NOON } as const,
        }));
        return opened().inTransaction(async (tx) => {
          const written: WebhookDeliveryId[] = [];
          for (const update of updates.toReversed())
            if ((await opened().webhooks.updateDeliveries(tx, [update])) === 1) written.push(update.id);
          return written;
        });
      };
      const dropSoon = async (): Promise<number> => {
        await deliver();
        return drop(endpointId);
      };
      const [dropped, ...reported] = await Promise.all([dropSoon(), ...Array.from({ length: 12 }, deliver)]);
      const found = await opened().webhooks.listDeliveries({ endpointId, order: "oldest", limit: 100 });
      const delivered = found.filter(({ state }) => state === "delivered").map(({ id }) => id);
      expect(delivered).to.include.members(reported.flat());
      expect(found.filter(({ state }) => state === "dropped")).to.have.length(dropped);
      expect(
        found.every(({ state, leaseOwner, dueAt }) => state !== "pending" && leaseOwner === null && dueAt === null),
      ).to.equal(true);
    });
  });
}
