import { expect } from "chai";
import type { AccountId } from "../../../core/ids.js";
import type { Job, JobSummary } from "../../../core/jobs/job.js";
import type { JobChanges, ShownJobFilter, ShownState } from "../../../core/ports/job-store.js";
import type { Transaction } from "../../../core/ports/unit-of-work.js";
import { aJob, aJobRequest, anId, aTrack, NOON } from "../../support/builders.js";
import { ended, jobStoreKit, type OpenedJobs } from "./kit.js";

export function shownJobs(opened: OpenedJobs): void {
  const { add } = jobStoreKit(opened);

  describe("jobs as lists show them", () => {
    const shown = (job: Job): JobSummary => ({
      id: job.id,
      accountId: job.accountId,
      kind: job.kind,
      modelId: job.modelId,
      requestId: job.requestId,
      status: job.status,
      creditsCharged: job.creditsCharged,
      createdAt: job.createdAt,
      completedAt: job.completedAt,
      error: job.error,
      request: {
        options: job.request.options,
        sourceTrackId: job.request.sourceTrackId,
        sourceUse: job.request.sourceUse,
      },
    });

    it("are found by id; unknown ids are left out", async () => {
      const plain = aJob({ request: aJobRequest({ lyrics: "la ".repeat(3_000) }) });
      const sourceUse = { mode: "extend", fromSeconds: 1.5, toSeconds: null, strength: null } as const;
      const request = aJobRequest({ options: { seed: 42, loop: true }, sourceTrackId: anId("trk"), sourceUse });
      const full = aJob({ request, ...ended("failed"), error: { code: "generation_failed", message: "No." } });
      await add(plain, full);
      const found = await opened().jobs.findShownJobs([plain.id, anId("job"), full.id]);
      expect([...found.keys()]).to.have.members([plain.id, full.id]);
      for (const job of [plain, full]) expect(found.get(job.id)).to.deep.include(shown(job));
      expect((await opened().jobs.findShownJobs([])).size).to.equal(0);
    });

    it("have another version whenever what they show changes, the same however they are read", async () => {
      const [job, other] = [aJob(), aJob()];
      await add(job, other);
      const tracks = [0, 1].map((position) => aTrack({ jobId: job.id, position }));
      const [track, second] = tracks as [(typeof tracks)[0], (typeof tracks)[0]];
      const { jobs, library, erasures } = opened();
      const change = (changes: JobChanges) => (tx: Transaction) =>
        jobs.updateJobs(tx, [{ id: job.id, fence: job.fence, changes }]);
      const versions = new Set<string>();
      for (const work of [
        async () => undefined,
        change({ status: "processing" }),
        change(ended("completed")),
        (tx: Transaction) => library.insertTracks(tx, [track, aTrack({ jobId: other.id })]),
        (tx: Transaction) => library.insertTracks(tx, [second]),
        (tx: Transaction) => library.shareTrack(tx, track.id, `${anId("trk")}_-Az09`),
        (tx: Transaction) => library.unshareTrack(tx, track.id),
        (tx: Transaction) => library.shareTrack(tx, track.id, "0"),
        (tx: Transaction) => erasures.eraseTrack(tx, second.id, NOON),
        change({ creditsCharged: job.creditsCharged + 1 }),
        change(ended("failed")),
      ]) {
        await opened().inTransaction<unknown>(work);
        const found = await jobs.findShownJobs([other.id, job.id]);
        const version = found.get(job.id)?.version ?? "";
        const newest = await jobs.newestShownStates([other.accountId, job.accountId], "music", 5);
        expect(newest.get(job.accountId)).to.deep.equal([{ id: job.id, createdAt: job.createdAt, version }]);
        expect(versions).not.to.include(version);
        versions.add(version);
      }
    });

    it("are listed by account and kind in every state, the newest first, behind a job", async () => {
      const accountId = anId("acct");
      const jobs = (["queued", "processing", "completed", "failed"] as const).map((status, age) =>
        aJob({ accountId, createdAt: NOON - Math.floor(age / 2), ...ended(status) }),
      );
      jobs.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
      await add(...jobs, aJob(), aJob({ accountId, kind: "stem_split", operation: "stem_split" }));
      const list = (filter: Partial<ShownJobFilter>): Promise<JobSummary[]> =>
        opened().jobs.listShownJobs({ accountId, kind: "music", limit: 100, ...filter });
      expect(await list({})).to.deep.equal(jobs.map(shown));
      expect(await list({ limit: 2 })).to.deep.equal(jobs.slice(0, 2).map(shown));
      for (const [index, after] of jobs.entries())
        expect(await list({ after })).to.deep.equal(jobs.slice(index + 1).map(shown));
    });

    it("are listed of several accounts at once, each by itself", async () => {
      const accountIds = Array.from({ length: 20 }, () => anId("acct"));
      const jobsOf = new Map(
        accountIds.map((accountId, number) => [
          accountId,
          [0, 1, 1, 2].map((age) => aJob({ accountId, createdAt: NOON - number - age, ...ended("completed") })),
        ]),
      );
      const [first = anId("acct")] = accountIds;
      await add(
        ...[...jobsOf.values()].flat(),
        aJob({ accountId: first, kind: "stem_split", operation: "stem_split" }),
      );
      const newest = new Map<AccountId, ShownState[]>();
      for (const accountId of accountIds) {
        const jobs = await opened().jobs.listShownJobs({ accountId, kind: "music", limit: 3 });
        const found = await opened().jobs.findShownJobs(jobs.map(({ id }) => id));
        newest.set(
          accountId,
          jobs.map(({ id, createdAt }) => ({ id, createdAt, version: found.get(id)?.version ?? "" })),
        );
      }
      expect(newest.get(first)).to.have.length(3);
      const asked = [anId("acct"), ...accountIds].reverse();
      expect(await opened().jobs.newestShownStates(asked, "music", 3)).to.deep.equal(newest);
      expect(await opened().jobs.newestShownStates([first], "music", 3)).to.deep.equal(
        new Map([[first, newest.get(first)]]),
      );
      expect((await opened().jobs.newestShownStates([], "music", 3)).size).to.equal(0);
    });
  });
}
