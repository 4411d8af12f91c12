import { expect } from "chai";
import { InvalidRequestError } from "../../../core/errors.js";
import type { AccountId } from "../../../core/ids.js";
import type { LoggedRequest } from "../../../core/ports/request-log.js";
import { createUsage, type Usage } from "../../../core/usage/create-usage.js";
import { aJob, aLoggedRequest, aReservation } from "../../support/builders.js";
import { type MemoryCore, memoryCore } from "../../support/memory-core.js";

const DAY_MS = 86_400_000;
const GENERATIONS = "/api/v1/generations";
const STEMS = "/api/v1/tracks/{id}/stems";

describe("ReadUsage", () => {
  let memory: MemoryCore;
  let usage: Usage;
  let accountId: AccountId;
  let now: number;
  beforeEach(async () => {
    memory = await memoryCore();
    usage = createUsage(memory.ports, (text) => text.replace("secret", "[redacted]"));
    now = memory.clock.now();
    accountId = (await memory.storage.addAccount({}, { pack: 1_000 })).id;
  });

  /** Served by this process, and not written yet. */
  function add(given: Partial<LoggedRequest> = {}): LoggedRequest {
    const request = aLoggedRequest({ accountId, createdAt: now, ...given });
    usage.requests.add(request);
    return request;
  }

  /** A request that created a job, refunded or not. */
  async function creates(cost: number, isRefunded = false, given: Partial<LoggedRequest> = {}): Promise<LoggedRequest> {
    const { storage } = memory;
    const request = add({ method: "POST", route: GENERATIONS, path: GENERATIONS, status: 202, ...given });
    const kind = request.route === STEMS ? "stem_split" : "music";
    const { client } = request;
    const job = aJob({ accountId, kind, requestId: request.id, requestedAt: request.createdAt, createdAt: now });
    const priced = { ...job, reserved: { monthly: 0, pack: cost }, request: { ...job.request, client } };
    await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, [priced]));
    await storage.apply(aReservation(await storage.balanceOf(accountId), priced));
    if (isRefunded) await memory.core.jobs.cancel(job.id, { force: true });
    return request;
  }

  const ids = (requests: readonly LoggedRequest[]): string[] => requests.map(({ id }) => id);

  it("lists what this process served a moment ago, the newest first, and nothing of other accounts", async () => {
    const first = add({ createdAt: now - 2 });
    const second = add({ createdAt: now - 1, path: "/api/v1/tracks/secret", route: "/api/v1/tracks/{id}" });
    usage.requests.add(aLoggedRequest({ createdAt: now }));
    const { items, next } = await usage.read.logs(accountId);
    expect(ids(items)).to.deep.equal([second.id, first.id]);
    expect(next).to.equal(null);
    expect(items[0]?.path).to.equal("/api/v1/tracks/[redacted]");
  });

  it("lists 50 requests where no limit is given, and goes on where a page ended", async () => {
    const all = Array.from({ length: 53 }, (_, index) => add({ createdAt: now - index }));
    const first = await usage.read.logs(accountId);
    expect(ids(first.items)).to.deep.equal(ids(all.slice(0, 50)));
    const rest = await usage.read.logs(accountId, { cursor: first.next ?? undefined, limit: 3 });
    expect(ids(rest.items)).to.deep.equal(ids(all.slice(50)));
    expect(rest.next).to.equal(null);
  });

  it("refuses a cursor of another account or list", async () => {
    for (const age of [1, 2]) add({ createdAt: now - age });
    const { next } = await usage.read.logs(accountId, { limit: 1 });
    const cursor = next ?? undefined;
    const { id: other } = await memory.storage.addAccount();
    const refused = [
      usage.read.logs(other, { cursor }),
      usage.read.usage(accountId, {}, { cursor }),
      usage.read.logs(accountId, { cursor: "no cursor" }),
    ];
    for (const one of refused) expect(await one.catch((error: unknown) => error)).to.be.instanceOf(InvalidRequestError);
    const page = await usage.read.usage(accountId, { status: 200 }, { limit: 1 });
    const again = { limit: 1, cursor: page.events.next ?? undefined };
    expect((await usage.read.usage(accountId, { status: 200 }, again)).events.items).to.have.length(1);
    expect(await usage.read.usage(accountId, {}, again).catch((error: unknown) => error))
      .to.be //
      .instanceOf(InvalidRequestError);
  });

  it("shows requests of the last 30 days alone", async () => {
    const kept = add({ createdAt: now - 30 * DAY_MS });
    add({ createdAt: now - 30 * DAY_MS - 1 });
    expect(ids((await usage.read.logs(accountId)).items)).to.deep.equal([kept.id]);
    const { summary, events } = await usage.read.usage(accountId, { from: 0 });
    expect([summary.requests, events.items.length]).to.deep.equal([1, 1]);
  });

  it("sums up what fits a filter", async () => {
    add({ createdAt: now - 5, client: "studio" });
    add({ createdAt: now - 4, client: "studio", status: 404, errorCode: "track_not_found" });
    add({ createdAt: now - 3, route: "/api/v1/models" });
    const counts = async (filter: Parameters<Usage["read"]["usage"]>[1]): Promise<number[]> => {
      const { summary, events } = await usage.read.usage(accountId, filter);
      return [summary.requests, summary.failed, events.items.length];
    };
    expect(await counts({})).to.deep.equal([3, 1, 3]);
    expect(await counts({ client: "studio" })).to.deep.equal([2, 1, 2]);
    expect(await counts({ status: 404 })).to.deep.equal([1, 1, 1]);
    expect(await counts({ route: "/api/v1/models" })).to.deep.equal([1, 0, 1]);
    expect(await counts({ from: now - 4 })).to.deep.equal([2, 1, 2]);
    expect(await counts({ to: now - 4 })).to.deep.equal([1, 0, 1]);
  });

  it("shows what each request cost and what came back of it, and the sums of all", async () => {
    const [paid, refunded] = [await creates(7), await creates(5, true)];
    const split = await creates(3, false, { route: STEMS, path: STEMS, client: "studio" });
    const read = add();
    const { summary, events } = await usage.read.usage(accountId, {});
    expect(summary).to.include({ requests: 4, used: 15, refunded: 5 });
    const costs = new Map(events.items.map(({ request, used, refunded: back }) => [request.id, [used, back]]));
    expect([paid, refunded, split, read].map(({ id }) => costs.get(id))).to.deep.equal([
      [7, 0],
      [5, 5],
      [3, 0],
      [0, 0],
    ]);
  });

  it("sums the credits of the jobs that a route creates, of a client or of nothing", async () => {
    await creates(7);
    await creates(3, false, { route: STEMS, path: STEMS, client: "studio" });
    const used = async (filter: Parameters<Usage["read"]["usage"]>[1]): Promise<number> =>
      (await usage.read.usage(accountId, filter)).summary.used;
    expect(await used({ route: GENERATIONS })).to.equal(7);
    expect(await used({ route: STEMS })).to.equal(3);
    expect(await used({ client: "studio" })).to.equal(3);
    expect(await used({ route: "/api/v1/credits" })).to.equal(0);
    expect(await used({ route: "constructor" })).to.equal(0);
    expect(await used({ status: 402 })).to.equal(0);
  });

  it("shows 100 requests one by one where no limit is given", async () => {
    for (let age = 0; age < 102; age++) add({ createdAt: now - age });
    const { summary, events } = await usage.read.usage(accountId, {});
    expect([summary.requests, events.items.length]).to.deep.equal([102, 100]);
    const rest = await usage.read.usage(accountId, {}, { cursor: events.next ?? undefined });
    expect(rest.events.items).to.have.length(2);
  });
});
