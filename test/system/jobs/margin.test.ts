import { expect } from "chai";
import { type MarginQuery, type MarginReport, ReportMargin } from "../../../core/attempts/report-margin.js";
import { ProviderFailure } from "../../../core/ports/music-provider.js";
import { submitAccepts, submitFails, SCRIPTED_TRACK } from "../../support/doubles/scripted-provider.js";
import { COST, GRACE_MS, WorkerHarness } from "./worker-harness.js";

const DAY_MS = 86_400_000;
const EXPECTED = { amount: 0.1, unit: "USD" };

describe("The margin report", () => {
  let harness: WorkerHarness;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
  });
  afterEach(() => harness.close());

  const report = (query: Partial<MarginQuery> = {}): Promise<MarginReport> =>
    new ReportMargin({ jobs: harness.storage.jobs }).report({
      from: 0,
      to: Number.MAX_SAFE_INTEGER,
      refundedLimit: 10,
      ...query,
    });

  it("compares the credits charged with the reported or expected cost of providers", async () => {
    let isFirst = true;
    harness.provider.behaviour = () => {
      const cost = isFirst ? { cost: { amount: 0.25, unit: "USD" } } : {};
      isFirst = false;
      return Promise.resolve({ state: "completed", tracks: [SCRIPTED_TRACK], ...cost });
    };
    await harness.accept(3);
    await harness.start({ expectedCost: EXPECTED });
    await harness.pass(0);
    expect((await report()).providers).to.deep.equal([
      {
        providerId: "scripted",
        completed: 3,
        failed: 0,
        creditsCharged: 3 * COST,
        attempts: 3,
        billed: { USD: 0.45 },
        possiblyBilled: {},
        refunded: {},
        bought: 3,
        delivered: 3,
        wasted: 0,
        perhaps: 0,
        reasons: {},
      },
    ]);
  });

  it("counts a refusal before acceptance as free, and failed work at the provider's reported cost", async () => {
    const failures = [
      new ProviderFailure("unavailable", "busy", { billable: "no" }),
      new ProviderFailure("failed", "it broke", { billable: "yes" }),
      new ProviderFailure("content_rejected", "moderation", { billable: "no" }),
      new ProviderFailure("failed", "it broke"),
    ];
    harness.provider.behaviour = () => Promise.reject(failures.shift() ?? new Error("none is left"));
    await harness.accept(3);
    await harness.start({ expectedCost: EXPECTED, concurrency: 1 });
    await harness.pass(5_000);
    const { providers, refunded, refundedCount } = await report();
    expect(providers[0]).to.include({ completed: 0, failed: 3, creditsCharged: 0, attempts: 4 });
    expect(providers[0]).to.deep.include({
      billed: { USD: 0.1 },
      possiblyBilled: { USD: 0.1 },
      refunded: { USD: 0.2 },
    });
    expect(refundedCount).to.equal(2);
    expect(refunded.map(({ attempt: { outcome, billable } }) => [outcome, billable])).to.have.deep.members([
      ["failed", "yes"],
      ["failed", "unknown"],
    ]);
  });

  it("lists work that was paid but refunded: a lost reply, a deadline, missing files", async () => {
    const gone = { kind: "stream", open: () => fetchGone() } as const;
    const assets = SCRIPTED_TRACK.assets.map((asset) => ({ ...asset, source: gone }));
    const behaviours = [
      submitFails("outcome_unknown"),
      submitAccepts(3_600_000),
      () => Promise.resolve({ state: "completed", tracks: [{ ...SCRIPTED_TRACK, assets }] } as const),
    ];
    harness.provider.behaviour = (request, context) => (behaviours.shift() ?? submitFails("failed"))(request, context);
    harness.provider.pollBehaviour = () => Promise.resolve({ state: "running", nextPollMs: 3_600_000 });
    await harness.accept(3);
    await harness.start({ expectedCost: EXPECTED, concurrency: 1, deadlineMs: 5 * GRACE_MS });
    await harness.pass(GRACE_MS + 10_000);
    await harness.pass(4 * GRACE_MS);
    const { providers, refunded } = await report();
    expect(providers[0]).to.deep.include({
      failed: 3,
      billed: { USD: 0.1 },
      possiblyBilled: { USD: 0.2 },
      refunded: { USD: 0.3 },
    });
    expect(refunded.map(({ attempt: { outcome, billable } }) => [outcome, billable])).to.have.deep.members([
      ["outcome_unknown", "unknown"],
      ["accepted", "unknown"],
      ["gone", "yes"],
    ]);
  });

  it("counts for each provider its own attempts of a job that used a fallback", async () => {
    harness.provider.behaviour = () => Promise.reject(new ProviderFailure("timeout", "too slow", { billable: "yes" }));
    await harness.accept(1);
    await harness.start({ withFallback: true, maxAttempts: 2, expectedCost: EXPECTED });
    await harness.pass(2_000);
    const { providers, refundedCount } = await report();
    expect(
      providers.map(({ providerId, completed, creditsCharged, attempts, billed }) => [
        providerId,
        completed,
        creditsCharged,
        attempts,
        billed,
      ]),
    ).to.deep.equal([
      ["fallback", 1, COST, 1, { USD: 0.1 }],
      ["scripted", 0, 0, 2, { USD: 0.2 }],
    ]);
    expect(refundedCount).to.equal(0);
  });

  it("covers only the given period, over many pages, and lists at most the given number", async () => {
    harness.provider.behaviour = () => Promise.reject(new ProviderFailure("failed", "it broke", { billable: "yes" }));
    await harness.accept(600);
    const later = harness.clock.now() + 1_000;
    await harness.clock.advance(1_000);
    const [last] = await harness.accept(1);
    await harness.start({ expectedCost: EXPECTED, concurrency: 200 });
    await harness.pass(1_000);
    const all = await report({ refundedLimit: 2 });
    expect([all.refundedCount, all.refunded.length, all.refunded[0]?.job.id]).to.deep.equal([601, 2, last?.id]);
    expect([(await report({ to: later })).refundedCount, (await report({ from: later })).refundedCount]).to.deep.equal([
      600, 1,
    ]);
  });

  it("counts what was bought by the day of acceptance in UTC, and by provider", async () => {
    const midnight = Math.ceil(harness.clock.now() / DAY_MS) * DAY_MS;
    await harness.clock.advance(midnight - harness.clock.now() - 10_000);
    harness.provider.behaviour = () => Promise.reject(new ProviderFailure("timeout", "too slow", { billable: "yes" }));
    await harness.acceptOne();
    const worker = await harness.start({ withFallback: true, maxAttempts: 1 });
    await harness.pass(2_000);
    await worker.stop();
    await harness.clock.advance(20_000);
    harness.provider.behaviour = submitFails("outcome_unknown");
    await harness.accept(2);
    await harness.start();
    await harness.pass(GRACE_MS + 10_000);
    const { days, providers } = await report();
    const [before, after] = [midnight - 1, midnight].map((at) => new Date(at).toISOString().slice(0, 10));
    const nothing = { bought: 0, delivered: 0, wasted: 0, perhaps: 0, reasons: {} };
    const wasted = { ...nothing, bought: 1, wasted: 1, reasons: { provider_failed: 1 } };
    const delivered = { ...nothing, bought: 1, delivered: 1 };
    expect(days).to.deep.equal([
      { day: before, providerId: "fallback", ...delivered },
      { day: before, providerId: "scripted", ...wasted },
      { day: after, providerId: "scripted", ...nothing, perhaps: 2 },
    ]);
    expect(providers.map(({ providerId, bought, perhaps }) => [providerId, bought, perhaps])).to.deep.equal([
      ["fallback", 1, 0],
      ["scripted", 1, 2],
    ]);
  });

  it("is empty when no job ended", async () => {
    await harness.accept(1);
    expect(await report()).to.deep.include({ providers: [], days: [], refunded: [], refundedCount: 0 });
  });
});

async function* fetchGone(): AsyncIterable<Uint8Array> {
  yield* [];
  throw new ProviderFailure("gone", "404");
}
