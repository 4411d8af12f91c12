import { expect } from "chai";
import type { Clock } from "../../core/ports/clock.js";
import type { RateLimiter, WindowRule } from "../../core/ports/rate-limiter.js";
import { ManualClock } from "../support/doubles/manual-clock.js";

const MINUTE: WindowRule = { limit: 3, windowSeconds: 60 };
const DAY: WindowRule = { limit: 5, windowSeconds: 86_400 };
const RULES = [MINUTE, DAY];

let subjects = 0;

/**
 * The promises of every `RateLimiter`.
 *
 * @param open opens a limiter on this clock, for each test; the suite closes it
 */
export function rateLimiterContract(name: string, open: (clock: Clock) => Promise<RateLimiter>): void {
  describe(`RateLimiter contract: ${name}`, () => {
    let clock: ManualClock;
    let limiter: RateLimiter;
    /** A new subject. */
    let subject: string;

    beforeEach(async () => {
      subject = `subject ${subjects++}`;
      clock = new ManualClock();
      limiter = await open(clock);
    });
    afterEach(() => limiter.close());

    const consume = async (times: number, of = subject): Promise<boolean[]> => {
      const passed: boolean[] = [];
      for (let count = 0; count < times; count++) passed.push((await limiter.consume(of, RULES)).allowed);
      return passed;
    };
    const remaining = async (of = subject): Promise<number[]> =>
      (await limiter.peek(of, RULES)).windows.map((window) => window.remaining);

    it("allows requests until a window is full", async () => {
      expect(await consume(4)).to.deep.equal([true, true, true, false]);
    });

    it("allows no more when requests arrive at once", async () => {
      const decisions = await Promise.all(Array.from({ length: 10 }, () => limiter.consume(subject, RULES)));
      expect(decisions.map(({ allowed }) => allowed)).to.deep.equal(
        Array.from({ length: 10 }, (_, index) => index < 3),
      );
      expect(decisions.slice(0, 3).map(({ windows }) => windows[0]?.remaining)).to.deep.equal([2, 1, 0]);
    });

    it("returns the remainder of every window, in the order of the rules", async () => {
      const { allowed, windows } = await limiter.consume(subject, RULES);
      expect(allowed).to.equal(true);
      expect(windows).to.deep.equal([
        { ...MINUTE, remaining: 2, resetSeconds: 60 },
        { ...DAY, remaining: 4, resetSeconds: 86_400 },
      ]);
    });

    it("starts a window with its first counted request", async () => {
      await consume(1);
      await clock.advance(59_000);
      expect(await consume(3)).to.deep.equal([true, true, false]);
      await clock.advance(1_000);
      expect((await limiter.peek(subject, RULES)).windows[0]).to.deep.equal({
        ...MINUTE,
        remaining: 3,
        resetSeconds: 60,
      });
      expect(await consume(1)).to.deep.equal([true]);
      expect((await limiter.peek(subject, RULES)).windows[0]?.resetSeconds).to.equal(60);
    });

    it("does not count refused requests", async () => {
      await consume(3);
      const before = await remaining();
      expect(await consume(10)).to.not.include(true);
      expect(await remaining()).to.deep.equal(before);
      await clock.advance(60_000);
      expect(await consume(3)).to.deep.equal([true, true, false]);
    });

    it("refuses for a long window while a short one has capacity", async () => {
      await consume(3);
      await clock.advance(60_000);
      await consume(2);
      await clock.advance(60_000);
      const { allowed, windows } = await limiter.consume(subject, RULES);
      expect(allowed).to.equal(false);
      expect(windows.map((window) => window.remaining)).to.deep.equal([3, 0]);
    });

    it("counts subjects separately", async () => {
      await consume(3);
      expect(await consume(1, `${subject} b`)).to.deep.equal([true]);
      expect(await remaining()).to.deep.equal([0, 2]);
      expect(await remaining(`${subject} b`)).to.deep.equal([2, 4]);
    });

    it("counts the kinds of a subject separately", async () => {
      await consume(3, `read ${subject}`);
      expect(await consume(1, `write ${subject}`)).to.deep.equal([true]);
      expect(await consume(1, `read ${subject}`)).to.deep.equal([false]);
      expect(await remaining(`write ${subject}`)).to.deep.equal([2, 4]);
    });

    it("peeks without counting", async () => {
      for (let look = 0; look < 10; look++) expect((await limiter.peek(subject, RULES)).allowed).to.equal(true);
      expect(await remaining()).to.deep.equal([3, 5]);
      await consume(3);
      expect((await limiter.peek(subject, RULES)).allowed).to.equal(false);
    });

    it("refunds a counted request", async () => {
      await consume(3);
      limiter.giveBack(subject, RULES);
      expect(await remaining()).to.deep.equal([1, 3]);
      expect(await consume(2)).to.deep.equal([true, false]);
    });

    it("refunds no more than was counted, and nothing to an ended window", async () => {
      limiter.giveBack(subject, RULES);
      expect(await remaining()).to.deep.equal([3, 5]);
      await consume(1);
      limiter.giveBack(subject, RULES);
      limiter.giveBack(subject, RULES);
      expect(await remaining()).to.deep.equal([3, 5]);
      await consume(2);
      await clock.advance(60_000);
      limiter.giveBack(subject, RULES);
      expect(await remaining()).to.deep.equal([3, 4]);
    });

    it("applies a changed limit to the existing count", async () => {
      await consume(3);
      const raised = [{ ...MINUTE, limit: 4 }, DAY];
      expect((await limiter.consume(subject, raised)).allowed).to.equal(true);
      expect((await limiter.consume(subject, raised)).allowed).to.equal(false);
    });

    it("continues its windows when the clock is set back a little", async () => {
      await consume(3);
      clock.set(clock.now() - 2_000);
      expect(await consume(1)).to.deep.equal([false]);
      expect(await remaining()).to.deep.equal([0, 2]);
    });

    it("allows everything without rules", async () => {
      expect(await limiter.consume(subject, [])).to.deep.equal({ allowed: true, windows: [] });
    });

    it("still decides after it is closed", async () => {
      await consume(2);
      await limiter.close();
      await limiter.close();
      expect(await consume(2)).to.deep.equal([true, false]);
    });
  });
}
