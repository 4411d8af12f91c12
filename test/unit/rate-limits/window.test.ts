import { expect } from "chai";
import fc from "fast-check";
import { countRequest, currentWindow, exhaustedWindow, windowStatus } from "../../../core/rate-limits/window.js";
import type { WindowState } from "../../../core/rate-limits/window.js";

const RULE = { limit: 3, windowSeconds: 60 };
const START = 1_000_000;

describe("a rate limit's window", () => {
  it("starts with its first request and ends its length later, to the millisecond", () => {
    const state = countRequest(currentWindow(undefined, RULE, START), START);
    expect(state).to.deep.equal({ startedAt: START, count: 1 });
    expect(currentWindow(state, RULE, START + 59_999)).to.deep.equal(state);
    expect(currentWindow(state, RULE, START + 60_000).count).to.equal(0);
  });

  it("keeps its start while it counts", () => {
    const state = countRequest({ startedAt: START, count: 1 }, START + 30_000);
    expect(state).to.deep.equal({ startedAt: START, count: 2 });
  });

  it("is over when the clock was set back before its start", () => {
    expect(currentWindow({ startedAt: START, count: 3 }, RULE, START - 1).count).to.equal(0);
  });

  it("shows what is left and the seconds until it ends, rounded up, at least one", () => {
    const state = { startedAt: START, count: 2 };
    expect(windowStatus(state, RULE, START)).to.deep.equal({ ...RULE, remaining: 1, resetSeconds: 60 });
    expect(windowStatus(state, RULE, START + 58_001)).to.include({ resetSeconds: 2 });
    expect(windowStatus(state, RULE, START + 59_999)).to.include({ resetSeconds: 1 });
  });

  it("shows its whole length while nothing is counted", () => {
    expect(windowStatus({ startedAt: 0, count: 0 }, RULE, START)).to.deep.equal({ ...RULE, remaining: 3, resetSeconds: 60 });
  });

  it("never shows less than nothing left, also when the limit was lowered", () => {
    expect(windowStatus({ startedAt: START, count: 9 }, RULE, START).remaining).to.equal(0);
  });

  it("that stays full the longest is the one to wait for", () => {
    const full = (windowSeconds: number, resetSeconds: number) => ({ limit: 1, windowSeconds, remaining: 0, resetSeconds });
    const open = { limit: 1, windowSeconds: 5, remaining: 1, resetSeconds: 90_000 };
    expect(exhaustedWindow([])).to.equal(null);
    expect(exhaustedWindow([open])).to.equal(null);
    expect(exhaustedWindow([open, full(60, 30), full(86_400, 80_000)])).to.deep.equal(full(86_400, 80_000));
    expect(exhaustedWindow([full(86_400, 10), full(60, 30)])).to.deep.equal(full(60, 30));
  });

  it("never lets more through than its limit, however requests arrive", () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 40_000 }), { maxLength: 60 });
    fc.assert(
      fc.property(gaps, fc.integer({ min: 1, max: 5 }), (waits, limit) => {
        const rule = { limit, windowSeconds: 60 };
        const passed: number[] = [];
        let now = START;
        let state: WindowState | undefined;
        for (const wait of waits) {
          now += wait;
          const current = currentWindow(state, rule, now);
          if (windowStatus(current, rule, now).remaining === 0) continue;
          state = countRequest(current, now);
          passed.push(state.startedAt);
        }
        const perWindow = new Map<number, number>();
        for (const start of passed) perWindow.set(start, (perWindow.get(start) ?? 0) + 1);
        return [...perWindow.values()].every((count) => count <= limit);
      }),
    );
  });
});
