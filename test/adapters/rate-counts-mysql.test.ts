import { expect } from "chai";
import type { RateCount } from "../../core/ports/rate-count-store.js";
import { anId, NOON } from "../support/builders.js";
import { mysqlStorage, type MysqlUnderTest } from "../support/mysql.js";
import { holdAt } from "../support/stepping.js";

/** What another transaction does meanwhile; with a single writer there is none. */
describe("KnexRateCountStore: MySQL", () => {
  let storage: MysqlUnderTest;
  before(async () => {
    storage = await mysqlStorage.open();
  });
  after(() => storage.close());

  it("does not delete the count of a window that begins again meanwhile", async () => {
    const ended: RateCount = {
      subject: `read ${anId("acct")}`,
      windowSeconds: 60,
      startedAt: NOON - 120_000,
      count: 3,
    };
    const running = { ...ended, startedAt: NOON, count: 1 };
    await storage.inTransaction((tx) => storage.rateCounts.insertCounts(tx, [ended]));
    const found = holdAt(storage.database, /ORDER BY ends_at/);
    const deleted = storage.inTransaction((tx) => storage.rateCounts.deleteEnded(tx, NOON, 10));
    await found.reached;
    await storage.inTransaction((tx) => storage.rateCounts.replaceCounts(tx, [running]));
    found.goOn();
    expect(await deleted).to.equal(0);
    const kept = await storage.inTransaction((tx) => storage.rateCounts.lockCounts(tx, [ended.subject]));
    expect(kept).to.deep.equal([running]);
  });
});
