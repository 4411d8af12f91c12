import { expect } from "chai";
import { toJobRow } from "../../adapters/storage/sql/jobs/job-tables.js";
import type { ApplyReports } from "../../core/attempts/apply-reports.js";
import type { AcceptJobs } from "../../core/jobs/accept-jobs.js";
import { createJobs } from "../../core/jobs/create-jobs.js";
import type { JobId } from "../../core/ids.js";
import { aJob, anId, NOON } from "../support/builders.js";
import { corePorts } from "../support/core-ports.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { mysqlStorage, type MysqlUnderTest } from "../support/mysql.js";
import { migrateAgain, oldMysql } from "../support/old-schema.js";
import { aCompletion, anIntent, reportsOn } from "../support/reports.js";
import { eventsOf } from "../support/webhook-events.js";
import { anAcceptCommand } from "../unit/core/jobs/commands.js";

/** What the engine stores of a job that changes: texts as long as they are, numbers in 8 bytes, nothing for null. */
const CHANGING =
  "LENGTH(status) + LENGTH(phase) + IFNULL(LENGTH(lease_owner), 0) + IFNULL(LENGTH(ended_by), 0) + " +
  ["due_at", "completed_at", "end_number"].map((column) => `IF(${column} IS NULL, 0, 8)`).join(" + ");

const NAME = "0055-job-room";

describe("A job's row in MySQL", () => {
  const clock = new ManualClock(NOON);
  let storage: MysqlUnderTest;
  let accept: AcceptJobs;
  let reports: ApplyReports;
  before(async () => {
    storage = await mysqlStorage.open();
    accept = createJobs(corePorts(storage, { clock }), eventsOf(storage)).acceptJobs;
    reports = reportsOn(storage, clock);
  });
  after(() => storage.close());

  /** @returns how many bytes change, and how many of them are blanks */
  async function bytesOf(
    id: JobId,
    { database }: Pick<MysqlUnderTest, "database"> = storage,
  ): Promise<{ readonly changing: number; readonly room: number }> {
    const text = `SELECT ${CHANGING} AS changing, LENGTH(room) AS room FROM {jobs} WHERE id = ?`;
    const rows = await database.reading((session) => session.all<{ changing: number; room: number }>(text, [id]));
    const [row] = rows as [{ changing: number; room: number }];
    return { changing: Number(row.changing), room: Number(row.room) };
  }

  it("is as long from its acceptance to its end: what is filled in takes the room of blanks", async () => {
    const { id: accountId } = await storage.addAccount({}, { monthly: 1_000 });
    const command = anAcceptCommand(accountId);
    const { id, providerId } = command.job;
    await accept.accept(command);
    const sizes = [await bytesOf(id)];
    const at = { now: clock.now(), leaseUntil: clock.now() + 30_000, owner: anId("prc") };
    const [claimed] = await storage.jobs.claimJobs({ providerId, phases: ["waiting"], limit: 1, ...at });
    sizes.push(await bytesOf(id));
    const job = claimed?.job;
    if (job === undefined) throw new Error("Nothing was claimed.");
    await reports.apply(anIntent(job));
    sizes.push(await bytesOf(id));
    await reports.apply(aCompletion(job));
    sizes.push(await bytesOf(id));
    expect(sizes.map(({ changing, room }) => changing + room)).to.deep.equal([60, 60, 60, 60]);
    expect(new Set(sizes.map(({ changing }) => changing)).size, "what changes is longer or shorter").to.equal(4);
  });

  it("has room also where it was accepted before the migration", async () => {
    const old = await oldMysql.openBefore(NAME);
    try {
      const { id: accountId } = await old.addAccount();
      const job = aJob({ accountId, dueAt: clock.now() });
      const { id, providerId } = job;
      await old.database.write("fermata_jobs").insert(toJobRow(job));
      // The second time as after one that was interrupted at its end.
      for (let run = 0; run < 2; run++) await migrateAgain(old.database, NAME);
      const sizes = [await bytesOf(id, old)];
      const at = { now: clock.now(), leaseUntil: clock.now() + 30_000, owner: anId("prc") };
      expect(await old.jobs.claimJobs({ providerId, phases: ["waiting"], limit: 1, ...at })).to.have.length(1);
      sizes.push(await bytesOf(id, old));
      expect(sizes.map(({ changing, room }) => changing + room)).to.deep.equal([60, 60]);
    } finally {
      await old.close();
    }
  });
});
