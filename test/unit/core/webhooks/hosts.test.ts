import { expect } from "chai";
import type { WebhookEndpointId } from "../../../../core/ids.js";
import { Hosts, type Receiver, receiverOf } from "../../../../core/webhooks/hosts.js";
import { anId, NOON } from "../../../support/builders.js";
import { anEndpoint } from "../../../support/webhook-builders.js";

const OPEN_MS = 30_000;
const FAILURES = 5;

describe("The hosts that a process delivers to", () => {
  let hosts: Hosts;
  beforeEach(() => {
    hosts = new Hosts({ openMs: OPEN_MS, openMaxMs: 600_000 });
  });

  const aReceiver = (host = "one.example.com"): Receiver => receiverOf(anEndpoint({ url: `https://${host}/hooks` }));
  const fail = (host: string, times = FAILURES): boolean[] =>
    Array.from({ length: times }, () => hosts.note(host, "connect", NOON));
  const countsOf = (
    receivers: readonly Receiver[],
    { now = NOON, busy = {} }: { readonly now?: number; readonly busy?: Readonly<Record<string, number>> } = {},
  ): (readonly [number, number])[] => {
    const ofEndpoint = new Map<WebhookEndpointId, number>();
    const demand = hosts.demandOf(receivers, { ofEndpoint, ofHost: new Map(Object.entries(busy)) }, now);
    return demand.map(({ of, count }) => [receivers.findIndex(({ endpoint }) => endpoint.id === of), count]);
  };

  it("have ten attempts at once, shared out, with five at most for an endpoint; who gets none is left out", () => {
    const receivers = [aReceiver(), aReceiver(), aReceiver(), aReceiver("two.example.com")];
    expect(countsOf(receivers)).to.deep.equal([
      [0, 4],
      [1, 3],
      [2, 3],
      [3, 5],
    ]);
    expect(countsOf(receivers, { busy: { [receivers[0]?.host ?? ""]: 9 } })).to.deep.equal([
      [0, 1],
      [3, 5],
    ]);
    expect(countsOf(receivers, { busy: { [receivers[0]?.host ?? ""]: 10 } })).to.deep.equal([[3, 5]]);
  });

  it("fail after five failures in a row, and no more after one success", () => {
    const { host } = aReceiver();
    expect(fail(host)).to.deep.equal([false, false, false, false, true]);
    expect(hosts.note(host, null, NOON)).to.equal(false);
    expect(fail(host, 4)).to.deep.equal([false, false, false, false]);
    expect(hosts.note(host, null, NOON)).to.equal(false);
    expect(hosts.note(host, null, NOON)).to.equal(false);
    expect(fail(host)).to.deep.equal([false, false, false, false, true]);
  });

  it("get nothing while they back off, then one attempt for all their endpoints", () => {
    const receivers = [aReceiver(), aReceiver(), aReceiver("two.example.com")];
    fail(receivers[0]?.host ?? "");
    expect(countsOf(receivers, { now: NOON + OPEN_MS - 1 })).to.deep.equal([[2, 5]]);
    expect(countsOf(receivers, { now: NOON + OPEN_MS })).to.deep.equal([
      [0, 1],
      [2, 5],
    ]);
    hosts.note(receivers[0]?.host ?? "", null, NOON + OPEN_MS);
    expect(countsOf(receivers, { now: NOON + OPEN_MS }).map(([, count]) => count)).to.deep.equal([5, 5, 5]);
  });

  it("that respond, if only with errors, get one attempt for each endpoint that has not failed itself", () => {
    const { endpoint: well } = aReceiver();
    const streak = { firstAt: NOON, lastAt: NOON, firstEventId: anId("evt"), severalEvents: false, warnedHours: 0 };
    const failing = { ...anEndpoint({ url: well.url }), health: { streak, breaker: null } };
    const receivers = [failing, failing, well, well].map((endpoint) => receiverOf({ ...endpoint, id: anId("whe") }));
    const host = receivers[0]?.host ?? "";
    for (let failed = 0; failed < FAILURES; failed++) hosts.note(host, "http_5xx", NOON);
    expect(countsOf(receivers)).to.deep.equal([
      [2, 1],
      [3, 1],
    ]);
    expect(countsOf(receivers, { now: NOON + OPEN_MS })).to.deep.equal([
      [0, 1],
      [2, 1],
      [3, 1],
    ]);
    expect(countsOf(receivers, { now: NOON + OPEN_MS, busy: { [host]: 1 } })).to.deep.equal([
      [2, 1],
      [3, 1],
    ]);
  });

  it("are remembered up to ten thousand of them; the one that failed the longest ago is forgotten", () => {
    const receivers = [aReceiver("first.example.com"), aReceiver("second.example.com")];
    for (const { host } of receivers) fail(host);
    fail(receivers[0]?.host ?? "", 1);
    for (let other = 0; other < 9_998; other++) hosts.note(`${other}.example.com:443`, "connect", NOON);
    expect(countsOf(receivers)).to.deep.equal([]);
    hosts.note("last.example.com:443", "connect", NOON);
    expect(countsOf(receivers), "the second has failed before the first").to.deep.equal([[1, 5]]);
  });
});
