import { expect } from "chai";
import type { Job } from "../../core/jobs/job.js";
import type { WebhookEvent } from "../../core/ports/webhook-records.js";
import { aJob, aReservation, aSettlement } from "../support/builders.js";
import { migrateInterrupted, oldMysql, oldSqlite } from "../support/old-schema.js";
import { anEvent } from "../support/webhook-builders.js";

const NAME = "0046-event-numbers";

/** Without what the migration adds. */
function rowBefore({ id, accountId, jobId, type, createdAt, body }: WebhookEvent): object {
  return { id, account_id: accountId, job_id: jobId, type, created_at: createdAt, body };
}

for (const { name, openBefore } of [oldSqlite, oldMysql]) {
  describe(`Events from before they were listed: ${name}`, () => {
    it("get the number of the entry that settled their job, also when the migration was interrupted", async () => {
      const storage = await openBefore(NAME);
      const { id: accountId } = await storage.addAccount({}, { monthly: 100 });
      const [one, two] = [aJob({ accountId }), aJob({ accountId })];
      const settle = async (job: Job, kind: "charge" | "refund"): Promise<void> =>
        storage.apply(aSettlement(await storage.balanceOf(accountId), job, kind));
      for (const job of [one, two]) await storage.apply(aReservation(await storage.balanceOf(accountId), job));
      await settle(two, "refund");
      await settle(one, "charge");
      const [first, second] = [anEvent({ accountId, jobId: two.id }), anEvent({ accountId, jobId: one.id })];
      const ping = anEvent({ accountId, jobId: null, type: "webhook.ping" });
      for (const event of [second, first, ping])
        await storage.database.write("fermata_webhook_events").insert(rowBefore(event));
      expect(await migrateInterrupted(storage.database, NAME)).to.be.above(2);
      expect((await storage.database.migrate())[0]).to.equal(NAME);
      // A grant and two reservations have the first three numbers.
      expect(await storage.webhooks.listEvents(accountId, 0, 10)).to.deep.equal([
        { ...first, number: 4 },
        { ...second, number: 5 },
      ]);
      await storage.close();
    });
  });
}
