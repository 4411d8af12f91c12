import { expect } from "chai";
import type { JobId } from "../../../core/ids.js";
import type { Job } from "../../../core/jobs/job.js";
import type { NextDueAt } from "../../../core/ports/job-claims.js";
import { aJob, anId, NOON } from "../../support/builders.js";
import { ended, jobStoreKit, type OpenedJobs } from "./kit.js";

const NONE_DUE = { waiting: null, submitting: null, rendering: null };

export function jobClaims(opened: OpenedJobs): void {
  const { add, find, update, claim, aProviderId } = jobStoreKit(opened);

  describe("claims", () => {
    it("leave jobs with an expired lease to their owners on request", async () => {
      const providerId = aProviderId();
      const [free, owned] = [
        aJob({ providerId, dueAt: NOON }),
        aJob({ providerId, dueAt: NOON - 1, leaseOwner: anId("prc"), status: "processing" }),
      ];
      await add(free, owned);
      const request = {
        providerId,
        phases: ["waiting"],
        limit: 5,
        now: NOON,
        owner: anId("prc"),
        leaseUntil: NOON + 1,
      } as const;
      expect((await opened().jobs.claimJobs({ ...request, leaveOwned: true })).map(({ job }) => job.id)).to.deep.equal([
        free.id,
      ]);
      expect((await opened().jobs.claimJobs(request)).map(({ job, wasLost }) => [job.id, wasLost])).to.deep.equal([
        [owned.id, true],
      ]);
    });

    it("take a due job under a new fence, leased and processing", async () => {
      const job = aJob({ providerId: aProviderId(), fence: 4, dueAt: NOON, crashes: 1 });
      await add(job);
      const owner = anId("prc");
      const claims = await claim({ providerId: job.providerId, owner, leaseUntil: NOON + 5 });
      const after: Job = { ...job, status: "processing", fence: 5, leaseOwner: owner, dueAt: NOON + 5 };
      const { request: _request, ...state } = after;
      expect(claims).to.deep.equal([{ job: state, request: null, attempts: [], wasLost: false }]);
      expect(await find(job.id)).to.deep.equal(after);
    });

    it("bring what the callers asked for, where that is wanted", async () => {
      const providerId = aProviderId();
      const jobs = [aJob({ providerId, dueAt: NOON - 1 }), aJob({ providerId, dueAt: NOON })];
      await add(...jobs);
      const claims = await claim({ providerId, withRequests: true });
      expect(claims.map(({ request }) => request)).to.deep.equal(jobs.map(({ request }) => request));
    });

    it("leave jobs that are not due, of another provider, in another phase, or ended", async () => {
      const providerId = aProviderId();
      await add(
        aJob({ providerId, dueAt: NOON + 1 }),
        aJob({ providerId: aProviderId(), dueAt: NOON }),
        aJob({ providerId, dueAt: NOON, status: "processing", phase: "rendering" }),
        aJob({ providerId, ...ended("failed") }),
      );
      expect(await claim({ providerId })).to.deep.equal([]);
      expect(await claim({ providerId, phases: ["rendering"] })).to.have.length(1);
      expect(await claim({ providerId, phases: [] })).to.deep.equal([]);
    });

    it("take the longest due first, whatever their phases, up to the limit", async () => {
      const providerId = aProviderId();
      const due = (dueAt: number, phase: Job["phase"]): Job => aJob({ providerId, dueAt, phase });
      const [third, first, second, fourth] = [
        due(NOON - 1, "waiting"),
        due(NOON - 3, "rendering"),
        due(NOON - 2, "waiting"),
        due(NOON, "submitting"),
      ];
      await add(third, first, second, fourth);
      const phases = ["waiting", "submitting", "rendering"] as const;
      const ids = async (limit: number): Promise<JobId[]> =>
        (await claim({ providerId, phases, limit })).map(({ job }) => job.id);
      expect(await ids(0)).to.deep.equal([]);
      expect(await ids(1)).to.deep.equal([first.id]);
      expect(await ids(1)).to.deep.equal([second.id]);
      expect(await ids(3)).to.deep.equal([third.id, fourth.id]);
    });

    it("leave what was due before the first of its phase at the last look", async () => {
      const providerId = aProviderId();
      const due = (dueAt: number, phase: Job["phase"]): Job => aJob({ providerId, dueAt, phase });
      const [before, first, second, polled] = [
        due(NOON - 3, "waiting"),
        due(NOON - 2, "waiting"),
        due(NOON - 1, "waiting"),
        due(NOON - 4, "rendering"),
      ];
      await add(before, first, second, polled);
      const phases = ["waiting", "rendering"] as const;
      const ids = async (dueFrom: Partial<NextDueAt>): Promise<JobId[]> =>
        (await claim({ providerId, phases, dueFrom })).map(({ job }) => job.id);
      expect(await ids({ waiting: NOON - 2, rendering: null })).to.deep.equal([polled.id, first.id, second.id]);
      expect(await ids({})).to.deep.equal([before.id]);
    });

    it("leave a leased job until its lease ends", async () => {
      const job = aJob({ providerId: aProviderId() });
      await add(job);
      await claim({ providerId: job.providerId, leaseUntil: NOON + 10 });
      expect(await claim({ providerId: job.providerId, now: NOON + 9 })).to.deep.equal([]);
      expect(await claim({ providerId: job.providerId, now: NOON + 10 })).to.have.length(1);
    });

    it("skip the named jobs, and take the next ones instead", async () => {
      const providerId = aProviderId();
      const due = (dueAt: number, phase: Job["phase"] = "waiting"): Job => aJob({ providerId, dueAt, phase });
      const [first, second, third, asked] = [due(NOON - 4), due(NOON - 3), due(NOON - 2), due(NOON - 1, "rendering")];
      await add(first, second, third, asked);
      const phases = ["waiting", "rendering"] as const;
      const ids = async (limit: number, ...except: readonly JobId[]): Promise<JobId[]> =>
        (await claim({ providerId, phases, limit, except })).map(({ job }) => job.id);
      expect(await ids(1, first.id, anId("job"))).to.deep.equal([second.id]);
      expect(await ids(9, first.id, asked.id)).to.deep.equal([third.id]);
      expect(await ids(9, first.id, asked.id)).to.deep.equal([]);
      expect(await ids(9)).to.deep.equal([first.id, asked.id]);
    });

    it("count a lost worker when its lease was not released, and keep its started collection", async () => {
      const job = aJob({ providerId: aProviderId(), collectionsBegun: 1 });
      await add(job);
      await claim({ providerId: job.providerId, leaseUntil: NOON });
      const owner = anId("prc");
      const [again] = await claim({ providerId: job.providerId, owner });
      expect(again?.wasLost).to.equal(true);
      expect(again?.job).to.include({ fence: 2, crashes: 1, collectionsBegun: 1, leaseOwner: owner });
      expect(await find(job.id)).to.deep.equal({ ...again?.job, request: job.request });
    });

    it("count no lost worker when the lease was released", async () => {
      const job = aJob({ providerId: aProviderId() });
      await add(job);
      await claim({ providerId: job.providerId });
      await update({ id: job.id, fence: 1, changes: { status: "queued", leaseOwner: null, dueAt: NOON } });
      const [again] = await claim({ providerId: job.providerId });
      expect(again).to.deep.include({ wasLost: false });
      expect(again?.job).to.include({ fence: 2, crashes: 0 });
    });

    it("never give one job to two workers, however many claim at once", async () => {
      const providerId = aProviderId();
      const jobs = Array.from({ length: 100 }, () => aJob({ providerId }));
      await add(...jobs);
      const claims = await Promise.all(Array.from({ length: 30 }, () => claim({ providerId, limit: 7 })));
      const ids = claims.flat().map(({ job }) => job.id);
      expect(ids).to.have.length(100);
      expect(new Set(ids)).to.deep.equal(new Set(jobs.map((job) => job.id)));
    });
  });

  describe("leases", () => {
    it("are extended by owner and id, and the fences that it holds are returned", async () => {
      const providerId = aProviderId();
      const [mine, alsoMine, theirs] = [aJob({ providerId }), aJob({ providerId, fence: 8 }), aJob({ providerId })];
      const forgotten = aJob({ providerId });
      const [owner, other] = [anId("prc"), anId("prc")];
      await add(mine, alsoMine, forgotten);
      await claim({ providerId, owner });
      await add(theirs);
      await claim({ providerId, owner: other });
      const held = await opened().jobs.renewLeases(owner, [mine.id, alsoMine.id, theirs.id], NOON + 99_000);
      expect(held).to.deep.equal(
        new Map([
          [mine.id, 1],
          [alsoMine.id, 9],
        ]),
      );
      expect((await find(mine.id))?.dueAt).to.equal(NOON + 99_000);
      expect((await find(theirs.id))?.dueAt).to.equal(NOON + 30_000);
      expect((await find(forgotten.id))?.dueAt).to.equal(NOON + 30_000);
    });

    it("are none for an owner without any", async () => {
      expect((await opened().jobs.renewLeases(anId("prc"), [anId("job")], NOON)).size).to.equal(0);
      expect((await opened().jobs.renewLeases(anId("prc"), [], NOON)).size).to.equal(0);
    });

    it("are lost when another worker has claimed the job since", async () => {
      const job = aJob({ providerId: aProviderId() });
      await add(job);
      const owner = anId("prc");
      await claim({ providerId: job.providerId, owner, leaseUntil: NOON });
      await claim({ providerId: job.providerId, leaseUntil: NOON + 7 });
      expect((await opened().jobs.renewLeases(owner, [job.id], NOON + 99_000)).size).to.equal(0);
      expect((await find(job.id))?.dueAt).to.equal(NOON + 7);
    });

    it("determine with the due times when a provider's next job of each phase is due", async () => {
      const providerId = aProviderId();
      expect(await opened().jobs.nextDueAt(providerId)).to.deep.equal(NONE_DUE);
      await add(
        aJob({ providerId, dueAt: NOON + 4 }),
        aJob({ providerId, dueAt: NOON + 3 }),
        aJob({ providerId, dueAt: NOON + 2, status: "processing", phase: "rendering", leaseOwner: anId("prc") }),
        aJob({ providerId, ...ended("completed") }),
        aJob({ providerId: aProviderId(), dueAt: NOON }),
      );
      expect(await opened().jobs.nextDueAt(providerId)).to.deep.equal({
        waiting: NOON + 3,
        submitting: null,
        rendering: NOON + 2,
      });
    });

    it("determine no due time when all of a provider's jobs have ended", async () => {
      const job = aJob({ providerId: aProviderId(), ...ended("failed") });
      await add(job);
      expect(await opened().jobs.nextDueAt(job.providerId)).to.deep.equal(NONE_DUE);
    });
  });
}
