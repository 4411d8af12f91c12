import { expect } from "chai";
import type { WebhookEndpointId } from "../../../../core/ids.js";
import type { WebhookEndpoint } from "../../../../core/ports/webhook-records.js";
import type { EndpointsWithDue } from "../../../../core/ports/webhook-store.js";
import { DueEndpoints } from "../../../../core/webhooks/due-endpoints.js";
import type { Receiver } from "../../../../core/webhooks/hosts.js";
import { NOON } from "../../../support/builders.js";
import { anEndpoint } from "../../../support/webhook-builders.js";

const SWEEP_MS = 1_000;

describe("The endpoints with something due, as a process knows them", () => {
  /** What looks find, one after another, and where each was asked to go on. */
  let [found, asked]: [EndpointsWithDue[], (WebhookEndpointId | null)[]] = [[], []];
  let stored: Map<WebhookEndpointId, WebhookEndpoint>;
  let dropped: WebhookEndpointId[];
  let due: DueEndpoints;
  beforeEach(() => {
    [found, asked, dropped] = [[], [], []];
    stored = new Map<WebhookEndpointId, WebhookEndpoint>();
    due = new DueEndpoints({
      webhooks: {
        endpointsWithDue: async (_now, after) => {
          asked.push(after);
          return found.shift() ?? { ids: [], next: null };
        },
        findEndpoints: async (ids) =>
          new Map(ids.flatMap((id) => (stored.has(id) ? [[id, stored.get(id)]] : []))) as never,
      },
      sweepMs: SWEEP_MS,
      drop: async (id) => void dropped.push(id),
    });
  });

  function some(count: number, next: WebhookEndpointId | null = null): WebhookEndpoint[] {
    const endpoints = Array.from({ length: count }, () => anEndpoint());
    for (const endpoint of endpoints) stored.set(endpoint.id, endpoint);
    found.push({ ids: endpoints.map(({ id }) => id), next });
    return endpoints;
  }
  const idsOf = (receivers: Iterable<Receiver>): WebhookEndpointId[] =>
    [...receivers].map(({ endpoint }) => endpoint.id);

  it("are looked for again while none is known, or all that was due is claimed", async () => {
    expect([due.isKnown(NOON), due.hasBacklog]).to.deep.equal([false, false]);
    await due.look(NOON);
    expect([due.isKnown(NOON), due.hasBacklog]).to.deep.equal([false, false]);
    const [one, other] = some(2) as [WebhookEndpoint, WebhookEndpoint];
    expect(idsOf((await due.look(NOON)).values())).to.deep.equal([one.id, other.id]);
    expect([due.isKnown(NOON), due.hasBacklog, idsOf(due.known)]).to.deep.equal([true, true, [one.id, other.id]]);
    due.remove(one.id);
    expect([due.isKnown(NOON), idsOf(due.known)]).to.deep.equal([true, [other.id]]);
    due.remove(other.id);
    expect([due.isKnown(NOON), due.hasBacklog, due.known]).to.deep.equal([false, false, []]);
  });

  it("are known until the next sweep, or until the clock is set back", async () => {
    some(1);
    await due.look(NOON);
    expect([NOON - 1, NOON, NOON + 999, NOON + 1_000].map((now) => due.isKnown(now))).to.deep.equal([
      false,
      true,
      true,
      false,
    ]);
    expect([NOON, NOON + 400, NOON + 1_000, NOON + 5_000].map((now) => due.nextLookInMs(now))).to.deep.equal([
      1_000, 600, 0, 0,
    ]);
  });

  it("are looked for at once where something was added", async () => {
    some(1);
    due.ask();
    await due.look(NOON);
    expect(due.isKnown(NOON)).to.equal(true);
    due.ask();
    expect(due.isKnown(NOON)).to.equal(false);
    some(1);
    await due.look(NOON);
    expect(due.isKnown(NOON)).to.equal(true);
  });

  it("are looked for, where there are more than 100 of them", async () => {
    const [first] = some(101) as [WebhookEndpoint];
    await due.look(NOON);
    expect(due.isKnown(NOON)).to.equal(false);
    due.remove(first.id);
    expect(due.isKnown(NOON)).to.equal(true);
  });

  it("are looked for from where the last look ended, then from the beginning", async () => {
    const [first] = some(1, "whe_b") as [WebhookEndpoint];
    expect(idsOf((await due.look(NOON)).values())).to.deep.equal([first.id]);
    expect([due.isKnown(NOON), due.goesOn(true)]).to.deep.equal([false, true]);
    const [second] = some(1) as [WebhookEndpoint];
    due.ask();
    expect(idsOf((await due.look(NOON + 10)).values())).to.deep.equal([second.id]);
    expect(idsOf(due.known)).to.deep.equal([first.id, second.id]);
    expect(due.isKnown(NOON + 10), "what was added may be in front of where the second look began").to.equal(false);
    expect(due.goesOn(true)).to.equal(false);
    some(1);
    await due.look(NOON + 20);
    expect([asked, due.known.length, due.isKnown(NOON + 20)]).to.deep.equal([[null, "whe_b", null], 1, true]);
  });

  it("are looked for without a pause until all were looked at, unless no slot is free", async () => {
    some(1, "whe_b");
    await due.look(NOON);
    expect(due.goesOn(false), "a pause, behind which looks go on").to.equal(false);
    some(1);
    await due.look(NOON);
    expect(due.goesOn(true), "those in front of where this look began").to.equal(true);
    some(1);
    await due.look(NOON);
    expect(due.goesOn(true)).to.equal(false);
  });

  it("are read again for a claim; what waits for one that is gone or disabled is dropped", async () => {
    const [active, disabled, gone] = some(3) as [WebhookEndpoint, WebhookEndpoint, WebhookEndpoint];
    await due.look(NOON);
    stored.delete(gone.id);
    stored.set(disabled.id, { ...disabled, status: "disabled" });
    stored.set(active.id, { ...active, url: "https://elsewhere.example.com/" });
    const read = await due.read();
    expect([...read.values()].map(({ host }) => host)).to.deep.equal(["elsewhere.example.com:443"]);
    expect([idsOf(due.known), dropped]).to.deep.equal([[active.id], [disabled.id, gone.id]]);
    due.remove(active.id);
    stored.clear();
    expect([(await due.read()).size, dropped.length]).to.deep.equal([0, 2]);
  });
});
