import { expect } from "chai";
import fc from "fast-check";
import { MemoryRateLimiter } from "../../../../adapters/rate-limits/memory/rate-limiter.js";
import { SharedRateLimiter } from "../../../../adapters/rate-limits/shared/rate-limiter.js";
import type { Clock } from "../../../../core/ports/clock.js";
import type { RateLimiter, WindowRule } from "../../../../core/ports/rate-limiter.js";
import { SILENT } from "../../../support/databases.js";
import { ManualClock } from "../../../support/doubles/manual-clock.js";
import { MemoryRateCounts } from "../../../support/doubles/memory-rate-counts.js";

interface Step {
  readonly waitMs: number;
}

const STEPS = fc.array(
  fc.record({ waitMs: fc.oneof(fc.integer({ min: 0, max: 900 }), fc.integer({ min: 0, max: 40_000 })) }),
  { maxLength: 400, size: "max" },
);
/** From 60 on, a process that shares its counts counts some requests by itself first. */
const LIMIT = fc.oneof(
  fc.integer({ min: 1, max: 8 }),
  fc.integer({ min: 60, max: 75 }),
  fc.integer({ min: 120, max: 190 }),
);
const RULES = fc.tuple(LIMIT, LIMIT).map(([perMinute, perFive]): WindowRule[] => [
  { limit: perMinute, windowSeconds: 60 },
  { limit: perFive, windowSeconds: 300 },
]);
const RUNS = { numRuns: 40 };

const LIMITERS: Readonly<Record<string, (clock: Clock) => RateLimiter>> = {
  MemoryRateLimiter: (clock) => new MemoryRateLimiter(clock),
  "SharedRateLimiter of one process": (clock) => {
    const counts = new MemoryRateCounts();
    return new SharedRateLimiter({ clock, counts, unitOfWork: counts, logger: SILENT });
  },
};

for (const [name, open] of Object.entries(LIMITERS)) {
  describe(`Windows of ${name}, however requests come`, () => {
    /** When requests passed, by the limiter's own clock. */
    async function passedAt(steps: readonly Step[], rules: readonly WindowRule[]): Promise<number[]> {
      const clock = new ManualClock();
      const limiter = open(clock);
      const passed: number[] = [];
      for (const { waitMs } of steps) {
        clock.set(clock.now() + waitMs);
        if ((await limiter.consume("a", rules)).allowed) passed.push(clock.now());
      }
      await limiter.close();
      return passed;
    }

    it("never let more pass in a window than its limit", async () => {
      await fc.assert(
        fc.asyncProperty(STEPS, RULES, async (steps, rules) => {
          const passed = await passedAt(steps, rules);
          for (const { limit, windowSeconds } of rules) {
            for (const window of windowsOf(passed, windowSeconds)) expect(window.length).to.be.at.most(limit);
          }
        }),
        RUNS,
      );
    });

    it("refuse only where a window is full", async () => {
      await fc.assert(
        fc.asyncProperty(STEPS, RULES, async (steps, rules) => {
          const passed = await passedAt(steps, rules);
          let now = new ManualClock().now();
          for (const { waitMs } of steps) {
            now += waitMs;
            if (passed.includes(now)) continue;
            const before = passed.filter((at) => at < now);
            expect(rules.some(({ limit, windowSeconds }) => inWindowAt(before, windowSeconds, now) === limit)).to.equal(
              true,
            );
          }
        }),
        RUNS,
      );
    });

    it("are as they would be without the requests that were refused", async () => {
      await fc.assert(
        fc.asyncProperty(STEPS, RULES, async (steps, rules) => {
          const passed = await passedAt(steps, rules);
          let last = new ManualClock().now();
          const onlyThose = passed.map((at) => {
            const waitMs = at - last;
            last = at;
            return { waitMs };
          });
          expect(await passedAt(onlyThose, rules)).to.deep.equal(passed);
        }),
        RUNS,
      );
    });
  });
}

/** Each window starts with the first moment that is not in the one before. */
function windowsOf(moments: readonly number[], windowSeconds: number): number[][] {
  const windows: number[][] = [];
  for (const at of moments) {
    const current = windows.at(-1);
    if (current !== undefined && at < (current[0] as number) + windowSeconds * 1000) current.push(at);
    else windows.push([at]);
  }
  return windows;
}

function inWindowAt(moments: readonly number[], windowSeconds: number, now: number): number {
  const last = windowsOf(moments, windowSeconds).at(-1) ?? [];
  return now < (last[0] ?? Number.NEGATIVE_INFINITY) + windowSeconds * 1000 ? last.length : 0;
}
