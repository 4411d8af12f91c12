import { expect } from "chai";
import { toLedgerEntryRow } from "../../adapters/storage/sql/ledger/ledger-tables.js";
import type { LedgerEntry } from "../../core/credits/balance.js";
import type { AccountId, JobId } from "../../core/ids.js";
import type { Job } from "../../core/jobs/job.js";
import type { WebhookEvent } from "../../core/ports/webhook-records.js";
import { aJob, aReservation, aSettlement, NOON } from "../support/builders.js";
import { migrateAgain, migrateInterrupted, oldMysql, oldSqlite } from "../support/old-schema.js";
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

    it("are numbered a thousand at a time, those without a job not at all", async () => {
      const storage = await openBefore(NAME);
      const { write } = storage.database;
      const { id: accountId } = await storage.addAccount();
      const events = Array.from({ length: 2_100 }, (_, at) =>
        anEvent({ accountId, ...(at % 3 === 0 ? { jobId: null, type: "webhook.ping" } : {}) }),
      );
      const jobs = events.flatMap(({ jobId }) => jobId ?? []);
      const entries = jobs.map((jobId, at) => toLedgerEntryRow(aSettlementEntry(accountId, jobId, at + 10)));
      await write.batchInsert("fermata_ledger_entries", entries, 500);
      await write.batchInsert("fermata_webhook_events", events.map(rowBefore), 500);
      const changed: number[] = [];
      write.on("query-response", (response: unknown, { sql }: { sql: string }) => {
        if (/^update /.test(sql)) changed.push(Number(response));
      });
      await migrateAgain(storage.database, NAME);
      expect(changed.length, String(changed)).to.equal(3);
      const rows = await write("fermata_webhook_events").select<{ job_id: string | null; number: number | null }[]>();
      const numbers = new Map<string | null, number>(jobs.map((jobId, at) => [jobId, at + 10]));
      expect(rows.filter(({ job_id: job, number }) => number !== (numbers.get(job) ?? null))).to.deep.equal([]);
      expect(rows.length).to.equal(2_100);
      await storage.close();
    });
  });
}

/** The entry with this number that settled a job. */
function aSettlementEntry(accountId: AccountId, jobId: JobId, seq: number): LedgerEntry {
  const amounts = { monthly: 0, pack: 0, reservedMonthly: 0, reservedPack: 0, spent: 0 };
  return { accountId, seq, kind: "refund", jobId, ...amounts, reference: null, createdAt: NOON };
}
