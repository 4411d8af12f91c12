import { expect } from "chai";
import type { JobId } from "../../../core/ids.js";
import type { Job, JobStatus } from "../../../core/jobs/job.js";
import type { JobFilter } from "../../../core/ports/job-store.js";
import { aHash, aJob, anId, NOON } from "../../support/builders.js";
import { ended, jobStoreKit, type OpenedJobs } from "./kit.js";

export function jobLists(opened: OpenedJobs): void {
  const { add } = jobStoreKit(opened);

  describe("lists", () => {
    const list = async (filter: Partial<JobFilter>): Promise<JobId[]> =>
      (await opened().jobs.listJobs({ limit: 100, ...filter })).map((job) => job.id);

    it("have the newest first, then by id", async () => {
      const accountId = anId("acct");
      const [tieLow, newest, tieHigh, oldest] = [
        aJob({ accountId, createdAt: NOON }),
        aJob({ accountId, createdAt: NOON + 1, ...ended("completed") }),
        aJob({ accountId, createdAt: NOON, ...ended("failed") }),
        aJob({ accountId, createdAt: NOON - 1 }),
      ];
      await add(tieLow, newest, tieHigh, oldest);
      expect(await list({ accountId })).to.deep.equal([newest.id, tieHigh.id, tieLow.id, oldest.id]);
    });

    it("have whole jobs", async () => {
      const job = aJob();
      await add(job);
      expect(await opened().jobs.listJobs({ accountId: job.accountId, limit: 1 })).to.deep.equal([job]);
    });

    it("have at most as many as the limit, the newest of all statuses", async () => {
      const accountId = anId("acct");
      const statuses: readonly JobStatus[] = ["queued", "processing", "completed", "failed"];
      const jobs = Array.from({ length: 12 }, (_, age) =>
        aJob({ accountId, createdAt: NOON - age, ...ended(statuses[age % 4] as JobStatus) }),
      );
      await add(...jobs);
      expect(await list({ accountId, limit: 5 })).to.deep.equal(jobs.slice(0, 5).map((job) => job.id));
      expect(await list({ accountId, limit: 0 })).to.deep.equal([]);
    });

    it("have the jobs of a provider, and those behind a job", async () => {
      const providerId = aHash().slice(0, 8);
      const of = { providerId, accountId: anId("acct") };
      const [newest, high, low, oldest] = [
        aJob({ ...of, createdAt: NOON + 1 }),
        aJob({ ...of, ...ended("failed") }),
        aJob({ ...of }),
        aJob({ ...of, createdAt: NOON - 1, ...ended("completed") }),
      ].sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1)) as [Job, Job, Job, Job];
      await add(low, newest, oldest, high, aJob({ accountId: of.accountId }));
      expect(await list({ providerId })).to.deep.equal([newest.id, high.id, low.id, oldest.id]);
      expect(await list({ providerId, after: high })).to.deep.equal([low.id, oldest.id]);
      expect(await list({ providerId, after: oldest })).to.deep.equal([]);
      expect(await list({ providerId, accountId: anId("acct") })).to.deep.equal([]);
    });

    it("continue among jobs of one moment by their ids", async () => {
      const accountId = anId("acct");
      const [low, middle, high] = [aJob({ accountId }), aJob({ accountId }), aJob({ accountId })];
      await add(middle, high, low);
      expect(await list({ accountId, limit: 2 })).to.deep.equal([high.id, middle.id]);
      expect(await list({ accountId, status: "queued", limit: 1 })).to.deep.equal([high.id]);
    });

    it("filter by account, status and kind", async () => {
      const accountId = anId("acct");
      const [queued, completed] = [aJob({ accountId }), aJob({ accountId, ...ended("completed") })];
      await add(queued, completed, aJob());
      expect(await list({ accountId, status: "completed" })).to.deep.equal([completed.id]);
      expect(await list({ accountId, status: "failed" })).to.deep.equal([]);
      expect(await list({ accountId, status: "queued", kind: "music" })).to.deep.equal([queued.id]);
      expect(await list({ accountId, kind: "music" })).to.have.members([queued.id, completed.id]);
      expect(await list({ accountId: anId("acct") })).to.deep.equal([]);
    });

    it("cover the jobs of all accounts", async () => {
      const later = NOON + 1_000_000;
      const [first, second] = [aJob({ createdAt: later }), aJob({ createdAt: later + 1, ...ended("failed") })];
      await add(first, second);
      expect(await list({ limit: 2 })).to.deep.equal([second.id, first.id]);
      expect(await list({ limit: 1, status: "queued" })).to.deep.equal([first.id]);
    });

    it("have waiting jobs from before a moment, oldest first", async () => {
      const past = NOON - 1_000_000_000;
      const [second, first, atTheMoment, rendering, done] = [
        aJob({ createdAt: past - 1, status: "processing", leaseOwner: anId("prc") }),
        aJob({ createdAt: past - 2 }),
        aJob({ createdAt: past }),
        aJob({ createdAt: past - 2, status: "processing", phase: "rendering" }),
        aJob({ createdAt: past - 3, ...ended("completed") }),
      ];
      await add(second, first, atTheMoment, rendering, done);
      expect(await opened().jobs.findOverdue(past, 10)).to.deep.equal([first, second]);
      expect(await opened().jobs.findOverdue(past, 1)).to.deep.equal([first]);
      expect(await opened().jobs.findOverdue(past - 2, 10)).to.deep.equal([]);
    });
  });
}
