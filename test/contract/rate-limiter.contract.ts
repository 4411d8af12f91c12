import { expect } from "chai";
import type { Clock } from "../../core/ports/clock.js";
import type { RateLimiter } from "../../core/ports/rate-limiter.js";
import type { WindowRule } from "../../core/rate-limits/window.js";
import { ManualClock } from "../support/doubles/manual-clock.js";

const MINUTE: WindowRule = { limit: 3, windowSeconds: 60 };
const DAY: WindowRule = { limit: 5, windowSeconds: 86_400 };
const RULES = [MINUTE, DAY];

export function rateLimiterContract(name: string, open: (clock: Clock) => RateLimiter): void {
  describe(`RateLimiter contract: ${name}`, () => {
    let clock: ManualClock;
    let limiter: RateLimiter;

    beforeEach(() => {
      clock = new ManualClock();
      limiter = open(clock);
    });

    const consume = (times: number, subject = "a"): boolean[] =>
      Array.from({ length: times }, () => limiter.consume(subject, RULES).allowed);
    const remaining = (subject = "a"): number[] => limiter.peek(subject, RULES).windows.map((window) => window.remaining);

    it("lets requests pass until a window is full", () => {
      expect(consume(4)).to.deep.equal([true, true, true, false]);
    });

    it("tells what is left of every window, in the order of the rules", () => {
      const { allowed, windows } = limiter.consume("a", RULES);
      expect(allowed).to.equal(true);
      expect(windows).to.deep.equal([
        { ...MINUTE, remaining: 2, resetSeconds: 60 },
        { ...DAY, remaining: 4, resetSeconds: 86_400 },
      ]);
    });

    it("starts a window with the first request that it counts", async () => {
      consume(1);
      await clock.advance(59_000);
      expect(consume(3)).to.deep.equal([true, true, false]);
      await clock.advance(1_000);
      expect(limiter.peek("a", RULES).windows[0]).to.deep.equal({ ...MINUTE, remaining: 3, resetSeconds: 60 });
      expect(consume(1)).to.deep.equal([true]);
      expect(limiter.peek("a", RULES).windows[0]?.resetSeconds).to.equal(60);
    });

    it("counts nothing when it refuses", async () => {
      consume(3);
      const before = remaining();
      expect(consume(10)).to.not.include(true);
      expect(remaining()).to.deep.equal(before);
      await clock.advance(60_000);
      expect(consume(3)).to.deep.equal([true, true, false]);
    });

    it("refuses for a long window while a short one has room", async () => {
      consume(3);
      await clock.advance(60_000);
      consume(2);
      await clock.advance(60_000);
      const { allowed, windows } = limiter.consume("a", RULES);
      expect(allowed).to.equal(false);
      expect(windows.map((window) => window.remaining)).to.deep.equal([3, 0]);
    });

    it("counts subjects apart", () => {
      consume(3, "a");
      expect(consume(1, "b")).to.deep.equal([true]);
      expect(remaining("a")).to.deep.equal([0, 2]);
      expect(remaining("b")).to.deep.equal([2, 4]);
    });

    it("looks without counting", () => {
      for (let look = 0; look < 10; look++) expect(limiter.peek("a", RULES).allowed).to.equal(true);
      expect(remaining()).to.deep.equal([3, 5]);
      consume(3);
      expect(limiter.peek("a", RULES).allowed).to.equal(false);
    });

    it("gives a counted request back", () => {
      consume(3);
      limiter.giveBack("a", RULES);
      expect(remaining()).to.deep.equal([1, 3]);
      expect(consume(2)).to.deep.equal([true, false]);
    });

    it("gives nothing back beyond what was counted, nor to a window that has ended", async () => {
      limiter.giveBack("a", RULES);
      expect(remaining()).to.deep.equal([3, 5]);
      consume(1);
      limiter.giveBack("a", RULES);
      limiter.giveBack("a", RULES);
      expect(remaining()).to.deep.equal([3, 5]);
      consume(2);
      await clock.advance(60_000);
      limiter.giveBack("a", RULES);
      expect(remaining()).to.deep.equal([3, 4]);
    });

    it("holds what was counted against a limit that has changed", () => {
      consume(3);
      const raised = [{ ...MINUTE, limit: 4 }, DAY];
      expect(limiter.consume("a", raised).allowed).to.equal(true);
      expect(limiter.consume("a", raised).allowed).to.equal(false);
    });

    it("lets everything pass without rules", () => {
      expect(limiter.consume("a", [])).to.deep.equal({ allowed: true, windows: [] });
    });
  });
}
