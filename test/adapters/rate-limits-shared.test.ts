import { expect } from "chai";
import { SharedRateLimiter } from "../../adapters/rate-limits/shared/rate-limiter.js";
import { settleTogether } from "../../adapters/rate-limits/shared/settle-together.js";
import type { RateLimiter, WindowRule } from "../../core/ports/rate-limiter.js";
import { rateLimiterContract } from "../contract/rate-limiter.contract.js";
import { anId } from "../support/builders.js";
import { SILENT, sqliteStorage } from "../support/databases.js";
import type { StorageUnderTest } from "../support/storage-under-test.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { MemoryRateCounts } from "../support/doubles/memory-rate-counts.js";
import { mysqlStorage } from "../support/mysql.js";
import { openProcesses, passes, remaining, type SharedCounts } from "./rate-limits-support.js";

const MINUTE: WindowRule = { limit: 12, windowSeconds: 60 };
const DAY: WindowRule = { limit: 500, windowSeconds: 86_400 };

for (const { name, open } of [sqliteStorage, mysqlStorage]) {
  describe(`Shared rate limits on ${name}`, () => {
    let storage: StorageUnderTest;
    let shared: SharedCounts;
    before(async () => {
      storage = await open();
      shared = { counts: storage.rateCounts, unitOfWork: storage.unitOfWork };
    });
    after(() => storage.close());

    const rowsOf = (subject: string): Promise<unknown> =>
      storage.inTransaction((tx) => storage.rateCounts.lockCounts(tx, [subject]));

    rateLimiterContract(
      `SharedRateLimiter on ${name}`,
      async (clock) => openProcesses(1, shared, clock)[0] as RateLimiter,
    );

    it("survive a stop and a kill", async () => {
      const clock = new ManualClock();
      const subject = anId("acct");
      const [stopped] = openProcesses(1, shared, clock) as [SharedRateLimiter];
      expect(await passes(stopped, 5, [DAY], subject)).to.equal(5);
      await stopped.close();
      await clock.advance(3_600_000);
      const [killed] = openProcesses(1, shared, clock) as [SharedRateLimiter];
      const after = await killed.consume(subject, [MINUTE, DAY]);
      expect(after.windows.map((window) => [window.remaining, window.resetSeconds])).to.deep.equal([
        [11, 60],
        [494, 82_800],
      ]);
      expect(await passes(killed, 20, [MINUTE, DAY], subject)).to.equal(11);
      const [next] = openProcesses(1, shared, clock) as [SharedRateLimiter];
      expect((await next.consume(subject, [MINUTE, DAY])).allowed).to.equal(false);
      expect(await remaining(next, [MINUTE, DAY], subject)).to.deep.equal([0, 483]);
      await Promise.all([killed.close(), next.close()]);
    });

    it("give no new allowance to a process that has just started", async () => {
      const clock = new ManualClock();
      const subject = anId("acct");
      const rules = [{ limit: 600, windowSeconds: 86_400 }];
      const [one, late] = openProcesses(2, shared, clock) as [SharedRateLimiter, SharedRateLimiter];
      expect(await passes(one, 601, rules, subject)).to.equal(600);
      await one.close();
      expect(await passes(late, 20, rules, subject)).to.equal(0);
      await late.close();
    });

    it("are not changed by refused requests of any process", async () => {
      const clock = new ManualClock();
      const subject = anId("acct");
      const limiters = openProcesses(3, shared, clock) as [SharedRateLimiter, SharedRateLimiter, SharedRateLimiter];
      expect(await passes(limiters[0], 12, [MINUTE, DAY], subject)).to.equal(12);
      const before = await rowsOf(subject);
      for (const limiter of limiters) expect(await passes(limiter, 5, [MINUTE, DAY], subject)).to.equal(0);
      await Promise.all(limiters.map((limiter) => limiter.close()));
      expect(await rowsOf(subject)).to.deep.equal(before);
    });
  });
}

