import { expect } from "chai";
import fc from "fast-check";
import { SystemClock } from "../../adapters/system/clock.js";
import type { WindowRule } from "../../core/ports/rate-limiter.js";
import { anId } from "../support/builders.js";
import { sqliteStorage } from "../support/databases.js";
import type { StorageUnderTest } from "../support/storage-under-test.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { MemoryRateCounts } from "../support/doubles/memory-rate-counts.js";
import { mysqlStorage } from "../support/mysql.js";
import { aSeed, SeededRandom } from "../support/chaos/seeded-random.js";
import { openProcesses, rush } from "./rate-limits-support.js";

const LIMITS = [12, 60, 500, 50_000];
const PROCESSES = 3;

/** Under the limit only wrongly refused requests; over it at most 5 %. */
function expectWithin(passed: number, limit: number, seed: number): void {
  expect(passed, `seed ${seed}`)
    .to.be.at.least(limit)
    .and.at.most(Math.floor(limit * 1.05));
}

/** Enough to fill the window, and a third more. */
const attemptsFor = (limit: number): number => Math.ceil(limit * 1.33) + 10;

describe("Three processes that share their counts, in any interleaving", () => {
  for (const limit of LIMITS) {
    it(`let ${limit} pass, and at most 5 % more`, async function () {
      this.timeout(60_000);
      await fc.assert(
        fc.asyncProperty(fc.integer(), async (seed) => {
          const seeded = new SeededRandom(seed);
          const shared = new MemoryRateCounts(async () => {
            for (let turns = seeded.between(0, 60); turns > 0; turns--) await Promise.resolve();
          });
          const clock = new ManualClock();
          const limiters = openProcesses(PROCESSES, { counts: shared, unitOfWork: shared }, clock);
          const passed = await rush(limiters, {
            subject: "a",
            rules: [{ limit, windowSeconds: 86_400 }],
            attempts: attemptsFor(limit),
            random: seeded,
            pause: () => clock.advance(seeded.between(0, 400)),
          });
          expectWithin(passed, limit, seed);
          await Promise.all(limiters.map((limiter) => limiter.close()));
          expect(shared.rowsOf("a").map(({ count }) => count)).to.deep.equal([passed]);
        }),
        { numRuns: limit > 1_000 ? 2 : 60 },
      );
    });
  }

  it("stay within their limits every minute, with clocks that differ by seconds", async function () {
    this.timeout(60_000);
    const rules: WindowRule[] = [
      { limit: 60, windowSeconds: 60 },
      { limit: 100_000, windowSeconds: 86_400 },
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.integer(),
        fc.array(fc.integer({ min: -3_000, max: 3_000 }), { minLength: PROCESSES, maxLength: PROCESSES }),
        async (seed, skews) => {
          const seeded = new SeededRandom(seed);
          const shared = new MemoryRateCounts();
          const clock = new ManualClock();
          const limiters = skews.flatMap((skew) => {
            const own = {
              now: () => clock.now() + skew,
              sleep: (ms: number, signal?: AbortSignal) => clock.sleep(ms, signal),
            };
            return openProcesses(1, { counts: shared, unitOfWork: shared }, own);
          });
          let passed = 0;
          for (let second = 0; second < 300; second += 5) {
            passed += await rush(limiters, { subject: "a", rules, attempts: 20, random: seeded });
            await clock.advance(5_000);
          }
          const minutes = shared.begun
            .filter(({ windowSeconds }) => windowSeconds === 60)
            .map(({ startedAt }) => startedAt);
          for (const [index, startedAt] of minutes.entries()) {
            if (index > 0) expect(startedAt - (minutes[index - 1] as number), `seed ${seed}`).to.be.at.least(59_000);
          }
          // 240 requests a minute: every window was filled, except perhaps the last.
          expect(passed, `seed ${seed}`)
            .to.be.at.most(minutes.length * 63)
            .and.at.least((minutes.length - 1) * 60);
          expect(minutes.length).to.be.at.least(5);
          await Promise.all(limiters.map((limiter) => limiter.close()));
        },
      ),
      { numRuns: 20 },
    );
  });
});

for (const { name, open } of [sqliteStorage, mysqlStorage]) {
  describe(`Three processes that share their counts on ${name}`, function () {
    this.timeout(60_000);

    let storage: StorageUnderTest;
    before(async () => {
      storage = await open();
    });
    after(() => storage.close());

    for (const limit of LIMITS) {
      it(`let ${limit} pass, and at most 5 % more`, async () => {
        const seed = aSeed();
        const shared = { counts: storage.rateCounts, unitOfWork: storage.unitOfWork };
        const limiters = openProcesses(PROCESSES, shared, new SystemClock(), 5);
        const subject = anId("acct");
        const rules = [
          { limit, windowSeconds: 3_600 },
          { limit: 1_000_000, windowSeconds: 86_400 },
        ];
        const passed = await rush(limiters, {
          subject,
          rules,
          attempts: attemptsFor(limit),
          random: new SeededRandom(seed),
        });
        expectWithin(passed, limit, seed);
        await Promise.all(limiters.map((limiter) => limiter.close()));
        const rows = await storage.inTransaction((tx) => storage.rateCounts.lockCounts(tx, [subject]));
        expect(rows.map(({ count }) => count)).to.deep.equal([passed, passed]);
      });
    }
  });
}
