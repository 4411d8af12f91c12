import { expect } from "chai";
import { SharedRateLimiter } from "../../adapters/rate-limits/shared/rate-limiter.js";
import { createStores, openDatabase } from "../../adapters/storage/sql/index.js";
import { SystemClock } from "../../adapters/system/clock.js";
import type { WindowRule } from "../../core/ports/rate-limiter.js";
import { SILENT, TEST_PORTS } from "../support/databases.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { MemoryRateCounts } from "../support/doubles/memory-rate-counts.js";
import { RecordingLogger } from "../support/doubles/recording-logger.js";
import { mysqlStorage } from "../support/mysql.js";
import { eventually } from "../support/process.js";
import { openRelayTo } from "../support/relay.js";
import { passes } from "./rate-limits-support.js";

const MINUTE: WindowRule = { limit: 12, windowSeconds: 60 };
const DAY: WindowRule = { limit: 500, windowSeconds: 86_400 };

describe("Shared rate limits while the storage is unavailable", () => {
  let clock: ManualClock;
  let counts: MemoryRateCounts;
  let logger: RecordingLogger;
  const opened: SharedRateLimiter[] = [];

  beforeEach(() => {
    clock = new ManualClock();
    counts = new MemoryRateCounts();
    logger = new RecordingLogger();
  });
  afterEach(() => Promise.all(opened.splice(0).map((limiter) => limiter.close())));

  const open = (): SharedRateLimiter => {
    const limiter = new SharedRateLimiter({ clock, counts, unitOfWork: counts, logger });
    opened.push(limiter);
    return limiter;
  };
  const log = (): string[] => logger.lines.map(({ level, message }) => `${level}: ${message.split(":")[0]}`);
  const ALONE = "warn: Rate limits are counted by this process alone";
  const TOGETHER = "info: Rate limits are counted by all processes together again";

  it("are counted by each process alone, which logs it once, and are shared again when it is back", async () => {
    const [one, other] = [open(), open()];
    await passes(one, 4, [MINUTE]);
    counts.isDown = true;
    expect(await passes(one, 20, [MINUTE])).to.equal(8);
    expect(await passes(other, 20, [MINUTE])).to.equal(12);
    for (let second = 0; second < 5; second++) {
      expect(await passes(one, 3, [MINUTE])).to.equal(0);
      await clock.advance(1_000);
    }
    expect(log()).to.deep.equal([ALONE, ALONE]); // one of each process
    counts.isDown = false;
    await clock.advance(2_000);
    expect(log()).to.deep.equal([ALONE, ALONE, TOGETHER, TOGETHER]);
    expect(counts.rowsOf("a").map(({ count }) => count)).to.deep.equal([24]);
    await clock.advance(60_000);
    expect((await passes(one, 20, [MINUTE])) + (await passes(other, 20, [MINUTE]))).to.equal(12);
  });

  it("are shared again by the next request when there were no pending counts", async () => {
    const limiter = open();
    counts.isDown = true;
    await limiter.peek("a", [MINUTE]);
    await clock.advance(60_000);
    counts.isDown = false;
    expect(await passes(limiter, 1, [MINUTE])).to.equal(1);
    expect(counts.rowsOf("a").map(({ count }) => count)).to.deep.equal([1]);
    expect(log()).to.deep.equal([ALONE, TOGETHER]);
  });

  it("delay no request longer than a second, and count none twice when the storage responds late", async () => {
    const limiter = open();
    await passes(limiter, 2, [MINUTE]);
    let goOn = (): void => undefined;
    counts.hangs = new Promise((resolve) => (goOn = resolve));
    const waiting = limiter.consume("a", [MINUTE]);
    await clock.advance(999);
    expect(log()).to.deep.equal([]);
    await clock.advance(1);
    expect((await waiting).allowed).to.equal(true);
    expect(await passes(limiter, 4, [MINUTE])).to.equal(4);
    counts.hangs = null;
    goOn();
    await clock.advance(2_000);
    expect(log()).to.deep.equal([ALONE, TOGETHER]);
    expect(counts.rowsOf("a").map(({ count }) => count)).to.deep.equal([7]);
    expect(await passes(limiter, 20, [MINUTE])).to.equal(5);
  });

  it("are retried by one request only, while the others continue locally", async () => {
    const limiter = open();
    counts.isDown = true;
    await limiter.peek("a", [MINUTE]);
    await clock.advance(1_000);
    let goOn = (): void => undefined;
    counts.hangs = new Promise((resolve) => (goOn = resolve));
    counts.isDown = false;
    const first = limiter.consume("a", [MINUTE]);
    expect(await passes(limiter, 3, [MINUTE], "b")).to.equal(3);
    goOn();
    expect((await first).allowed).to.equal(true);
    expect(log()).to.deep.equal([ALONE, TOGETHER]);
  });

  it("end with the process, which does not wait for it", async () => {
    const limiter = open();
    await passes(limiter, 1, [DAY]);
    counts.hangs = new Promise(() => undefined);
    await passes(limiter, 1, [DAY]);
    const closed = limiter.close();
    await clock.advance(1_000);
    await closed;
  });

  it("reconnect to MySQL after a network outage", async () => {
    const storage = await mysqlStorage.open();
    const target = new URL(storage.url);
    const relay = await openRelayTo({ host: target.hostname, port: Number(target.port || 3306) });
    const url = Object.assign(new URL(storage.url), { host: relay.address }).href;
    const database = await openDatabase({ url, logger: SILENT });
    const stores = createStores(database, TEST_PORTS);
    const limiter = new SharedRateLimiter(
      { counts: stores.rateCounts, unitOfWork: stores.unitOfWork, clock: new SystemClock(), logger },
      { syncMs: 10, retryMs: 50 },
    );
    try {
      expect(await passes(limiter, 4, [MINUTE])).to.equal(4);
      await relay.shut();
      expect(await passes(limiter, 10, [MINUTE])).to.equal(8);
      expect(log()).to.deep.equal([ALONE]);
      await relay.reopen();
      await eventually("the counts are shared again", () => log().at(-1) === TOGETHER);
      const rows = await storage.inTransaction((tx) => storage.rateCounts.lockCounts(tx, ["a"]));
      expect(rows.map(({ count }) => count)).to.deep.equal([12]);
    } finally {
      await limiter.close();
      await database.close();
      await relay.close();
      await storage.close();
    }
  });
});
