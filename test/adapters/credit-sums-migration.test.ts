import { expect } from "chai";
import { toJobRow } from "../../adapters/storage/sql/jobs/job-tables.js";
import { KnexRequestLogStore } from "../../adapters/storage/sql/usage/request-log-store.js";
import type { AccountId } from "../../core/ids.js";
import type { Job } from "../../core/jobs/job.js";
import { aJob, aJobRequest, anId } from "../support/builders.js";
import type { SqliteUnderTest } from "../support/databases.js";
import { migrateAgain, migrateInterrupted, oldMysql, oldSqlite } from "../support/old-schema.js";

const NAME = "0054-credit-sums";
const DAY_MS = 86_400_000;
const ENDED = { phase: "ended", dueAt: null, fence: 2 } as const;

for (const { name, openBefore } of [oldSqlite, oldMysql]) {
  describe(`Jobs from before their credits were summed: ${name}`, () => {
    let storage: SqliteUnderTest;
    beforeEach(async () => {
      storage = await openBefore(NAME);
    });
    afterEach(() => storage.close());

    const today = Date.now();
    const addAccount = async (): Promise<AccountId> => (await storage.addAccount()).id;
    /** The account's `index`-th, of ten credits; every third has failed. */
    const aJobOf = (accountId: AccountId, index: number): Job => {
      const requestedAt = today - 10 * DAY_MS + index * 20 * 60_000;
      return aJob({
        ...{ accountId, requestId: anId("req"), requestedAt, createdAt: requestedAt, ...ENDED },
        ...{ status: index % 3 === 0 ? "failed" : "completed", reserved: { monthly: 10, pack: 0 } },
        request: aJobRequest({ client: index % 2 === 0 ? "cli" : null }),
      });
    };
    const twentyOf = (accountId: AccountId): Job[] =>
      Array.from({ length: 20 }, (_, index) => aJobOf(accountId, index));
    /** As processes of the version before do, which know of no sums. */
    const addOld = async (jobs: readonly Job[]): Promise<void> => {
      for (const job of jobs) await storage.database.write("fermata_jobs").insert(toJobRow(job));
    };
    const endNew = async (job: Job): Promise<void> => {
      const live = { ...job, status: "queued", phase: "waiting", fence: 1 } as const;
      const changes = { status: "completed", ...ENDED } as const;
      await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, [live]));
      await storage.inTransaction((tx) => storage.jobs.updateJobs(tx, [{ id: job.id, fence: 1, changes }]));
    };
    /** By default when no process of the version before is running any more. */
    const sumNext = (limit: number, now = Date.now() + 2 * DAY_MS): Promise<boolean> =>
      storage.inTransaction((tx) => storage.requestLog.sumNextCredits(tx, now, limit));
    const places = (): Promise<unknown[]> =>
      storage.database.read("fermata_installation").where("name", "like", "credits_%").select("value");
    const expectSums = async (accountId: AccountId, used: number, refunded: number): Promise<void> => {
      // A process that has started just now, and one that has been running.
      for (const log of [storage.requestLog, new KnexRequestLogStore(storage.database)]) {
        const all = { accountId, from: today - 29 * DAY_MS, to: Number.MAX_SAFE_INTEGER };
        expect(await log.sumCredits(all)).to.deep.equal({ used, refunded });
      }
    };

    it("are summed in small steps, and the figures are right before, meanwhile and afterwards", async () => {
      const [first, second, none] = [await addAccount(), await addAccount(), await addAccount()];
      await addOld([...twentyOf(first), ...twentyOf(second)]);
      expect(await migrateInterrupted(storage.database, NAME)).to.be.above(1);
      // Today's store writes a column of its own.
      await migrateAgain(storage.database, "0055-job-room");
      let used = 200;
      let steps = 0;
      for (let isLeft = true; isLeft; steps++) {
        await expectSums(first, used, 70);
        await expectSums(second, 200, 70);
        // Another process ends jobs meanwhile, of hours that are summed already, and of others.
        await endNew(aJobOf(first, steps));
        used += 10;
        isLeft = await sumNext(5);
      }
      expect(steps).to.be.within(6, 16);
      expect(await places()).to.deep.equal([]);
      await endNew(aJobOf(first, 4));
      await expectSums(first, used + 10, 70);
      await expectSums(second, 200, 70);
      await expectSums(none, 0, 0);
      const ofClient = { accountId: second, from: 0, to: Number.MAX_SAFE_INTEGER, client: "cli" };
      expect(await storage.requestLog.sumCredits(ofClient)).to.deep.equal({ used: 100, refunded: 40 });
    });

    it("are summed once, however often a step is interrupted or runs in two processes at once", async () => {
      const accountId = await addAccount();
      await addOld(twentyOf(accountId));
      await storage.database.migrate();
      const interrupted = storage.inTransaction(async (tx) => {
        await storage.requestLog.sumNextCredits(tx, Date.now() + 2 * DAY_MS, 7);
        throw new Error("scripted: the process is killed");
      });
      expect(await interrupted.catch((error: unknown) => (error as Error).message)).to.match(/killed/);
      expect(await storage.database.read("fermata_credit_sums")).to.deep.equal([]);
      const work = async (): Promise<void> => {
        while (await sumNext(3)) continue;
      };
      await Promise.all([work(), work(), work()]);
      await expectSums(accountId, 200, 70);
    });

    it("are not summed before processes of the version before have ended their last ones", async () => {
      const accountId = await addAccount();
      await addOld([aJobOf(accountId, 0)]);
      await storage.database.migrate();
      expect(await sumNext(10, Date.now())).to.equal(false);
      await endNew(aJobOf(accountId, 1));
      await addOld([aJobOf(accountId, 2), aJobOf(accountId, 3)]);
      await expectSums(accountId, 40, 20);
      expect(await places()).to.have.lengthOf(1);
      while (await sumNext(10)) continue;
      await expectSums(accountId, 40, 20);
      expect(await places()).to.deep.equal([]);
    });

    it("are none where there is no account", async () => {
      await storage.database.migrate();
      expect(await places()).to.deep.equal([]);
    });
  });
}
