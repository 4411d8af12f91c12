import { expect } from "chai";
import { findQueueAges, queueAgesBySteps, sampleQueueAges } from "../../../core/figures/queue-ages.js";
import type { MaintenanceTask } from "../../../core/maintenance/maintenance.js";
import { aJob } from "../../support/builders.js";
import { sqliteStorage } from "../../support/databases.js";
import { ManualClock } from "../../support/doubles/manual-clock.js";
import { mysqlStorage } from "../../support/mysql.js";
import type { StorageUnderTest } from "../../support/storage-under-test.js";

const NEVER = new AbortController().signal;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

for (const { name, open } of [sqliteStorage, mysqlStorage]) {
  describe(`The age of the queue over time, ${name}`, () => {
    let storage: StorageUnderTest;
    let clock: ManualClock;
    beforeEach(async () => {
      storage = await open();
      clock = new ManualClock();
    });
    afterEach(() => storage.close());

    function aProcess(): MaintenanceTask {
      const provider = { id: "scripted", label: "Scripted", enabled: true, models: [], isReachable: false };
      return sampleQueueAges({ ...storage, clock, catalogue: { providers: [provider] } });
    }

    it("is kept by minutes and hours, by all processes together, for a little more than a day", async () => {
      const [one, other] = [aProcess(), aProcess()];
      await one.run(NEVER);
      expect(await agesOfLast(MINUTE_MS, 2)).to.deep.equal([null, 0]);
      const dueAt = clock.now();
      await storage.inTransaction((tx) =>
        storage.jobs.insertJobs(tx, [aJob({ providerId: "scripted", createdAt: dueAt, dueAt })]),
      );
      await clock.advance(MINUTE_MS);
      await Promise.all([one.run(NEVER), other.run(NEVER)]);
      expect((await findQueueAges(storage.installation)).at(-1)).to.deep.equal({ at: clock.now(), ms: MINUTE_MS });
      for (let hours = 0; hours < 30; hours++) {
        await clock.advance(HOUR_MS);
        await other.run(NEVER);
      }
      const hours = await agesOfLast(HOUR_MS, 24);
      expect(hours.at(-1)).to.equal(30 * HOUR_MS + MINUTE_MS);
      expect(hours).not.to.include(null);
      expect((await findQueueAges(storage.installation)).length).to.be.within(25, 25 + 61);
    });

    async function agesOfLast(stepMs: number, count: number): Promise<(number | null)[]> {
      const last = clock.now() - (clock.now() % stepMs);
      return queueAgesBySteps(await findQueueAges(storage.installation), {
        from: last - (count - 1) * stepMs,
        stepMs,
        count,
      });
    }
  });
}
