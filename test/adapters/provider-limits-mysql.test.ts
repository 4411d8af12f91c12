import { expect } from "chai";
import type { ClaimedJob } from "../../core/ports/job-claims.js";
import { aJob, anId, NOON } from "../support/builders.js";
import { mysqlStorage, type MysqlUnderTest } from "../support/mysql.js";
import { collide, type Step } from "../support/race-harness.js";
import { openSteppedProcess, type SteppedProcess } from "../support/stepping.js";

/** What two processes claim at once; with a single writer they never do. */
describe("Claims under a provider's limit: MySQL", () => {
  let storage: MysqlUnderTest;
  const processes: SteppedProcess[] = [];
  before(async () => {
    storage = await mysqlStorage.open();
  });
  after(async () => {
    for (const process of processes) await process.close();
    await storage.close();
  });

  it("count the jobs in flight one after another", async () => {
    const jobs = [aJob({ providerId: "narrow", dueAt: NOON }), aJob({ providerId: "narrow", dueAt: NOON })];
    await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, jobs));
    // The row that the claims wait for is there from the first claim on.
    await storage.jobs.claimJobs({ ...requestOf(), now: NOON - 1 });
    for (let index = 0; index < 2; index++) processes.push(await openSteppedProcess(storage.url));
    const [first, second] = processes.map(claiming) as [Step<ClaimedJob[]>, Step<ClaimedJob[]>];
    const claimed = await collide(/lease_owner IS NOT NULL\) AS total/, first, second);
    expect(claimed.flat()).to.have.length(1);
  });

  function requestOf(): Parameters<MysqlUnderTest["jobs"]["claimJobs"]>[0] {
    const limits = { limit: 1, maxInFlight: 1, phases: ["waiting"] } as const;
    return { ...limits, providerId: "narrow", now: NOON, owner: anId("prc"), leaseUntil: NOON + 30_000 };
  }

  function claiming(process: SteppedProcess): Step<ClaimedJob[]> {
    return { by: { process }, begin: () => process.stores.jobs.claimJobs(requestOf()) };
  }
});