describe("Shared rate limits", () => {
  let clock: ManualClock;
  let counts: MemoryRateCounts;
  const opened: SharedRateLimiter[] = [];

  beforeEach(() => {
    clock = new ManualClock();
    counts = new MemoryRateCounts();
  });
  afterEach(() => Promise.all(opened.splice(0).map((limiter) => limiter.close())));

  const open = (): SharedRateLimiter => {
    const limiter = new SharedRateLimiter({ clock, counts, unitOfWork: counts, logger: SILENT });
    opened.push(limiter);
    return limiter;
  };

  describe("cost no write per request", () => {
    const READS = [
      { limit: 600, windowSeconds: 60 },
      { limit: 50_000, windowSeconds: 86_400 },
    ];

    it("for sequential requests: one for each sixtieth of the limit", async () => {
      const limiter = open();
      expect(await passes(limiter, 600, READS)).to.equal(600);
      expect(counts.writes).to.be.at.most(61);
    });

    it("for many accounts: one write for all of them per interval", async () => {
      const limiter = open();
      const subjects = Array.from({ length: 200 }, (_, index) => `account ${index}`);
      await Promise.all(subjects.map((subject) => limiter.consume(subject, READS)));
      expect(counts.writes).to.equal(1);
      for (let round = 1; round <= 5; round++) {
        for (const subject of subjects) expect(await passes(limiter, 10, READS, subject)).to.equal(10);
        await clock.advance(200);
        expect(counts.writes).to.equal(1 + round);
      }
      expect(counts.rowsOf("account 7").map(({ count }) => count)).to.deep.equal([51, 51]);
    });

    it("for concurrent requests: one for all that wait", async () => {
      const limiter = open();
      await Promise.all(Array.from({ length: 200 }, () => limiter.consume("a", [MINUTE])));
      expect(counts.writes).to.equal(1);
    });

    it("for refused requests: none at all", async () => {
      const limiter = open();
      await passes(limiter, 12, [MINUTE]);
      const before = counts.writes;
      for (let round = 0; round < 5; round++) {
        expect(await passes(limiter, 100, [MINUTE])).to.equal(0);
        await clock.advance(200);
      }
      expect(counts.writes).to.equal(before);
    });
  });

  it("show the counts of other processes from the first read", async () => {
    const [one, other] = [open(), open()];
    expect(await passes(one, 5, [MINUTE, DAY])).to.equal(5);
    expect(await remaining(other, [MINUTE, DAY])).to.deep.equal([7, 495]);
  });

  it("show later counts of other processes within one round", async () => {
    const [one, other] = [open(), open()];
    await passes(one, 1, [DAY]);
    await passes(other, 5, [DAY]);
    await clock.advance(200);
    await passes(one, 1, [DAY]);
    await clock.advance(200);
    expect(await remaining(one, [DAY])).to.deep.equal([493]);
  });

  it("let one process use what another refunded", async () => {
    const [one, other] = [open(), open()];
    expect([await passes(one, 6, [MINUTE]), await passes(other, 7, [MINUTE])]).to.deep.equal([6, 6]);
    await clock.advance(200);
    one.giveBack("a", [MINUTE]);
    await clock.advance(200);
    expect(await passes(other, 1, [MINUTE])).to.equal(0);
    await clock.advance(200);
    expect(await passes(other, 2, [MINUTE])).to.equal(1);
    expect(await passes(one, 1, [MINUTE])).to.equal(0);
  });

  it("follow another process, whose clock is ahead, into its next window", async () => {
    const ahead = { now: () => clock.now() + 3_000, sleep: clock.sleep.bind(clock) };
    const [one, other] = [open(), new SharedRateLimiter({ clock: ahead, counts, unitOfWork: counts, logger: SILENT })];
    opened.push(other);
    expect(await passes(one, 13, [MINUTE])).to.equal(12);
    await clock.advance(57_500);
    expect(await passes(other, 2, [MINUTE])).to.equal(2);
    expect(await passes(one, 1, [MINUTE])).to.equal(0);
    await clock.advance(200);
    expect(await remaining(one, [MINUTE])).to.deep.equal([10]);
    expect(await passes(one, 20, [MINUTE])).to.equal(10);
    expect(counts.begun).to.have.length(2);
  });

  it("settle a repeated subject in order", async () => {
    const member = { subject: "a", counted: [], requests: [[MINUTE]] };
    const settlements = await settleTogether({ counts, unitOfWork: counts, clock }, [member, member, member]);
    expect(settlements.map(({ decisions }) => decisions[0]?.windows[0]?.remaining)).to.deep.equal([11, 10, 9]);
    expect(counts.rowsOf("a").map(({ count }) => count)).to.deep.equal([3]);
  });

  it("drop subjects whose windows have ended, in memory and in the storage, as new ones arrive", async () => {
    const limiter = open();
    for (let minute = 0; minute < 5; minute++) {
      for (let subject = 0; subject < 200; subject++) await limiter.consume(`${minute}:${subject}`, [MINUTE]);
      await clock.advance(60_000);
    }
    expect(limiter.size).to.be.at.most(400);
    expect(counts.rowsOf("0:0")).to.have.length(1);
    await clock.advance(3_600_000);
    for (let round = 0; round < 53; round++) {
      await passes(limiter, 1, [DAY]);
      await clock.advance(200);
    }
    expect(counts.rowsOf("0:0")).to.deep.equal([]);
    expect(counts.rowsOf("a")).to.have.length(1);
  });
});
