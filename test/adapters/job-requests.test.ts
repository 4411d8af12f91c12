import { expect } from "chai";
import { aJob, aJobRequest } from "../support/builders.js";
import { sqliteStorage } from "../support/databases.js";
import { mysqlStorage } from "../support/mysql.js";

for (const { name, open } of [sqliteStorage, mysqlStorage]) {
  describe(`Requests of jobs from before there were options: ${name}`, () => {
    it("have no options", async () => {
      const storage = await open();
      const job = aJob({ request: aJobRequest({ options: { seed: 1 } }) });
      await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, [job]));
      const { options: _options, sourceTrackId: _sourceTrackId, ...before } = job.request;
      await storage.database
        .write("fermata_jobs")
        .where({ id: job.id })
        .update({ request: JSON.stringify(before) });
      const found = (await storage.jobs.findJobs([job.id])).get(job.id);
      expect(found?.request).to.deep.equal({ ...before, options: {}, sourceTrackId: null });
      await storage.close();
    });
  });
}
