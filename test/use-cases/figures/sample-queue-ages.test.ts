import { expect } from "chai";
import { findQueueAges, sampleQueueAges, SAMPLE_EVERY_MS } from "../../../core/figures/queue-ages.js";
import { Catalogue } from "../../../core/providers/catalogue.js";
import { aJob } from "../../support/builders.js";
import { ManualClock } from "../../support/doubles/manual-clock.js";
import { memoryStorage, type MemoryStorage } from "../../support/memory-storage.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** A full hour. */
const SIX = Date.UTC(2026, 10, 21, 6);
const NEVER = new AbortController().signal;

describe("Samples of the queue's age", () => {
  let clock: ManualClock;
  let storage: MemoryStorage;
  beforeEach(async () => {
    clock = new ManualClock(SIX);
    storage = await memoryStorage(clock);
  });

  function task() {
    const providers = ["synth", "fal"].map((id) => ({ id, label: id, models: [], enabled: true, isReachable: false }));
    return sampleQueueAges({ ...storage, clock, catalogue: new Catalogue(providers) });
  }
  const sample = (): Promise<void> => task().run(NEVER);
  const waits = (dueAt: number, providerId = "synth"): Promise<void> =>
    storage.inTransaction((tx) => storage.jobs.insertJobs(tx, [aJob({ createdAt: dueAt, dueAt, providerId })]));
  /** Hours first, then minutes, as [minutes after six, age in minutes]. */
  const kept = async (): Promise<(readonly [number, number])[]> =>
    (await findQueueAges(storage.installation)).map(({ at, ms }) => [(at - SIX) / MINUTE_MS, ms / MINUTE_MS] as const);

  it("are taken every 15 seconds, under a name for operators", () => {
    expect(task()).to.include({ id: "sample-queue-age", everyMs: SAMPLE_EVERY_MS });
    expect(task().description).to.match(/\.$/);
    expect(SAMPLE_EVERY_MS).to.equal(15_000);
  });

  it("are nothing before the first, and 0 while no job is due", async () => {
    expect(await kept()).to.deep.equal([]);
    await sample();
    expect(await kept()).to.deep.equal([
      [0, 0],
      [0, 0],
    ]);
    await waits(SIX + HOUR_MS);
    clock.set(SIX + MINUTE_MS);
    await sample();
    expect((await kept()).at(-1)).to.deep.equal([1, 0]);
  });

  it("are of the job that is due the longest at any provider", async () => {
    await waits(SIX - 2 * MINUTE_MS);
    await waits(SIX - 5 * MINUTE_MS, "fal");
    await waits(SIX - 9 * MINUTE_MS, "unknown");
    await sample();
    expect(await kept()).to.deep.equal([
      [0, 5],
      [0, 5],
    ]);
  });

  it("keep the highest of each minute, and of each hour", async () => {
    await waits(SIX - MINUTE_MS);
    for (const at of [0, 15, 45, 60, 90]) {
      clock.set(SIX + at * 1_000);
      await sample();
    }
    expect(await kept()).to.deep.equal([
      [1.5, 2.5],
      [0.75, 1.75],
      [1.5, 2.5],
    ]);
    storage.sql("DELETE FROM fermata_jobs");
    clock.set(SIX + 100_000);
    await sample();
    expect(await kept(), "a lower one of the same minute").to.deep.equal([
      [1.5, 2.5],
      [0.75, 1.75],
      [1.5, 2.5],
    ]);
    clock.set(SIX + HOUR_MS);
    await sample();
    expect(await kept()).to.deep.equal([
      [1.5, 2.5],
      [60, 0],
      [0.75, 1.75],
      [1.5, 2.5],
      [60, 0],
    ]);
  });

  it("are kept for an hour by minutes, and for a day by hours", async () => {
    await sample();
    clock.set(SIX + HOUR_MS);
    await sample();
    expect((await kept()).filter(([at]) => at === 0)).to.have.length(2);
    clock.set(SIX + HOUR_MS + MINUTE_MS);
    await sample();
    expect(await kept()).to.deep.equal([
      [0, 0],
      [60, 0],
      [60, 0],
      [61, 0],
    ]);
    clock.set(SIX + 24 * HOUR_MS);
    await sample();
    expect((await kept()).map(([at]) => at / 60)).to.deep.equal([0, 1, 24, 24]);
    clock.set(SIX + 25 * HOUR_MS);
    await sample();
    expect((await kept()).map(([at]) => at / 60)).to.deep.equal([1, 24, 25, 24, 25]);
  });
});
