import { expect } from "chai";
import { aJob, anId } from "../support/builders.js";
import { sqliteStorage } from "../support/databases.js";
import { mysqlStorage } from "../support/mysql.js";

const NAME = "0016-split-reference";

for (const { name, open } of [sqliteStorage, mysqlStorage]) {
  describe(`Jobs from before splits had references: ${name}`, () => {
    it("do not change, also when the migration was interrupted; a reference is unique from then on", async () => {
      const storage = await open();
      const { write, dialect } = storage.database;
      const accountId = anId("acct");
      const jobs = (["waiting", "submitting", "rendering", "ended"] as const).map((phase) =>
        aJob({
          accountId,
          kind: "stem_split",
          phase,
          status: phase === "waiting" ? "queued" : phase === "ended" ? "completed" : "processing",
        }),
      );
      await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, jobs));
      const dropIndex = (): Promise<unknown> =>
        write.raw(
          dialect.name === "mysql"
            ? "DROP INDEX fermata_jobs_reference ON fermata_jobs"
            : "DROP INDEX fermata_jobs_reference",
        );
      await dropIndex();
      await write.raw("ALTER TABLE fermata_jobs DROP COLUMN reference");
      await write("fermata_migrations").where({ name: NAME }).delete();
      expect(await storage.database.migrate()).to.deep.equal([NAME]);

      await dropIndex();
      await write("fermata_migrations").where({ name: NAME }).delete();
      expect(await storage.database.migrate()).to.deep.equal([NAME]);

      expect([...(await storage.jobs.findJobs(jobs.map(({ id }) => id))).values()]).to.have.deep.members(jobs);
      const insert = (): Promise<void> =>
        storage.inTransaction((tx) => storage.jobs.insertJobs(tx, [aJob({ accountId, reference: "order 17" })]));
      await insert();
      expect(await insert().catch((error: unknown) => error)).to.be.instanceOf(Error);
      await storage.close();
    });
  });
}
