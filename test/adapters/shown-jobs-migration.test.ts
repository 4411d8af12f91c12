import { expect } from "chai";
import { toJobRow } from "../../adapters/storage/sql/jobs/job-tables.js";
import { aJob, aJobRequest, anId } from "../support/builders.js";
import { migrateInterrupted, oldMysql, oldSqlite } from "../support/old-schema.js";

const NAME = "0052-shown-jobs";

for (const { name, openBefore } of [oldSqlite, oldMysql]) {
  describe(`Jobs from before lists read less of them: ${name}`, () => {
    it("are listed with what they asked for, also when the migration was interrupted", async () => {
      const storage = await openBefore(NAME);
      const accountId = anId("acct");
      const sourceUse = { mode: "cover", fromSeconds: null, toSeconds: null, strength: 0.5 } as const;
      const request = aJobRequest({ options: { seed: 42 }, sourceTrackId: anId("trk"), sourceUse });
      const [old, plain] = [aJob({ accountId, request }), aJob({ accountId })];
      for (const job of [old, plain]) {
        const { shown_request: _shown, ...row } = toJobRow(job);
        await storage.database.write("fermata_jobs").insert(row);
      }
      // On SQLite a migration is undone as a whole.
      if (name === "MySQL") expect(await migrateInterrupted(storage.database, NAME)).to.be.above(0);
      expect((await storage.database.migrate())[0]).to.equal(NAME);
      const today = aJob({ accountId, request });
      await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, [today]));
      const shown = await storage.jobs.listShownJobs({ accountId, kind: "music", limit: 10 });
      const { options, sourceTrackId } = request;
      const expected = { options, sourceTrackId, sourceUse };
      const nothing = { options: {}, sourceTrackId: null, sourceUse: null };
      expect(new Map(shown.map((job) => [job.id, job.request]))).to.deep.equal(
        new Map<string, unknown>([
          [old.id, expected],
          [plain.id, nothing],
          [today.id, expected],
        ]),
      );
      await storage.close();
    });
  });
}
