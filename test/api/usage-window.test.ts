import { expect } from "chai";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { startTestApp, type TestApp } from "../support/test-app.js";
import { figuresOf, GENERATIONS, usageOf } from "./usage-report.js";

const DAY_MS = 86_400_000;

describe("GET /api/v1/usage while no worker is running", () => {
  const clock = new ManualClock();
  let test: TestApp;
  before(async () => {
    test = await startTestApp({ clock });
  });
  after(() => test.close());

  it("counts a running job as used", async () => {
    const caller = await test.account();
    await caller.api.generate();
    expect(figuresOf(await usageOf(caller))).to.deep.equal([1, 0, 10, 0]);
  });

  const at = (ms: number): string => new Date(ms).toISOString();

  it("includes requests from one moment to before another, in any time zone and to the millisecond", async () => {
    const caller = await test.account();
    const first = clock.now();
    for (let sent = 0; sent < 3; sent++) {
      clock.set(first + sent);
      await caller.api.generate();
    }
    clock.set(first + 1_000);
    const used = async (query: Readonly<Record<string, string>>): Promise<number[]> => {
      const usage = await usageOf(caller, { ...query, endpoint: GENERATIONS });
      expect(usage.events).to.have.length(usage.summary.requests);
      expect(usage.summary.credits_used).to.equal(10 * usage.summary.requests);
      return usage.events.map(({ created_at }) => Date.parse(created_at) - first);
    };
    expect(await used({})).to.deep.equal([2, 1, 0]);
    expect(await used({ from: at(first + 1) })).to.deep.equal([2, 1]);
    expect(await used({ to: at(first + 1) })).to.deep.equal([0]);
    expect(await used({ from: at(first + 1), to: at(first + 2) })).to.deep.equal([1]);
    expect(await used({ from: at(first + 1), to: at(first + 1) })).to.deep.equal([]);
    expect(await used({ from: at(first + 3) })).to.deep.equal([]);
    expect(await used({ from: at(first + DAY_MS) })).to.deep.equal([]);
    expect(await used({ from: "2026-11-21T12:00:00.0001+05:30", to: "2026-11-21t06:30:00.00200000z" })).to.deep.equal([
      1,
    ]);
  });

  it("covers at most 30 days, whatever the parameters", async () => {
    const caller = await test.account();
    const created = clock.now();
    await caller.api.generate();
    clock.set(created + 1);
    await caller.api.get("/api/v1/me");
    clock.set(created + 30 * DAY_MS);
    expect(figuresOf(await usageOf(caller))).to.deep.equal([2, 0, 10, 0]);
    clock.set(created + 30 * DAY_MS + 1);
    const queries: readonly Readonly<Record<string, string>>[] = [
      {},
      { from: at(created) },
      { from: "0000-01-01T00:00:00Z" },
    ];
    for (const query of queries) {
      expect(figuresOf(await usageOf(caller, { endpoint: "/api/v1/me", ...query }))).to.deep.equal([1, 0, 0, 0]);
      expect(figuresOf(await usageOf(caller, { endpoint: GENERATIONS, ...query }))).to.deep.equal([0, 0, 0, 0]);
    }
    expect(figuresOf(await usageOf(caller, { to: at(created) }))).to.deep.equal([0, 0, 0, 0]);
  });
});
