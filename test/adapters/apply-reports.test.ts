import { expect } from "chai";
import type { JobStore } from "../../core/ports/job-store.js";
import { aJob, anId, NOON } from "../support/builders.js";
import { sqliteStorage, type SqliteUnderTest } from "../support/databases.js";
import { FaultyPort } from "../support/doubles/faulty-port.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { anIntent, reportsOn } from "../support/reports.js";

describe("ApplyReports, on a store that loses an update", () => {
  let storage: SqliteUnderTest;
  before(async () => {
    storage = await sqliteStorage.open();
  });
  after(() => storage.close());

  it("writes nothing of the group when a job is not found under the fence that was locked", async () => {
    const { id: accountId } = await storage.addAccount();
    const lease = { fence: 1, leaseOwner: anId("prc"), dueAt: NOON + 30_000 } as const;
    const job = aJob({ accountId, status: "processing", ...lease });
    await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, [job]));
    const faulty = new FaultyPort<JobStore>(storage.jobs);
    const jobs = faulty.on("updateJobs", async () => 0);
    const reports = reportsOn({ ...storage, jobs }, new ManualClock(NOON));
    const problem = await reports.apply(anIntent(job)).then(
      () => null,
      (error: unknown) => String(error),
    );
    expect(problem).to.include("a locked job keeps its fence");
    expect(await storage.jobs.listAttempts(job.id)).to.deep.equal([]);
    faulty.repair();
    expect((await reports.apply(anIntent(job))).next).to.equal("continue");
    expect(await storage.jobs.listAttempts(job.id)).to.have.length(1);
  });
});
