import { expect } from "chai";
import { aJob, aJobRequest, anId, NOON } from "../support/builders.js";
import { sqliteStorage } from "../support/databases.js";
import { mysqlStorage } from "../support/mysql.js";

const NAME = "0012-request-log";

for (const { name, open } of [sqliteStorage, mysqlStorage]) {
  describe(`Jobs from before the request log: ${name}`, () => {
    it("get the time of their request, and keep its client", async () => {
      const storage = await open();
      const { write, dialect } = storage.database;
      const accountId = anId("acct");
      // More than one batch of them.
      const jobs = Array.from({ length: 1_001 }, (_, index) =>
        aJob({
          accountId,
          requestId: index % 2 === 0 ? anId("req") : null,
          createdAt: NOON + index,
          request: aJobRequest({ client: index % 3 === 0 ? null : `client ${index % 3}` }),
        }),
      );
      await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, jobs));

      await write.raw(
        dialect.name === "mysql" ? "DROP INDEX fermata_jobs_usage ON fermata_jobs" : "DROP INDEX fermata_jobs_usage",
      );
      for (const column of ["client", "requested_at"])
        await write.raw(`ALTER TABLE fermata_jobs DROP COLUMN ${column}`);
      await write.raw("DROP TABLE fermata_request_log");
      await write("fermata_migrations").where({ name: NAME }).delete();
      expect(await storage.database.migrate()).to.deep.equal([NAME]);

      const found = await storage.jobs.findJobs(jobs.map(({ id }) => id));
      for (const job of jobs) {
        expect(found.get(job.id)).to.deep.equal({ ...job, requestedAt: job.requestId === null ? null : job.createdAt });
      }
      const used = async (client?: string): Promise<number> =>
        (await storage.requestLog.sumCredits({ accountId, from: 0, to: NOON * 2, client })).used;
      expect([await used(), await used("client 1"), await used("client 2")]).to.deep.equal([5 * 501, 5 * 167, 5 * 167]);
      await storage.close();
    });
  });
}
