import { expect } from "chai";
import {
  CLOCK_SKEW_MAX_MS,
  countRequest,
  currentWindow,
  exhaustedWindow,
  windowStatus,
} from "../../../../core/rate-limits/window.js";

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

  it("runs on when the clock is set back a little before its start, and is over when it is set back far", () => {
    const state = { startedAt: START, count: 3 };
    expect(currentWindow(state, RULE, START - CLOCK_SKEW_MAX_MS)).to.equal(state);
    expect(currentWindow(state, RULE, START - CLOCK_SKEW_MAX_MS - 1).count).to.equal(0);
  });

  it("shows what is left and the seconds until it ends, rounded up, at least one", () => {
    const state = { startedAt: START, count: 2 };
    expect(windowStatus(state, RULE, START)).to.deep.equal({ ...RULE, remaining: 1, resetSeconds: 60 });
    expect(windowStatus(state, RULE, START + 58_001)).to.include({ resetSeconds: 2 });
    expect(windowStatus(state, RULE, START + 59_999)).to.include({ resetSeconds: 1 });
  });

  it("shows its whole length while nothing is counted", () => {
    expect(windowStatus({ startedAt: 0, count: 0 }, RULE, START)).to.deep.equal({
      ...RULE,
      remaining: 3,
      resetSeconds: 60,
    });
  });

  it("never shows less than nothing left, also when the limit was lowered", () => {
    expect(windowStatus({ startedAt: START, count: 9 }, RULE, START).remaining).to.equal(0);
  });

  it("that stays full the longest is the one to wait for", () => {
    const full = (windowSeconds: number, resetSeconds: number) => ({
      limit: 1,
      windowSeconds,
      remaining: 0,
      resetSeconds,
    });
    const open = { limit: 1, windowSeconds: 5, remaining: 1, resetSeconds: 90_000 };
    expect(exhaustedWindow([])).to.equal(null);
    expect(exhaustedWindow([open])).to.equal(null);
    expect(exhaustedWindow([open, full(60, 30), full(86_400, 80_000)])).to.deep.equal(full(86_400, 80_000));
    expect(exhaustedWindow([full(86_400, 10), full(60, 30)])).to.deep.equal(full(60, 30));
  });
});
