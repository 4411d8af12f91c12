import { expect } from "chai";
import { toJobRow } from "../../adapters/storage/sql/jobs/job-tables.js";
import type { Job } from "../../core/jobs/job.js";
import { aJob, NOON } from "../support/builders.js";
import { migrateInterrupted, oldMysql, oldSqlite } from "../support/old-schema.js";

const NAME = "0031-end-numbers";

/** Without what later migrations add. */
function rowBefore(job: Job): object {
  const { cancel_requested_at: _later, trace: _trace, shown_request: _shown, ...row } = toJobRow(job);
  return row;
}

for (const { name, openBefore } of [oldSqlite, oldMysql]) {
  describe(`Jobs from before ends were numbered: ${name}`, () => {
    it("get no number when they had ended, also when the migration was interrupted; later ends do", async () => {
      const storage = await openBefore(NAME);
      const ended = { status: "completed", phase: "ended", dueAt: null } as const;
      const [before, live] = [aJob({ ...ended, completedAt: NOON }), aJob()];
      for (const job of [before, live]) await storage.database.write("fermata_jobs").insert(rowBefore(job));
      expect(await migrateInterrupted(storage.database, NAME)).to.be.above(2);
      expect((await storage.database.migrate())[0]).to.equal(NAME);
      expect(await storage.jobs.numberEnds(10)).to.equal(0);
      const changes = { ...ended, completedAt: NOON - 1 };
      await storage.inTransaction((tx) => storage.jobs.updateJobs(tx, [{ id: live.id, fence: 0, changes }]));
      expect(await storage.jobs.numberEnds(10)).to.equal(1);
      expect(await storage.jobs.listEnds(0, 10)).to.deep.equal([{ number: 1, job: { ...live, ...changes } }]);
      await storage.close();
    });
  });
}
