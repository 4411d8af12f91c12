import { expect } from "chai";
import { aJob, aJobRequest, anAsset, anId } from "../support/builders.js";
import { toJobRow } from "../../adapters/storage/sql/jobs/job-tables.js";
import { migrateInterrupted, oldMysql, oldSqlite } from "../support/old-schema.js";

const NAME = "0047-track-deletions";

for (const { name, openBefore } of [oldSqlite, oldMysql]) {
  describe(`Splits from before tracks could be deleted: ${name}`, () => {
    it("are found by their track, also when the migration was interrupted", async () => {
      const storage = await openBefore(NAME);
      const [trackId, accountId] = [anId("trk"), anId("acct")];
      const ended = { status: "completed", phase: "ended", dueAt: null } as const;
      const split = { ...ended, accountId, kind: "stem_split", operation: "stem_split" } as const;
      const [own, live] = [
        aJob({ ...split, request: aJobRequest({ sourceTrackId: trackId }) }),
        aJob({ request: aJobRequest({ sourceTrackId: trackId }) }),
      ];
      const quoted = aJob({ request: aJobRequest({ prompt: `"sourceTrackId":"${anId("trk")}"` }) });
      for (const job of [own, live, quoted, aJob()]) {
        const { shown_request: _shown, ...row } = toJobRow(job);
        await storage.database.write("fermata_jobs").insert(row);
      }
      const output = { ...anAsset({ audioKey: `${own.id}/1/0-vocals.wav` }) };
      await storage.inTransaction((tx) => storage.jobs.insertOutputs(tx, [{ jobId: own.id, outputs: [output] }]));
      // On SQLite a migration is undone as a whole.
      if (name === "MySQL") expect(await migrateInterrupted(storage.database, NAME)).to.be.above(2);
      expect((await storage.database.migrate())[0]).to.equal(NAME);
      expect(await storage.database.all("SELECT COUNT(*) AS total FROM {job_sources}")).to.deep.equal([{ total: 2 }]);
      await storage.inTransaction(async (tx) => {
        expect((await storage.jobs.liveJobFrom(tx, trackId))?.id).to.equal(live.id);
        expect(await storage.jobs.deleteSplitOutputs(tx, trackId, accountId)).to.have.length(1);
      });
      await storage.close();
    });
  });
}
