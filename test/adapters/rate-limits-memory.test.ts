import { expect } from "chai";
import { MemoryRateLimiter } from "../../adapters/rate-limits/memory/rate-limiter.js";
import { rateLimiterContract } from "../contract/rate-limiter.contract.js";
import { ManualClock } from "../support/doubles/manual-clock.js";

rateLimiterContract("MemoryRateLimiter", async (clock) => new MemoryRateLimiter(clock));

describe("MemoryRateLimiter", () => {
  const RULES = [{ limit: 5, windowSeconds: 60 }];

  it("drops subjects whose windows have ended as new ones arrive", async () => {
    const clock = new ManualClock();
    const limiter = new MemoryRateLimiter(clock);
    for (let minute = 0; minute < 10; minute++) {
      for (let subject = 0; subject < 2_000; subject++) await limiter.consume(`${minute}:${subject}`, RULES);
      await clock.advance(60_000);
    }
    // Those of the current minute, and at most as many that the sweep has not reached yet.
    expect(limiter.size).to.be.at.most(4_000);
  });

  it("keeps subjects with a running window, however many arrive", async function () {
    this.timeout(20_000);
    const limiter = new MemoryRateLimiter(new ManualClock());
    for (let subject = 0; subject < 100_000; subject++) await limiter.consume(String(subject), RULES);
    expect(limiter.size).to.equal(100_000);
    expect((await limiter.peek("0", RULES)).windows[0]?.remaining).to.equal(4);
    expect((await limiter.peek("99999", RULES)).windows[0]?.remaining).to.equal(4);
  });

  it("keeps a subject while any of its windows runs", async () => {
    const clock = new ManualClock();
    const limiter = new MemoryRateLimiter(clock);
    const rules = [...RULES, { limit: 100, windowSeconds: 86_400 }];
    await limiter.consume("a", rules);
    await clock.advance(60_000);
    for (let call = 0; call < 50; call++) await limiter.consume("b", rules);
    expect((await limiter.peek("a", rules)).windows.map(({ remaining }) => remaining)).to.deep.equal([5, 99]);
  });

  it("limits the number of subjects", async () => {
    const limiter = new MemoryRateLimiter(new ManualClock(), 1_000);
    for (let subject = 0; subject < 5_000; subject++) await limiter.consume(String(subject), RULES);
    expect(limiter.size).to.be.at.most(1_000);
    expect((await limiter.peek("4999", RULES)).windows[0]?.remaining).to.equal(4);
  });

  const DAY = { limit: 3, windowSeconds: 86_400 };

  /** Uses up an account's limit for the day, then counts one request of each of many other subjects. */
  async function afterFlood(kind: string, others: number, requestsOfEach = 1): Promise<MemoryRateLimiter> {
    const limiter = new MemoryRateLimiter(new ManualClock(), 1_000);
    for (let request = 0; request < DAY.limit; request++) await limiter.consume("generation acct_1", [DAY]);
    for (let other = 0; other < others; other++) {
      for (let request = 0; request < requestsOfEach; request++) await limiter.consume(`${kind} other_${other}`, [DAY]);
    }
    return limiter;
  }

  it("keeps a used-up limit, however many subjects of its kind arrive", async () => {
    const limiter = await afterFlood("generation", 20_000);
    expect((await limiter.consume("generation acct_1", [DAY])).allowed).to.equal(false);
    expect(limiter.size).to.be.at.most(1_001);
  });

  it("keeps a used-up limit, however many subjects of another kind use theirs up", async () => {
    const limiter = await afterFlood("auth", 10_000, DAY.limit);
    expect((await limiter.consume("generation acct_1", [DAY])).allowed).to.equal(false);
    expect(limiter.size).to.be.at.most(1_501);
  });

  it("is bounded even when every subject uses its limit up", async () => {
    const limiter = await afterFlood("generation", 10_000, DAY.limit);
    expect(limiter.size).to.be.at.most(1_500);
    expect((await limiter.consume("generation other_9999", [DAY])).allowed).to.equal(false);
  });

  it("treats a subject as any other after its used-up window has ended", async () => {
    const clock = new ManualClock();
    const limiter = new MemoryRateLimiter(clock, 1_000);
    const rules = [{ limit: 2, windowSeconds: 60 }];
    for (const allowed of [true, true, false]) {
      expect((await limiter.consume("read acct_1", rules)).allowed).to.equal(allowed);
    }
    await clock.advance(60_000);
    expect((await limiter.consume("read acct_1", rules)).windows[0]?.remaining).to.equal(1);
    for (let other = 0; other < 5_000; other++) await limiter.consume(`read other_${other}`, rules);
    expect((await limiter.peek("read acct_1", rules)).windows[0]?.remaining).to.equal(2);
    expect(limiter.size).to.be.at.most(1_000);
  });

  it("stores nothing for peeks and for requests without rules", async () => {
    const limiter = new MemoryRateLimiter(new ManualClock());
    await limiter.peek("a", RULES);
    limiter.giveBack("a", RULES);
    await limiter.consume("a", []);
    expect(limiter.size).to.equal(0);
  });
});
