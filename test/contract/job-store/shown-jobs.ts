import { expect } from "chai";
import type { AccountId } from "../../../core/ids.js";
import type { Job, JobSummary } from "../../../core/jobs/job.js";
import type { ShownJobFilter, ShownState, ShownSummary, ShownTrackState } from "../../../core/ports/job-store.js";
import { aJob, aJobRequest, anId, aTrack, NOON } from "../../support/builders.js";
import { ascending, ended, jobStoreKit, type OpenedJobs } from "./kit.js";

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
      expect(found).to.deep.equal(new Map([plain, full].map((job) => [job.id, { ...shown(job), tracks: [] }])));
      expect((await opened().jobs.findShownJobs([])).size).to.equal(0);
    });

    it("are found with all that can change of their tracks, which is nothing of other jobs", async () => {
      const [one, two, none] = [aJob(ended("completed")), aJob(ended("completed")), aJob(ended("completed"))];
      await add(one, two, none);
      const tracks = [
        aTrack({ jobId: one.id, position: 0 }),
        aTrack({ jobId: one.id, position: 1, linkGeneration: 3 }),
        aTrack({ jobId: two.id, shareToken: `${anId("trk")}_-Az09` }),
      ];
      await opened().inTransaction((tx) => opened().library.insertTracks(tx, [...tracks, aTrack()]));
      const found = await opened().jobs.findShownJobs([two.id, none.id, one.id]);
      const tracksOf = ({ id }: Job): readonly ShownTrackState[] => ascending(found.get(id) as ShownSummary).tracks;
      const states = tracks.map(({ id, shareToken, linkGeneration }) => ({ id, shareToken, linkGeneration }));
      expect(tracksOf(one)).to.have.deep.members(states.slice(0, 2));
      expect([tracksOf(two), tracksOf(none)]).to.deep.equal([states.slice(2), []]);
      for (const { id, accountId, status, creditsCharged, createdAt } of [one, two, none]) {
        const state = (await opened().jobs.newestShownStates([accountId], "music", 5)).get(accountId);
        const shownTracks = ascending(found.get(id) as ShownSummary).tracks;
        expect(state?.map(ascending)).to.deep.equal([
          { id, accountId, status, creditsCharged, createdAt, tracks: shownTracks },
        ]);
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
        newest.set(
          accountId,
          jobs.map(({ id, status, creditsCharged, createdAt }) => ({
            ...{ id, accountId, status, creditsCharged, createdAt, tracks: [] },
          })),
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
