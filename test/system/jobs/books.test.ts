import { expect } from "chai";
import { type MarginReport, ReportMargin } from "../../../core/execution/report-margin.js";
import { ProviderFailure } from "../../../core/ports/music-provider.js";
import { accepts, fails, SCRIPTED_TRACK } from "../../support/doubles/scripted-provider.js";
import { COST, GRACE_MS, Workshop } from "./workshop.js";

const EXPECTED = { amount: 0.1, unit: "USD" };

describe("Two books", () => {
  let shop: Workshop;
  beforeEach(async () => {
    shop = await Workshop.open();
  });
  afterEach(() => shop.close());

  const report = (query: { readonly from?: number; readonly to?: number; readonly lostLimit?: number } = {}): Promise<MarginReport> =>
    new ReportMargin(shop.storage.jobs).report({ from: 0, to: Number.MAX_SAFE_INTEGER, lostLimit: 10, ...query });

  it("hold what was paid and what the provider told, or was expected to cost, side by side", async () => {
    let told = true;
    shop.provider.behaviour = () => {
      const cost = told ? { cost: { amount: 0.25, unit: "USD" } } : {};
      told = false;
      return Promise.resolve({ state: "completed", tracks: [SCRIPTED_TRACK], ...cost });
    };
    await shop.accept(3);
    await shop.start({ expectedCost: EXPECTED });
    await shop.pass(0);
    expect((await report()).providers).to.deep.equal([
      {
        providerId: "scripted",
        completed: 3,
        failed: 0,
        creditsCharged: 3 * COST,
        attempts: 3,
        billed: { USD: 0.45 },
        perhapsBilled: {},
        lost: {},
      },
    ]);
  });

  it("count a refusal before acceptance as free, and work that failed at the provider by what that says", async () => {
    const failures = [
      new ProviderFailure("unavailable", "busy", { billable: "no" }),
      new ProviderFailure("failed", "it broke", { billable: "yes" }),
      new ProviderFailure("content_rejected", "moderation", { billable: "no" }),
      new ProviderFailure("failed", "it broke"),
    ];
    shop.provider.behaviour = () => Promise.reject(failures.shift() ?? new Error("none is left"));
    await shop.accept(3);
    await shop.start({ expectedCost: EXPECTED, concurrency: 1 });
    await shop.pass(5_000);
    const { providers, lost, lostCount } = await report();
    expect(providers[0]).to.include({ completed: 0, failed: 3, creditsCharged: 0, attempts: 4 });
    expect(providers[0]).to.deep.include({ billed: { USD: 0.1 }, perhapsBilled: { USD: 0.1 }, lost: { USD: 0.2 } });
    expect(lostCount).to.equal(2);
    expect(lost.map(({ attempt: { outcome, billable } }) => [outcome, billable])).to.have.deep.members([
      ["failed", "yes"],
      ["failed", "unknown"],
    ]);
  });

  it("name what was paid upstream and refunded below: a lost reply, a deadline, files that could not be had", async () => {
    const gone = { kind: "stream", open: () => fetchGone() } as const;
    const assets = SCRIPTED_TRACK.assets.map((asset) => ({ ...asset, source: gone }));
    const behaviours = [fails("outcome_unknown"), accepts(3_600_000), () => Promise.resolve({ state: "completed", tracks: [{ ...SCRIPTED_TRACK, assets }] } as const)];
    shop.provider.behaviour = (request, context) => (behaviours.shift() ?? fails("failed"))(request, context);
    shop.provider.pollBehaviour = () => Promise.resolve({ state: "running", nextPollMs: 3_600_000 });
    await shop.accept(3);
    await shop.start({ expectedCost: EXPECTED, concurrency: 1, deadlineMs: 5 * GRACE_MS });
    await shop.pass(GRACE_MS + 10_000);
    await shop.pass(4 * GRACE_MS);
    const { providers, lost } = await report();
    expect(providers[0]).to.deep.include({ failed: 3, billed: { USD: 0.1 }, perhapsBilled: { USD: 0.2 }, lost: { USD: 0.3 } });
    expect(lost.map(({ attempt: { outcome, billable } }) => [outcome, billable])).to.have.deep.members([
      ["outcome_unknown", "unknown"],
      ["accepted", "unknown"],
      ["gone", "yes"],
    ]);
  });

  it("give each provider its own tries of a job that went from one to the other", async () => {
    shop.provider.behaviour = () => Promise.reject(new ProviderFailure("timeout", "too slow", { billable: "yes" }));
    await shop.accept(1);
    await shop.start({ withStandIn: true, maxAttempts: 2, expectedCost: EXPECTED });
    await shop.pass(2_000);
    const { providers, lostCount } = await report();
    expect(providers.map(({ providerId, completed, creditsCharged, attempts, billed }) => [providerId, completed, creditsCharged, attempts, billed])).to.deep.equal([
      ["scripted", 0, 0, 2, { USD: 0.2 }],
      ["stand-in", 1, COST, 1, { USD: 0.1 }],
    ]);
    expect(lostCount).to.equal(0);
  });

  it("hold the time that was asked for only, all of many pages, and list no more than was asked for", async () => {
    shop.provider.behaviour = () => Promise.reject(new ProviderFailure("failed", "it broke", { billable: "yes" }));
    await shop.accept(600);
    const later = shop.clock.now() + 1_000;
    await shop.clock.advance(1_000);
    const [last] = await shop.accept(1);
    await shop.start({ expectedCost: EXPECTED, concurrency: 200 });
    await shop.pass(1_000);
    const all = await report({ lostLimit: 2 });
    expect([all.lostCount, all.lost.length, all.lost[0]?.job.id]).to.deep.equal([601, 2, last?.id]);
    expect([(await report({ to: later })).lostCount, (await report({ from: later })).lostCount]).to.deep.equal([600, 1]);
  });

  it("are empty where nothing ended", async () => {
    await shop.accept(1);
    expect(await report()).to.deep.include({ providers: [], lost: [], lostCount: 0 });
  });
});

async function* fetchGone(): AsyncIterable<Uint8Array> {
  yield* [];
  throw new ProviderFailure("gone", "404");
}
