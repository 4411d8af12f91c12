import { expect } from "chai";
import type { WebhookDeliveryId, WebhookEndpointId } from "../../../core/ids.js";
import type { DeliveryFilter, DeliveryUpdate } from "../../../core/ports/webhook-store.js";
import type { DeliveryState, WebhookDelivery, WebhookEvent } from "../../../core/ports/webhook-records.js";
import { anId, NOON } from "../../support/builders.js";
import type { StorageWith } from "../../support/storage-under-test.js";
import { aDelivery, anEvent } from "../../support/webhook-builders.js";

const STATES: readonly DeliveryState[] = ["pending", "delivered", "exhausted", "dropped"];

export function webhookDeliveries(opened: () => StorageWith<"webhooks">): void {
  const addEvents = (...events: readonly WebhookEvent[]): Promise<void> =>
    opened().inTransaction((tx) => opened().webhooks.insertEvents(tx, events));
  const add = (...deliveries: readonly WebhookDelivery[]): Promise<void> =>
    opened().inTransaction((tx) => opened().webhooks.insertDeliveries(tx, deliveries));
  const update = (...updates: readonly DeliveryUpdate[]): Promise<number> =>
    opened().inTransaction((tx) => opened().webhooks.updateDeliveries(tx, updates));
  const find = (id: WebhookDeliveryId): Promise<WebhookDelivery | null> => opened().webhooks.findDelivery(id);
  const list = async (
    filter: Partial<DeliveryFilter> & Pick<DeliveryFilter, "endpointId">,
  ): Promise<WebhookDeliveryId[]> =>
    (await opened().webhooks.listDeliveries({ order: "newest", limit: 100, ...filter })).map(({ id }) => id);

  describe("events", () => {
    it("store every member", async () => {
      const trace = { traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`, tracestate: "shop=7" };
      const [ofJob, ping] = [anEvent({ trace }), anEvent({ jobId: null, type: "webhook.ping" })];
      await addEvents(ofJob, ping);
      const found = await opened().webhooks.findEvents([ping.id, anId("evt"), ofJob.id, ping.id]);
      expect(found).to.deep.equal(
        new Map([
          [ping.id, ping],
          [ofJob.id, ofJob],
        ]),
      );
    });

    it("keep their exact bytes, since these are signed", async () => {
      const texts = [
        "👩‍👩‍👧‍👦 é ﷽ \u202e ﬁ",
        `'"\`\\u0041 ? :name % \u0000`,
        "  blanks before and after \t\r\n ",
        "x".repeat(256 * 1024),
      ];
      const events = texts.map((body) => anEvent({ body }));
      await addEvents(...events);
      const found = await opened().webhooks.findEvents(events.map(({ id }) => id));
      expect(events.map(({ id }) => found.get(id)?.body)).to.deep.equal(texts);
    });

    it("are added in a batch, and none when one of them exists", async () => {
      const events = Array.from({ length: 300 }, () => anEvent());
      await addEvents(...events);
      expect((await opened().webhooks.findEvents(events.map(({ id }) => id))).size).to.equal(300);
      const fresh = anEvent();
      expect(await addEvents(fresh, events[0] as WebhookEvent).catch((error: unknown) => error)).to.be.instanceOf(
        Error,
      );
      expect((await opened().webhooks.findEvents([fresh.id])).size).to.equal(0);
      await addEvents();
    });
  });

  it("stores every member", async () => {
    const leased = aDelivery({ attempts: 3, fence: 7, leaseOwner: anId("prc"), dueAt: NOON + 60_000 });
    const ended = aDelivery({ state: "exhausted", attempts: 10, fence: 12, dueAt: null, endedAt: NOON + 9 });
    await add(leased, ended);
    expect(await find(leased.id)).to.deep.equal(leased);
    expect(await find(ended.id)).to.deep.equal(ended);
    expect(await find(anId("dlv"))).to.equal(null);
  });

  it("are found by the job whose end they are of", async () => {
    const jobId = anId("job");
    const [event, other] = [anEvent({ jobId, createdAt: NOON + 5 }), anEvent({ createdAt: NOON + 5 })];
    const [first, second] = [aDelivery({ eventId: event.id }), aDelivery({ eventId: event.id, state: "delivered" })];
    await addEvents(event, other);
    await add(second, first, aDelivery({ eventId: other.id }));
    const found = await opened().webhooks.deliveriesOfJob(jobId, NOON + 5);
    expect(found.map(({ id }) => id)).to.deep.equal([first.id, second.id].sort());
    expect(await opened().webhooks.deliveriesOfJob(jobId, NOON + 6)).to.deep.equal([]);
    expect(await opened().webhooks.deliveriesOfJob(anId("job"), NOON + 5)).to.deep.equal([]);
  });

  it("accepts an event once per endpoint, for several endpoints", async () => {
    const delivery = aDelivery();
    const { eventId, endpointId } = delivery;
    await add(delivery, aDelivery({ eventId }), aDelivery({ endpointId }));
    const again = aDelivery({ eventId, endpointId });
    const other = aDelivery();
    expect(await add(other, again).catch((error: unknown) => error)).to.be.instanceOf(Error);
    expect([await find(again.id), await find(other.id)]).to.deep.equal([null, null]);
    expect(await list({ endpointId })).to.have.length(2);
  });

  it("refuses an unknown state", async () => {
    const delivery = aDelivery({ state: "lost" as DeliveryState });
    expect(await add(delivery).catch((error: unknown) => error)).to.be.instanceOf(Error);
    expect(await find(delivery.id)).to.equal(null);
  });

  describe("updates", () => {
    it("write every mutable member, and nothing else", async () => {
      const delivery = aDelivery({ fence: 2, leaseOwner: anId("prc"), dueAt: NOON + 1 });
      await add(delivery);
      const changes: Required<DeliveryUpdate["changes"]> = {
        state: "delivered",
        attempts: 4,
        leaseOwner: null,
        dueAt: null,
        endedAt: NOON + 3,
      };
      expect(await update({ id: delivery.id, fence: 2, changes })).to.equal(1);
      expect(await find(delivery.id)).to.deep.equal({ ...delivery, ...changes });
    });

    it("keep members that are not named", async () => {
      const delivery = aDelivery({ leaseOwner: anId("prc"), attempts: 2 });
      await add(delivery);
      await update({ id: delivery.id, fence: 0, changes: { leaseOwner: null, attempts: undefined } });
      expect(await find(delivery.id)).to.deep.equal({ ...delivery, leaseOwner: null });
    });

    it("are written only under the current fence", async () => {
      const [stale, current] = [aDelivery({ fence: 2 }), aDelivery({ fence: 2 })];
      await add(stale, current);
      const written = await update(
        { id: current.id, fence: 2, changes: { attempts: 1 } },
        { id: stale.id, fence: 1, changes: { attempts: 9 } },
        { id: anId("dlv"), fence: 0, changes: { attempts: 1 } },
        { id: current.id, fence: 2, changes: {} },
      );
      expect(written, "the second of the current one changes nothing, and counts").to.equal(2);
      expect([await find(stale.id), await find(current.id)]).to.deep.equal([stale, { ...current, attempts: 1 }]);
      expect(await update()).to.equal(0);
    });

    it("of one delivery are written in order, whatever they change", async () => {
      const [first, second] = [aDelivery(), aDelivery()];
      await add(first, second);
      await update(
        { id: second.id, fence: 0, changes: { dueAt: NOON + 7 } },
        { id: first.id, fence: 0, changes: { attempts: 1 } },
        { id: first.id, fence: 0, changes: { attempts: 2, dueAt: NOON + 2 } },
        { id: first.id, fence: 0, changes: { attempts: 3 } },
      );
      expect(await find(first.id)).to.include({ attempts: 3, dueAt: NOON + 2 });
      expect(await find(second.id)).to.include({ attempts: 0, dueAt: NOON + 7 });
    });

    it("of many deliveries in different orders wait for each other and are all written", async () => {
      const deliveries = Array.from({ length: 40 }, () => aDelivery());
      await add(...deliveries);
      const updates = deliveries.map(({ id }) => ({ id, fence: 0, changes: { attempts: 1 } }));
      const written = await Promise.all([
        update(...updates),
        update(...updates.toReversed()),
        update(...updates),
        update(...updates.toReversed()),
      ]);
      expect(written).to.deep.equal([40, 40, 40, 40]);
    });
  });

  describe("lists", () => {
    /** One of each state and moment, the oldest first. */
    async function addMixed(endpointId: WebhookEndpointId): Promise<WebhookDelivery[]> {
      const deliveries = Array.from({ length: 12 }, (_, age) =>
        ofState(STATES[age % 4] as DeliveryState, { endpointId, createdAt: NOON + age }),
      );
      await add(...deliveries, aDelivery());
      return deliveries;
    }

    it("put the newest or the oldest first", async () => {
      const endpointId = anId("whe");
      const ids = (await addMixed(endpointId)).map(({ id }) => id);
      expect(await list({ endpointId, order: "oldest" })).to.deep.equal(ids);
      expect(await list({ endpointId, order: "newest" })).to.deep.equal(ids.toReversed());
      expect(await list({ endpointId, order: "oldest", limit: 5 })).to.deep.equal(ids.slice(0, 5));
      expect(await list({ endpointId, limit: 0 })).to.deep.equal([]);
      expect(await list({ endpointId: anId("whe") })).to.deep.equal([]);
    });

    it("have whole deliveries", async () => {
      const delivery = aDelivery({ leaseOwner: anId("prc"), fence: 1 });
      await add(delivery);
      const { endpointId } = delivery;
      expect(await opened().webhooks.listDeliveries({ endpointId, order: "newest", limit: 1 })).to.deep.equal([
        delivery,
      ]);
    });

    it("filter by state", async () => {
      const endpointId = anId("whe");
      const deliveries = await addMixed(endpointId);
      for (const states of [["dropped"], ["exhausted", "dropped"], [...STATES]] as const) {
        const expected = deliveries
          .filter(({ state }) => states.some((wanted) => wanted === state))
          .map(({ id }) => id);
        expect(await list({ endpointId, order: "oldest", states })).to.deep.equal(expected);
      }
      expect(await list({ endpointId, states: [] })).to.deep.equal([]);
    });

    it("start at a moment", async () => {
      const endpointId = anId("whe");
      const ids = (await addMixed(endpointId)).map(({ id }) => id);
      expect(await list({ endpointId, order: "oldest", since: NOON + 9 })).to.deep.equal(ids.slice(9));
      expect(await list({ endpointId, order: "newest", since: NOON + 10 })).to.deep.equal(ids.slice(10).reverse());
      expect(await list({ endpointId, since: NOON + 12 })).to.deep.equal([]);
    });

    for (const order of ["newest", "oldest"] as const) {
      it(`continue after a delivery, the ${order} first, also among those of one moment`, async () => {
        const endpointId = anId("whe");
        const deliveries = Array.from({ length: 23 }, (_, index) =>
          ofState(STATES[index % 3] as DeliveryState, { endpointId, createdAt: NOON + Math.floor(index / 8) }),
        );
        await add(...deliveries);
        const expected = deliveries.map(({ id }) => id);
        if (order === "newest") expected.reverse();
        const ids: WebhookDeliveryId[] = [];
        let after: WebhookDelivery | undefined;
        for (let pages = 0; pages < 10; pages++) {
          const filter: DeliveryFilter = {
            endpointId,
            since: NOON,
            order,
            limit: 4,
            ...(after === undefined ? {} : { after }),
          };
          const page: readonly WebhookDelivery[] = await opened().webhooks.listDeliveries(filter);
          ids.push(...page.map(({ id }) => id));
          after = page.at(-1);
          if (after === undefined) break;
        }
        expect(ids).to.deep.equal(expected);
      });
    }
  });
}

function ofState(state: DeliveryState, overrides: Partial<WebhookDelivery>): WebhookDelivery {
  return aDelivery(state === "pending" ? overrides : { state, dueAt: null, endedAt: NOON + 99, ...overrides });
}
