import { expect } from "chai";
import type { WebhookEndpointId } from "../../../../core/ids.js";
import type { ClaimedDelivery } from "../../../../core/ports/webhook-store.js";
import { ClaimedAhead } from "../../../../core/webhooks/claimed-ahead.js";
import { Hosts, type Receiver, receiverOf } from "../../../../core/webhooks/hosts.js";
import { NOON } from "../../../support/builders.js";
import { aDelivery, anEndpoint, anEvent } from "../../../support/webhook-builders.js";

describe("What is claimed ahead of free slots", () => {
  let ahead: ClaimedAhead;
  beforeEach(() => {
    ahead = new ClaimedAhead();
  });

  const aReceiver = (): Receiver => receiverOf(anEndpoint());
  const deliver = (count: number, { endpoint }: Receiver, now = NOON): void => {
    for (let delivered = 0; delivered < count; delivered++) ahead.delivered(endpoint.id, now);
  };
  const add = (count: number, receiver: Receiver, now = NOON): ClaimedDelivery[] => {
    const claimed = Array.from({ length: count }, () => ({ delivery: aDelivery(), event: anEvent() }));
    for (const one of claimed) ahead.add(receiver, one, now);
    return claimed;
  };
  const limitsOf = (receivers: readonly Receiver[], now = NOON): number[] => {
    const claims = new Map(ahead.claims(receivers, now).map(({ endpointId, limit }) => [endpointId, limit]));
    return receivers.map(({ endpoint }) => claims.get(endpoint.id) ?? 0);
  };

  it("is as much as was delivered in the last quarter or half of a second, at most 100", () => {
    const [idle, quick, quicker] = [aReceiver(), aReceiver(), aReceiver()];
    deliver(7, quick);
    deliver(130, quicker);
    expect(limitsOf([idle, quick, quicker])).to.deep.equal([0, 7, 100]);
    deliver(3, quick, NOON + 250);
    expect(limitsOf([quick], NOON + 250)).to.deep.equal([10]);
    expect(limitsOf([quick], NOON + 499)).to.deep.equal([10]);
    expect(limitsOf([quick], NOON + 500)).to.deep.equal([3]);
    expect(limitsOf([quick], NOON + 750)).to.deep.equal([0]);
  });

  it("is nothing while half of it still waits", () => {
    const receiver = aReceiver();
    deliver(10, receiver);
    add(5, receiver);
    expect(limitsOf([receiver])).to.deep.equal([0]);
    ahead.take(receiver.endpoint.id, NOON);
    expect(limitsOf([receiver])).to.deep.equal([6]);
  });

  it("is 500 of all, shared out, and more as some are taken", () => {
    const receivers = Array.from({ length: 8 }, aReceiver);
    for (const receiver of receivers) deliver(100, receiver);
    expect(limitsOf(receivers)).to.deep.equal([63, 63, 63, 63, 62, 62, 62, 62]);
    for (const [index, limit] of limitsOf(receivers).entries()) add(limit, receivers[index] as Receiver);
    expect(limitsOf(receivers).some((limit) => limit > 0)).to.equal(false);
    const { id } = (receivers[0] as Receiver).endpoint;
    for (let taken = 0; taken < 20; taken++) ahead.take(id, NOON);
    expect(limitsOf(receivers).reduce((sum, limit) => sum + limit, 0)).to.equal(20);
    ahead.takeAllOf(id);
    deliver(100, receivers[0] as Receiver);
    expect(limitsOf(receivers).reduce((sum, limit) => sum + limit, 0)).to.equal(63);
  });

  it("is nothing for an endpoint that has failed", () => {
    const streak = { firstAt: NOON, lastAt: NOON, firstEventId: anEvent().id, severalEvents: false, warnedHours: 0 };
    const endpoint = anEndpoint({ health: { streak, breaker: null } });
    deliver(10, receiverOf(endpoint));
    expect(limitsOf([receiverOf(endpoint)])).to.deep.equal([0]);
  });

  it("is taken in the order of its claim, by endpoint", () => {
    const [one, other] = [aReceiver(), aReceiver()];
    const [first, second] = add(2, one);
    const [third] = add(1, other);
    const take = (id: WebhookEndpointId): ClaimedDelivery | null => ahead.take(id, NOON + 1_000);
    expect([take(one.endpoint.id), take(other.endpoint.id), take(one.endpoint.id)]).to.deep.equal([
      first,
      third,
      second,
    ]);
    expect([take(one.endpoint.id), ahead.countOf(one.endpoint.id), ahead.receivers()]).to.deep.equal([null, 0, []]);
  });

  it("is late after a second, or when the clock was set back, and is no longer sent", () => {
    const [early, late] = [aReceiver(), aReceiver()];
    const [first] = add(1, early, NOON - 1);
    const [second] = add(1, late, NOON);
    expect([ahead.lateInMs(NOON), ahead.takeLate(NOON + 999)]).to.deep.equal([1_000, []]);
    expect(ahead.take(early.endpoint.id, NOON + 1_000)).to.equal(null);
    expect(ahead.takeLate(NOON + 1_000)).to.deep.equal([first]);
    expect([ahead.lateInMs(NOON + 1_000), ahead.take(late.endpoint.id, NOON - 1)]).to.deep.equal([1, null]);
    expect(ahead.takeLate(NOON - 1)).to.deep.equal([second]);
    expect(ahead.lateInMs(NOON)).to.equal(null);
  });

  it("has no slot that another endpoint of the host could use", () => {
    const [few, many] = ["a", "b"].map((path) => receiverOf(anEndpoint({ url: `https://one.example/${path}` }))) as [
      Receiver,
      Receiver,
    ];
    const hosts = new Hosts({ openMs: 1, openMaxMs: 1 });
    const underWay = { ofEndpoint: new Map(), ofHost: new Map([[few.host, 6]]) };
    const most = (id: WebhookEndpointId): number => (id === few.endpoint.id ? 1 : 20);
    expect(hosts.demandOf([few, many], underWay, NOON, most)).to.deep.equal([
      { of: few.endpoint.id, count: 1 },
      { of: many.endpoint.id, count: 3 },
    ]);
  });
});
