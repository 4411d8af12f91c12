import { expect } from "chai";
import fc from "fast-check";
import { settleCounts } from "../../../../core/rate-limits/settle-counts.js";
import type { WindowCount } from "../../../../core/ports/rate-count-store.js";
import type { WindowRule } from "../../../../core/ports/rate-limiter.js";
import { NOON } from "../../../support/builders.js";

const MINUTE: WindowRule = { limit: 3, windowSeconds: 60 };
const DAY: WindowRule = { limit: 5, windowSeconds: 86_400 };

const minute = (count: number, startedAt = NOON): WindowCount => ({ windowSeconds: 60, startedAt, count });
const day = (count: number, startedAt = NOON): WindowCount => ({ windowSeconds: 86_400, startedAt, count });
const nothing = { counted: [], requests: [] };

describe("Settling the counts of a subject", () => {
  it("adds what a process counted to the window on record, which keeps its start", () => {
    const { windows, changed } = settleCounts(
      [minute(4), day(9)],
      { counted: [minute(2, NOON + 5_000)], requests: [] },
      NOON + 6_000,
    );
    expect(windows).to.deep.equal([minute(6), day(9)]);
    expect(changed).to.deep.equal([minute(6)]);
  });

  it("begins a window where none is on record, or only one that is over", () => {
    const counted = [minute(2, NOON + 60_000)];
    for (const stored of [[], [minute(9)]]) {
      expect(settleCounts(stored, { counted, requests: [] }, NOON + 61_000).changed).to.deep.equal(counted);
    }
  });

  it("drops what was counted in a window that is over, whether another one was begun or not", () => {
    const claim = { counted: [minute(2)], requests: [] };
    const next = minute(1, NOON + 60_000);
    expect(settleCounts([next], claim, NOON + 60_001)).to.deep.equal({ windows: [next], changed: [], decisions: [] });
    expect(settleCounts([minute(1)], claim, NOON + 60_000)).to.deep.equal({ windows: [], changed: [], decisions: [] });
    expect(settleCounts([], claim, NOON + 60_000).changed).to.deep.equal([]);
  });

  it("takes back what a process gave back, and never more than there is", () => {
    const giveBack = { counted: [minute(-2)], requests: [] };
    expect(settleCounts([minute(3)], giveBack, NOON).windows).to.deep.equal([minute(1)]);
    expect(settleCounts([minute(1)], giveBack, NOON).windows).to.deep.equal([minute(0)]);
    expect(settleCounts([], giveBack, NOON).windows).to.deep.equal([]);
  });

  it("lets requests pass in their order while every window has room, what was counted before included", () => {
    const requests = [
      [MINUTE, DAY],
      [MINUTE, DAY],
      [MINUTE, DAY],
    ];
    const { decisions, windows } = settleCounts(
      [minute(0), day(2)],
      { counted: [minute(1), day(1)], requests },
      NOON + 1_000,
    );
    expect(decisions.map(({ allowed }) => allowed)).to.deep.equal([true, true, false]);
    expect(decisions.map((decision) => decision.windows.map(({ remaining }) => remaining))).to.deep.equal([
      [1, 1],
      [0, 0],
      [0, 0],
    ]);
    expect(windows).to.deep.equal([minute(3), day(5)]);
  });

  it("begins the windows of the first request that passes at that moment", () => {
    const { changed } = settleCounts([minute(3)], { counted: [], requests: [[MINUTE, DAY]] }, NOON + 70_000);
    expect(changed).to.deep.equal([minute(1, NOON + 70_000), day(1, NOON + 70_000)]);
  });

  it("changes nothing where a request is refused, not even in windows that have room", () => {
    const stored = [minute(3), day(3)];
    const { changed, windows } = settleCounts(
      stored,
      {
        counted: [],
        requests: [
          [MINUTE, DAY],
          [MINUTE, DAY],
        ],
      },
      NOON + 1,
    );
    expect(changed).to.deep.equal([]);
    expect(windows).to.deep.equal(stored);
  });

  it("goes on with a window that a clock ahead of this one began, but not with one that a wrong clock left", () => {
    const request = { counted: [], requests: [[MINUTE]] };
    expect(settleCounts([minute(2, NOON + 9_000)], request, NOON).windows).to.deep.equal([minute(3, NOON + 9_000)]);
    expect(settleCounts([minute(2, NOON + 11_000)], request, NOON).windows).to.deep.equal([minute(1, NOON)]);
  });

  it("returns the recorded counts to a process that only reads", () => {
    expect(settleCounts([minute(2), day(4, NOON - 86_400_000)], nothing, NOON + 1)).to.deep.equal({
      windows: [minute(2)],
      changed: [],
      decisions: [],
    });
  });

  it("lets no window on record hold more than its limit, however requests and clocks come", () => {
    const steps = fc.array(
      fc.record({ waitMs: fc.integer({ min: 0, max: 30_000 }), skewMs: fc.integer({ min: -4_000, max: 4_000 }) }),
      { maxLength: 80 },
    );
    fc.assert(
      fc.property(steps, (requests) => {
        let now = NOON;
        let stored: readonly WindowCount[] = [];
        for (const { waitMs, skewMs } of requests) {
          now += waitMs;
          const { windows, decisions } = settleCounts(stored, { counted: [], requests: [[MINUTE, DAY]] }, now + skewMs);
          for (const { windowSeconds, count } of windows)
            expect(count).to.be.at.most(windowSeconds === 60 ? MINUTE.limit : DAY.limit);
          if (decisions[0]?.allowed === false)
            expect(windows).to.deep.equal(stored.filter((window) => windows.includes(window)));
          stored = windows;
        }
      }),
    );
  });
});
