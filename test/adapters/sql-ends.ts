import { expect } from "chai";
import type { AccountId, JobId } from "../../core/ids.js";
import type { JobState } from "../../core/jobs/job.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { aHash, NOON } from "../support/builders.js";
import { collide, RaceHarness, type Step } from "../support/race-harness.js";
import { aCancellation, aCompletion, anIntent } from "../support/reports.js";
import type { StorageUnderTest } from "../support/storage-under-test.js";
import { anAcceptCommand } from "../unit/core/jobs/commands.js";

/** Ends of jobs are read by a number while other processes end jobs: none is passed by. */
export function describeEnds(name: string, open: () => Promise<StorageUnderTest & { readonly url: string }>): void {
  describe(`Numbers of ended jobs while others end: ${name}`, () => {
    let storage: StorageUnderTest & { readonly url: string };
    let clock: ManualClock;
    let providerId = "";
    const processes: RaceHarness[] = [];
    let first: RaceHarness;
    let second: RaceHarness;

    before(async () => {
      storage = await open();
    });
    after(() => storage.close());
    beforeEach(async () => {
      clock = new ManualClock(NOON);
      providerId = aHash().slice(0, 8);
      first = await RaceHarness.open(storage.url, clock, providerId);
      second = await RaceHarness.open(storage.url, clock, providerId);
      processes.push(first, second);
    });
    afterEach(() => Promise.all(processes.splice(0).map((one) => one.close())));

    /** A job of an account of its own, submitted by the first process. */
    async function aJobUnderWay(): Promise<JobState> {
      const accountId: AccountId = (await storage.addAccount({}, { monthly: 100 })).id;
      const command = anAcceptCommand(accountId);
      await first.accept.accept({ ...command, job: { ...command.job, providerId } });
      const [claimed] = await first.claim("waiting");
      if (claimed === undefined) throw new Error("The job is not due.");
      await first.reports.apply(anIntent(claimed.job));
      return claimed.job;
    }

    /** Numbers what is committed and reads on from the last number that was read. */
    function aReader(by: Pick<StorageUnderTest, "jobs">): () => Promise<JobId[]> {
      let position: number | null = null;
      return async () => {
        await by.jobs.numberEnds(100);
        const last = await by.jobs.lastEndNumber();
        const ends = position === null ? [] : await by.jobs.listEnds(position, 100);
        position = ends.at(-1)?.number ?? position ?? last;
        return ends.map(({ job }) => job.id);
      };
    }

    it("an end that is committed behind a later one is read behind it", async () => {
      const read = aReader(storage);
      await read();
      const [earlier, later] = [await aJobUnderWay(), await aJobUnderWay()];
      const held = first.process.holdAt("before commit");
      const ofEarlier = first.reports.apply(aCompletion(earlier));
      await held.reached;
      clock.set(NOON + 5_000);
      const ofLater = second.reports.apply(aCompletion(later));
      const through = ofLater.then(() => undefined);
      await Promise.race([second.process.blocked(), through]);
      const whileHeld = await readDespite(storage, read);
      held.goOn();
      await ofEarlier;
      second.process.retry();
      await ofLater;
      // Where writers wait for each other, the later one could not be committed first.
      const isAlone = storage.unitOfWork.concurrentWriters === 1;
      expect([whileHeld, await read()]).to.deep.equal(
        isAlone ? [[], [earlier.id, later.id]] : [[later.id], [earlier.id]],
      );
      const moments = [...(await storage.jobs.findJobs([earlier.id, later.id])).values()];
      expect(moments.map(({ completedAt }) => completedAt)).to.deep.equal([NOON, NOON + 5_000]);
    });

    it("an end with an earlier moment that is committed after a read is read next", async () => {
      const read = aReader(storage);
      await read();
      const [one, other] = [await aJobUnderWay(), await aJobUnderWay()];
      clock.set(NOON + 5_000);
      await first.reports.apply(aCompletion(one));
      expect(await read()).to.deep.equal([one.id]);
      clock.set(NOON + 1_000);
      await second.reports.apply(aCompletion(other));
      expect(await read()).to.deep.equal([other.id]);
    });

    it("an end in one commit with the attempt that has just begun keeps the number of attempts", async () => {
      const accountId: AccountId = (await storage.addAccount({}, { monthly: 100 })).id;
      const command = anAcceptCommand(accountId);
      await first.accept.accept({ ...command, job: { ...command.job, providerId } });
      const [claimed] = await first.claim("waiting");
      if (claimed === undefined) throw new Error("The job is not due.");
      const { job } = claimed;
      // The first report is alone in its group; those that come meanwhile are one group.
      const stale = first.reports.apply({ ...anIntent(job), fence: job.fence - 1 });
      const together = Promise.all([first.reports.apply(anIntent(job)), first.reports.apply(aCancellation(job))]);
      expect([(await stale).next, ...(await together).map(({ next }) => next)]).to.deep.equal([
        "stale",
        "continue",
        "done",
      ]);
      const stored = (await storage.jobs.findJobs([job.id])).get(job.id);
      expect(stored).to.include({ status: "failed", attempt: 1 });
    });

    it("two processes that number at once give each end one number, and a third reads them all", async () => {
      const read = aReader(storage);
      await read();
      const jobs = [await aJobUnderWay(), await aJobUnderWay(), await aJobUnderWay()];
      for (const job of jobs) await first.reports.apply(aCompletion(job));
      const numbering = (by: RaceHarness, limit: number): Step<number> => ({
        by,
        begin: () => by.process.stores.jobs.numberEnds(limit),
      });
      const given = await collide("before commit", numbering(first, 2), numbering(second, 2));
      expect(given).to.deep.equal([2, 1]);
      expect(new Set(await read())).to.deep.equal(new Set(jobs.map(({ id }) => id)));
      expect(await read()).to.deep.equal([]);
    });
  });
}

/** A reader on an engine with one writer waits for it to number; what is there to be read does not depend on that. */
async function readDespite(storage: StorageUnderTest, read: () => Promise<JobId[]>): Promise<JobId[]> {
  return storage.unitOfWork.concurrentWriters === 1 ? [] : read();
}
