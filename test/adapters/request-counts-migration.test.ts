import { expect } from "chai";
import { REQUEST_LOG, toRequestRow } from "../../adapters/storage/sql/usage/request-log-table.js";
import { KnexRequestLogStore } from "../../adapters/storage/sql/usage/request-log-store.js";
import { firstIdAt } from "../../core/ids.js";
import type { RequestQuery } from "../../core/ports/request-log-store.js";
import type { LoggedRequest } from "../../core/ports/request-log.js";
import { aLoggedRequest, anAccount, anId, NOON } from "../support/builders.js";
import type { SqliteUnderTest } from "../support/databases.js";
import { migrateInterrupted, oldMysql, oldSqlite } from "../support/old-schema.js";

const NAME = "0050-request-counts";
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

for (const { name, openBefore } of [oldSqlite, oldMysql]) {
  describe(`A request log from before requests were counted: ${name}`, () => {
    let storage: SqliteUnderTest;
    beforeEach(async () => {
      storage = await openBefore(NAME);
    });
    afterEach(() => storage.close());

    const accountId = anId("acct");
    const all: RequestQuery = { accountId, from: 0, to: Number.MAX_SAFE_INTEGER };
    const aRow = (index: number): LoggedRequest =>
      aLoggedRequest({
        accountId,
        createdAt: NOON + index * HOUR_MS,
        status: index % 4 === 0 ? 429 : 200,
        count: index % 4 === 0 ? 10 : 1,
      });
    /** Without what the migration adds. */
    const addOld = async (rows: readonly LoggedRequest[]): Promise<void> => {
      for (const row of rows) {
        const { is_counted: _isCounted, ...before } = toRequestRow(row);
        await storage.database.write("fermata_request_log").insert(before);
      }
    };
    const insert = (...rows: readonly LoggedRequest[]): Promise<void> =>
      storage.inTransaction((tx) => storage.requestLog.insert(tx, rows));
    /** By default when no process of the version before is running any more. */
    const countNext = (limit: number, now = Date.now() + 2 * DAY_MS): Promise<boolean> =>
      storage.inTransaction((tx) => storage.requestLog.countNext(tx, now, limit));
    const places = (): Promise<unknown[]> =>
      storage.database.read("fermata_installation").where("name", "like", "request_log%").select("value");
    const stored = async (): Promise<number> =>
      (await storage.requestLog.listCounts(accountId, 1_000)).reduce((sum, { count }) => sum + count, 0);

    it("is counted in small steps, and the figures are right before, meanwhile and afterwards", async () => {
      await addOld(Array.from({ length: 20 }, (_, index) => aRow(index)));
      expect(await migrateInterrupted(storage.database, NAME)).to.be.above(2);
      let [requests, failed] = [65, 50];
      const expectRight = async (): Promise<void> => {
        // A process that has started just now, and one that has been running.
        for (const log of [storage.requestLog, new KnexRequestLogStore(storage.database, 3)]) {
          expect(await log.count(all)).to.deep.equal({ requests, failed });
          expect(await log.count({ ...all, status: 429 })).to.deep.equal({ requests: failed, failed });
        }
      };
      await expectRight();
      expect(await stored()).to.equal(0);
      let steps = 0;
      for (let isLeft = true; isLeft; steps++) {
        // Another process writes meanwhile.
        await insert(aRow(steps * 4 + 1));
        requests += 1;
        isLeft = await countNext(7);
        await expectRight();
      }
      expect(steps).to.be.within(6, 12);
      expect(await stored()).to.equal(requests);
      expect(await countNext(7)).to.equal(false);
      await insert(aRow(4));
      [requests, failed] = [requests + 10, failed + 10];
      await expectRight();
    });

    it("is counted once, however often a step is interrupted or runs in two processes at once", async () => {
      await addOld(Array.from({ length: 20 }, (_, index) => aRow(index)));
      await storage.database.migrate();
      const interrupted = storage.inTransaction(async (tx) => {
        await storage.requestLog.countNext(tx, Date.now(), 7);
        throw new Error("scripted: the process is killed");
      });
      expect(await interrupted.catch((error: unknown) => (error as Error).message)).to.match(/killed/);
      expect(await stored()).to.equal(0);
      const work = async (): Promise<void> => {
        while (await countNext(3)) continue;
      };
      await Promise.all([work(), work(), work()]);
      expect(await stored()).to.equal(65);
      expect(await storage.requestLog.count(all)).to.deep.equal({ requests: 65, failed: 50 });
    });

    it("counts a row that grows before its turn once", async () => {
      const row = aLoggedRequest({ accountId, status: 429, count: 10 });
      await addOld([row]);
      await storage.database.migrate();
      await insert({ ...row, count: 12 });
      while (await countNext(10)) continue;
      expect(await storage.requestLog.count(all)).to.deep.equal({ requests: 12, failed: 12 });
      expect(await stored()).to.equal(12);
    });

    it("is counted although processes of the version before go on writing, until a day later", async () => {
      await addOld([aRow(1)]);
      await storage.database.migrate();
      const counted = async (now?: number): Promise<number> => {
        while (await countNext(2, now)) continue;
        return stored();
      };
      expect(await counted(Date.now())).to.equal(1);
      await addOld([aRow(2), aRow(3)]);
      expect(await counted(Date.now())).to.equal(3);
      // Written late: under an id that is behind what is counted.
      await addOld([aLoggedRequest({ ...aRow(5), id: firstIdAt("req", Date.now() - HOUR_MS) })]);
      expect(await storage.requestLog.count(all)).to.deep.equal({ requests: 4, failed: 0 });
      expect(await counted(Date.now())).to.equal(3);
      expect(await counted()).to.equal(4);
      expect(await storage.requestLog.count(all)).to.deep.equal({ requests: 4, failed: 0 });
      expect(await places()).to.deep.equal([]);
    });

    it("is waited for where accounts are there and no request yet", async () => {
      await storage.inTransaction((tx) => storage.accounts.insertAccounts(tx, [anAccount({ id: accountId })]));
      await storage.database.migrate();
      expect(await places()).to.have.lengthOf(1);
    });

    it("has nothing to count when it is empty", async () => {
      await storage.database.migrate();
      expect(await places()).to.deep.equal([]);
      expect(REQUEST_LOG.columns).to.include("is_counted");
    });
  });
}
