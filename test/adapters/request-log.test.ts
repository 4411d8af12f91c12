import { expect } from "chai";
import { COUNTED_UP_TO, countedUpTo } from "../../adapters/storage/sql/migrations/0050-request-counts.js";
import { KnexRequestLogStore } from "../../adapters/storage/sql/usage/request-log-store.js";
import { requestLogStoreContract } from "../contract/request-log-store.contract.js";
import { aLoggedRequest, anId, NOON } from "../support/builders.js";
import { sqliteStorage } from "../support/databases.js";
import { mysqlStorage } from "../support/mysql.js";

for (const { name, open } of [sqliteStorage, mysqlStorage]) {
  requestLogStoreContract(name, open);

  describe(`Request log in ${name}`, () => {
    it("counts and lists in pages the same as at once, also when a page ends among rows of one moment", async () => {
      const storage = await open();
      // As while rows of an older version are still to be counted.
      await storage.database.write("fermata_installation").insert({ name: COUNTED_UP_TO, value: countedUpTo(0) });
      const accountId = anId("acct");
      const moments = [0, 1, 1, 1, 1, 1, 2, 3, 3, 7];
      const rows = moments.map((ms, index) =>
        aLoggedRequest({ accountId, createdAt: NOON + ms, status: index % 3 === 0 ? 500 : 200 }),
      );
      await storage.inTransaction((tx) => storage.requestLog.insert(tx, rows));
      for (const step of [1, 2, 3, 4, 9, 10, 11]) {
        const log = new KnexRequestLogStore(storage.database, step);
        const count = (from: number, to: number, status?: number): Promise<object> =>
          log.count({ accountId, from: NOON + from, to: NOON + to, status });
        expect(await count(0, 8), `in steps of ${step}`).to.deep.equal({ requests: 10, failed: 4 });
        expect(await count(1, 3), `in steps of ${step}`).to.deep.equal({ requests: 6, failed: 2 });
        expect(await count(0, 8, 500), `in steps of ${step}`).to.deep.equal({ requests: 4, failed: 4 });
        const failed = rows.filter(({ status }) => status === 500).reverse();
        for (const limit of [1, 2, 4, 5]) {
          const query = { accountId, from: NOON, to: NOON + 8, route: "/api/v1/credits", status: 500 };
          const listed = await log.list(query, limit);
          expect(listed, `${limit} in steps of ${step}`).to.deep.equal(failed.slice(0, limit));
          const behind = await log.list(query, limit, failed[1]);
          expect(behind, `${limit} in steps of ${step}`).to.deep.equal(failed.slice(2, 2 + limit));
        }
      }
      await storage.close();
    });
  });
}
