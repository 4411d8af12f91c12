import { expect } from "chai";
import { createStores, openDatabase, type Stores } from "../../../adapters/storage/sql/index.js";
import type { ClaimedJob } from "../../../core/ports/job-claims.js";
import { anId } from "../../support/builders.js";
import { SILENT, TEST_PORTS } from "../../support/databases.js";
import { aCancellation, aCompletion, begun, reportsOn } from "../../support/reports.js";
import { COST, LEASE_MS, WorkerHarness } from "./worker-harness.js";

/** Rounds of each race: the turns of the event loop decide who is first. */
const ROUNDS = 25;

describe("Two processes on one file", () => {
  let harness: WorkerHarness;
  let other: Stores;
  let closeOther: () => Promise<void>;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
    const database = await openDatabase({ url: harness.storage.url, logger: SILENT, lockWaitMs: 50 });
    other = createStores(database, TEST_PORTS);
    closeOther = () => database.close();
  });
  afterEach(async () => {
    await closeOther();
    await harness.close();
  });

  function claim({ jobs }: Stores, limit = 100): Promise<ClaimedJob[]> {
    const now = harness.clock.now();
    return jobs.claimJobs({
      providerId: "scripted",
      phases: ["waiting"],
      limit,
      now,
      owner: anId("prc"),
      leaseUntil: now + LEASE_MS,
    });
  }

  /** Claims jobs and records the intent to submit them. */
  async function claimToSubmit(stores: Stores, limit = 100): Promise<ClaimedJob[]> {
    const claimed = await claim(stores, limit);
    await begun(
      reportsOn(stores, harness.clock),
      claimed.map(({ job }) => job),
    );
    return claimed;
  }

  it("never claim the same job under the same fence", async () => {
    const accepted = await harness.accept(60);
    const claims = await Promise.all([
      claim(harness.storage, 40),
      claim(other, 40),
      claim(harness.storage, 40),
      claim(other, 40),
    ]);
    const ids = claims.flat().map(({ job }) => job.id);
    expect(ids).to.have.length(60);
    expect(new Set(ids)).to.deep.equal(new Set(accepted.map(({ id }) => id)));
    expect(claims.flat().every(({ job, wasLost }) => job.fence === 1 && !wasLost)).to.equal(true);
  });

  it("end a job once when one completes it and the other cancels it", async () => {
    const [mine, theirs] = [reportsOn(harness.storage, harness.clock), reportsOn(other, harness.clock)];
    await harness.accept(ROUNDS);
    const claimed = await claimToSubmit(harness.storage);
    for (const [round, { job }] of claimed.entries()) {
      const race = [() => mine.apply(aCompletion(job)), () => theirs.apply(aCancellation(job))];
      const results = await Promise.all((round % 2 === 0 ? race : race.reverse()).map((begin) => begin()));
      const winners = results.flatMap(({ ended }) => ended ?? []);
      expect(winners).to.have.length(1);
      const ended = await harness.job(job.id);
      expect(ended).to.deep.equal(winners[0]?.job);
      expect(await harness.entries(job.id)).to.deep.equal([
        "reserve",
        ended.status === "completed" ? "charge" : "refund",
      ]);
      expect((await harness.storage.library.tracksOfJobs([job.id])).size).to.equal(
        ended.status === "completed" ? 1 : 0,
      );
    }
  });

  it("end a job once, with what was bought, when a worker completes it as another one takes it over", async () => {
    const [mine, theirs] = [reportsOn(harness.storage, harness.clock), reportsOn(other, harness.clock)];
    await harness.accept(ROUNDS);
    const claimed = await claimToSubmit(harness.storage);
    harness.clock.set(harness.clock.now() + LEASE_MS);
    const settled = claimed.map(({ job }) => mine.apply(aCompletion(job)));
    const now = harness.clock.now();
    const take = {
      providerId: "scripted",
      phases: ["submitting"],
      limit: 1,
      now,
      owner: anId("prc"),
      leaseUntil: now + LEASE_MS,
    } as const;
    const takenOver = await Promise.all(Array.from({ length: ROUNDS }, () => other.jobs.claimJobs(take)));
    const ended = await Promise.all(settled);

    expect(ended.map((one) => one.ended?.job.status)).to.deep.equal(Array(ROUNDS).fill("completed"));
    for (const { job } of takenOver.flat()) expect((await theirs.apply(aCompletion(job))).ended).to.equal(null);
    const balance = await harness.storage.balanceOf(harness.accountId);
    expect(balance).to.include({ spent: ROUNDS * COST, runningJobs: 0, reservedMonthly: 0, reservedPack: 0 });
  });

  it("let the worker that has a job release it, not one that lost it", async () => {
    await harness.accept();
    const [first] = await claim(harness.storage);
    harness.clock.set(harness.clock.now() + LEASE_MS);
    const [second] = await claim(other);
    if (first === undefined || second === undefined) expect.fail("both claim the job");
    const release = ({ job }: ClaimedJob, { unitOfWork, jobs }: Stores): Promise<number> =>
      unitOfWork.inTransaction((tx) =>
        jobs.updateJobs(tx, [
          { id: job.id, fence: job.fence, changes: { leaseOwner: null, dueAt: harness.clock.now() } },
        ]),
      );
    expect(await release(first, harness.storage)).to.equal(0);
    expect((await harness.job(first.job.id)).leaseOwner).to.equal(second.job.leaseOwner);
    expect(await release(second, other)).to.equal(1);
  });

  it("settle what the other accepts concurrently, and the ledger is consistent at every moment", async () => {
    const processes = [harness.storage, other].map((stores) => ({ stores, reports: reportsOn(stores, harness.clock) }));
    const audits: Promise<number>[] = [];
    for (let round = 0; round < 10; round++) {
      await harness.accept(8);
      const claims = await Promise.all(
        processes.map(async ({ stores, reports }) => ({ reports, claimed: await claimToSubmit(stores, 4) })),
      );
      const reported = claims.flatMap(({ reports, claimed }) =>
        claimed.map(({ job }, index) => reports.apply(index % 2 === 0 ? aCompletion(job) : aCancellation(job))),
      );
      audits.push(other.ledger.audit().then(({ violations }) => violations.length));
      await Promise.all(reported);
    }
    expect(await Promise.all(audits)).to.deep.equal(Array(10).fill(0));
    expect(await harness.storage.balanceOf(harness.accountId)).to.include({ runningJobs: 0, spent: 40 * COST });
  });
});
