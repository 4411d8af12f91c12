import { expect } from "chai";
import type { AccountId } from "../../core/ids.js";
import type { ClaimedJob } from "../../core/ports/job-claims.js";
import { aHash, NOON } from "../support/builders.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { RaceHarness } from "../support/race-harness.js";
import { aCompletion, anIntent, aReport } from "../support/reports.js";
import type { StorageUnderTest } from "../support/storage-under-test.js";
import { anAcceptCommand } from "../unit/core/jobs/commands.js";

/** Readers go on behind the last event that they have seen: none may become visible in front of it later. */
export function describeEventRaces(
  name: string,
  open: () => Promise<StorageUnderTest & { readonly url: string }>,
): void {
  describe(`Events of jobs that end at the same time: ${name}`, () => {
    let storage: StorageUnderTest & { readonly url: string };
    before(async () => {
      storage = await open();
    });
    after(() => storage.close());

    /** Two rendering jobs of an account, each of them with a process of its own. */
    async function twoJobs(accountId: AccountId): Promise<readonly { by: RaceHarness; job: ClaimedJob["job"] }[]> {
      const clock = new ManualClock(NOON);
      const jobs = [];
      for (const providerId of [aHash().slice(0, 8), aHash().slice(0, 8)]) {
        const by = await RaceHarness.open(storage.url, clock, providerId);
        opened.push(by);
        const command = anAcceptCommand(accountId);
        await by.accept.accept({ ...command, job: { ...command.job, providerId } });
        const [claimed] = await by.claim("waiting");
        const { job } = claimed as ClaimedJob;
        await by.reports.apply(anIntent(job));
        const handle = { version: 1, data: { task: "1" } };
        await by.reports.apply(aReport(job, { type: "accepted", number: 1, handle, nextPollMs: 50 }));
        clock.set(clock.now() + 50);
        const [rendering] = await by.claim("rendering");
        jobs.push({ by, job: (rendering as ClaimedJob).job });
      }
      return jobs;
    }

    const opened: RaceHarness[] = [];
    afterEach(async () => {
      for (const by of opened.splice(0)) await by.close();
    });

    const idsBehind = async (accountId: AccountId, after: number): Promise<(readonly [string | null, number])[]> =>
      (await storage.webhooks.listEvents(accountId, after, 10)).map(({ jobId, number }) => [jobId, number ?? 0]);

    it("the one that is committed later has the higher number", async () => {
      const accountId = (await storage.addAccount({}, { monthly: 100 })).id;
      const [one, other] = (await twoJobs(accountId)) as [
        { by: RaceHarness; job: ClaimedJob["job"] },
        { by: RaceHarness; job: ClaimedJob["job"] },
      ];
      const held = one.by.process.holdAt("before commit");
      const first = one.by.reports.apply(aCompletion(one.job));
      await held.reached;
      const second = other.by.reports.apply(aCompletion(other.job));
      await other.by.process.blocked();
      expect(await idsBehind(accountId, 0)).to.deep.equal([]);
      held.goOn();
      await first;
      const [[firstJob, firstNumber] = [null, 0]] = await idsBehind(accountId, 0);
      expect(firstJob).to.equal(one.job.id);
      other.by.process.retry();
      await second;
      const [[secondJob] = [null]] = await idsBehind(accountId, firstNumber);
      expect(secondJob).to.equal(other.job.id);
    });
  });
}
