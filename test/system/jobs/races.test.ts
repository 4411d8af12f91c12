import { expect } from "chai";
import { createStores, openDatabase, type Stores } from "../../../adapters/storage/knex/index.js";
import type { Job } from "../../../core/jobs/job.js";
import { JobEvents } from "../../../core/jobs/job-events.js";
import { CANCELLED_ERROR } from "../../../core/jobs/job-errors.js";
import type { SettleCommand } from "../../../core/jobs/decide-settlement.js";
import { SettleJobs } from "../../../core/jobs/settle-jobs.js";
import type { ClaimedJob } from "../../../core/ports/job-store.js";
import { anId, aTrack } from "../../support/builders.js";
import { SILENT, TEST_PORTS } from "../../support/databases.js";
import { eventsOf } from "../../support/webhook-events.js";
import { COST, LEASE_MS, Workshop } from "./workshop.js";

/** Rounds of each race: who is first changes with the turns of the event loop. */
const ROUNDS = 25;

describe("Two processes on one file", () => {
  let shop: Workshop;
  let other: Stores;
  let closeOther: () => Promise<void>;
  beforeEach(async () => {
    shop = await Workshop.open();
    const database = await openDatabase({ url: shop.storage.url, logger: SILENT, lockWaitMs: 50 });
    other = createStores(database, TEST_PORTS);
    closeOther = () => database.close();
  });
  afterEach(async () => {
    await closeOther();
    await shop.close();
  });

  function settlerOn({ unitOfWork, ledger, jobs, library, webhooks }: Stores): SettleJobs {
    return new SettleJobs({ unitOfWork, ledger, jobs, library, clock: shop.clock, writeEvents: eventsOf({ webhooks }), events: new JobEvents(SILENT) });
  }

  function claim({ jobs }: Stores, limit = 100): Promise<ClaimedJob[]> {
    const now = shop.clock.now();
    return jobs.claimJobs({ providerId: "scripted", phases: ["waiting"], limit, now, owner: anId("prc"), leaseUntil: now + LEASE_MS });
  }

  function complete({ id, accountId, fence }: Job): SettleCommand {
    return { jobId: id, accountId, fence, outcome: { status: "completed", tracks: [aTrack({ jobId: id, accountId })] }, attempt: null };
  }

  function cancel({ id, accountId }: Job): SettleCommand {
    return { jobId: id, accountId, fence: null, outcome: { status: "failed", error: CANCELLED_ERROR }, attempt: null };
  }

  it("never claim the same job under the same fence", async () => {
    const accepted = await shop.accept(60);
    const claims = await Promise.all([claim(shop.storage, 40), claim(other, 40), claim(shop.storage, 40), claim(other, 40)]);
    const ids = claims.flat().map(({ job }) => job.id);
    expect(ids).to.have.length(60);
    expect(new Set(ids)).to.deep.equal(new Set(accepted.map(({ id }) => id)));
    expect(claims.flat().every(({ job, wasLost }) => job.fence === 1 && !wasLost)).to.equal(true);
  });

  it("end a job once when one completes it and the other cancels it", async () => {
    const [mine, theirs] = [settlerOn(shop.storage), settlerOn(other)];
    await shop.accept(ROUNDS);
    const claimed = await claim(shop.storage);
    for (const [round, { job }] of claimed.entries()) {
      const race = [() => mine.settle(complete(job)), () => theirs.settle(cancel(job))];
      const results = await Promise.all((round % 2 === 0 ? race : race.reverse()).map((begin) => begin()));
      const winners = results.filter((ended) => ended !== null);
      expect(winners).to.have.length(1);
      const ended = await shop.job(job.id);
      expect(ended).to.deep.equal(winners[0]);
      expect(await shop.entries(job.id)).to.deep.equal(["reserve", ended.status === "completed" ? "charge" : "refund"]);
      expect((await shop.storage.library.tracksOfJobs([job.id])).size).to.equal(ended.status === "completed" ? 1 : 0);
    }
  });

  it("end a job once when a worker completes it as another one takes it over", async () => {
    const mine = settlerOn(shop.storage);
    await shop.accept(ROUNDS);
    const claimed = await claim(shop.storage);
    shop.clock.set(shop.clock.now() + LEASE_MS);
    const settled = claimed.map(({ job }) => mine.settle(complete(job)));
    const takenOver = await Promise.all(Array.from({ length: ROUNDS }, () => claim(other, 1)));
    const ended = await Promise.all(settled);

    const taken = new Map(takenOver.flat().map(({ job }) => [job.id, job]));
    for (const [index, { job }] of claimed.entries()) {
      const successor = taken.get(job.id);
      // Either it completed, or it belongs to the other one by now: never both, never neither.
      expect(ended[index] === null).to.equal(successor !== undefined);
      if (successor === undefined) continue;
      expect(await shop.job(job.id)).to.deep.equal(successor);
      expect(await mine.settle(complete(successor))).to.include({ status: "completed", fence: successor.fence + 1 });
    }
    const balance = await shop.storage.balanceOf(shop.accountId);
    expect(balance).to.include({ spent: ROUNDS * COST, runningJobs: 0, reservedMonthly: 0, reservedPack: 0 });
  });

  it("hand a job back to whoever is next, not to a worker that lost it", async () => {
    await shop.accept();
    const [first] = await claim(shop.storage);
    shop.clock.set(shop.clock.now() + LEASE_MS);
    const [second] = await claim(other);
    if (first === undefined || second === undefined) expect.fail("both claim the job");
    const handBack = ({ job }: ClaimedJob, { unitOfWork, jobs }: Stores): Promise<Set<string>> =>
      unitOfWork.inTransaction((tx) =>
        jobs.updateJobs(tx, [{ id: job.id, fence: job.fence, changes: { leaseOwner: null, dueAt: shop.clock.now() } }]),
      );
    expect((await handBack(first, shop.storage)).size).to.equal(0);
    expect((await shop.job(first.job.id)).leaseOwner).to.equal(second.job.leaseOwner);
    expect((await handBack(second, other)).size).to.equal(1);
  });

  it("settle what the other accepts, all at once, and the ledger adds up at every moment", async () => {
    const processes = [shop.storage, other].map((stores) => ({ stores, settler: settlerOn(stores) }));
    const audits: Promise<number>[] = [];
    for (let round = 0; round < 10; round++) {
      await shop.accept(8);
      const claims = await Promise.all(processes.map(async ({ stores, settler }) => ({ settler, claimed: await claim(stores, 4) })));
      const reports = claims.flatMap(({ settler, claimed }) =>
        claimed.map(({ job }, index) => settler.settle(index % 2 === 0 ? complete(job) : cancel(job))),
      );
      audits.push(other.ledger.audit().then(({ violations }) => violations.length));
      await Promise.all(reports);
    }
    expect(await Promise.all(audits)).to.deep.equal(Array(10).fill(0));
    expect(await shop.storage.balanceOf(shop.accountId)).to.include({ runningJobs: 0, spent: 40 * COST });
  });
});
