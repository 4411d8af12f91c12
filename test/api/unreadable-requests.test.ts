import { expect } from "chai";
import { createMigratedMysqlDatabase } from "../support/mysql.js";
import { query } from "../support/mysql-server.js";
import { startTestApp } from "../support/test-app.js";
import { until } from "../support/until.js";

const INPUT = { modelId: "scripted/song", prompt: "slow sad piano" };

describe("A job whose request cannot be read", function () {
  this.timeout(20_000);

  it("fails alone, and is put off: the other jobs of its provider are worked on", async () => {
    const { url, drop } = await createMigratedMysqlDatabase();
    const test = await startTestApp({ settings: { storage: { url } } });
    try {
      const { generations } = test.app;
      const { account } = await test.account();
      const unreadable = await generations.create(account.id, INPUT);
      const ofIt = `WHERE id = '${unreadable.id}'`;
      await query(url, `UPDATE fermata_jobs SET request = LEFT(request, 20) ${ofIt}`);
      const others = await Promise.all([1, 2, 3].map(() => generations.create(account.id, INPUT)));
      await test.app.work();
      const ended = await Promise.all(others.map(({ id }) => generations.wait(id)));
      expect(ended.map(({ status }) => status)).to.deep.equal(["completed", "completed", "completed"]);
      const putOff = `status = 'queued' AND crashes = 1 AND lease_owner IS NULL AND due_at > created_at`;
      const find = `SELECT id FROM fermata_jobs ${ofIt} AND ${putOff}`;
      await until("the job is put off", async () => (await query(url, find)).length === 1);
      const errors = test.logger.lines.filter(({ level }) => level === "error");
      expect(errors.map(({ message, fields }) => [message, fields["job_id"]])).to.deep.equal([
        ["Job step failed unexpectedly; it will be retried", unreadable.id],
      ]);
    } finally {
      await test.close();
      await drop();
    }
  });
});
