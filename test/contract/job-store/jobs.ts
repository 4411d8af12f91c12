import { expect } from "chai";
import type { Job } from "../../../core/jobs/job.js";
import type { JobReference, JobUpdate } from "../../../core/ports/job-store.js";
import { aJob, aJobRequest, anId, NOON } from "../../support/builders.js";
import { ended, jobStoreKit, type OpenedJobs } from "./kit.js";

export function jobRows(opened: OpenedJobs): void {
  const { add, find, update } = jobStoreKit(opened);

  describe("references", () => {
    const findByReferences = (...references: readonly JobReference[]): Promise<Job[]> =>
      opened().inTransaction((tx) => opened().jobs.findByReferences(tx, references));

    it("find their job in its account, byte by byte, and nothing when it has none", async () => {
      const accountId = anId("acct");
      const [named, padded, foreign] = [
        aJob({ accountId, reference: "order 17" }),
        aJob({ accountId, reference: "order 17 " }),
        aJob({ reference: "order 17" }),
      ] as const;
      await add(named, padded, foreign, aJob({ accountId }), aJob({ accountId }));
      expect(await findByReferences({ accountId, reference: "order 17" })).to.deep.equal([named]);
      expect(await findByReferences({ accountId, reference: "order 17 " })).to.deep.equal([padded]);
      const ofBoth = [accountId, foreign.accountId].map((owner) => ({ accountId: owner, reference: "order 17" }));
      expect(await findByReferences(...ofBoth)).to.have.deep.members([named, foreign]);
      const ofNone = [
        { accountId, reference: "Order 17" },
        { accountId: anId("acct"), reference: "order 17" },
      ];
      expect(await findByReferences(...ofNone)).to.deep.equal([]);
      expect(await findByReferences()).to.deep.equal([]);
    });

    it("belong to one job of an account: a second one is refused, and nothing of its batch is written", async () => {
      const first = aJob({ reference: "order 17" });
      await add(first);
      const { accountId, reference } = first;
      const [other, second] = [aJob({ accountId }), aJob({ accountId, reference })];
      expect(await add(other, second).catch((error: unknown) => error)).to.be.instanceOf(Error);
      expect(await findByReferences({ accountId, reference: "order 17" })).to.deep.equal([first]);
      expect(await find(other.id)).to.equal(undefined);
    });
  });

  describe("jobs", () => {
    it("stores every member", async () => {
      const bare = aJob();
      const full = aJob({
        reference: "order 17 ",
        requestId: anId("req"),
        trace: { traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`, tracestate: "shop=7" },
        reserved: { monthly: 3, pack: 4 },
        status: "processing",
        phase: "rendering",
        attempt: 2,
        refusals: 1,
        crashes: 1,
        collectionsBegun: 2,
        cancelRequestedAt: NOON + 5,
        fence: 7,
        leaseOwner: anId("prc"),
        dueAt: NOON + 30_000,
        request: aJobRequest({
          ...{ lyrics: "la\nla", durationSeconds: null, instrumental: false, client: "Ä", metadata: { a: [] } },
          options: { seed: 4_294_967_295, strength: 0.1, tiny: 5e-324, loop: false, text: "né\ud800\u0000" },
        }),
      });
      const failed = aJob({
        status: "failed",
        phase: "ended",
        creditsCharged: 0,
        dueAt: null,
        completedAt: NOON + 1,
        endedBy: anId("rpt"),
        error: { code: "invalid_request", message: "no", details: { reason: "content_rejected" } },
      });
      await add(bare, full, failed);
      const found = await opened().jobs.findJobs([bare.id, full.id, failed.id]);
      expect([...found.values()]).to.deep.equal([bare, full, failed]);
    });

    for (const [what, text] of [
      ["lone surrogates", "high \ud83d low \udc00 end"],
      ["NUL", "before\u0000after"],
      ["emoji and combining marks", "👩‍👩‍👧‍👦 é ﷽ \u202e"],
      ["quotes and backslashes", `'"\`\\u0041 ? :name %`],
    ] as const) {
      it(`stores ${what} in prompts, lyrics and metadata`, async () => {
        const job = aJob({
          request: aJobRequest({ prompt: text, lyrics: text, client: text, metadata: { [text]: [text] } }),
        });
        await add(job);
        expect(await find(job.id)).to.deep.equal(job);
      });
    }

    it("stores the largest possible request", async () => {
      const metadata = { blob: "x".repeat(16 * 1024), deep: { a: { b: { c: { d: { e: { f: 1 } } } } } } };
      const job = aJob({
        request: aJobRequest({ prompt: "🎵".repeat(10_000), lyrics: "ÿ".repeat(10_000), metadata }),
      });
      await add(job);
      expect(await find(job.id)).to.deep.equal(job);
    });

    it("adds many jobs at once", async () => {
      const jobs = Array.from({ length: 600 }, () => aJob());
      await add(...jobs);
      const found = await opened().jobs.findJobs(jobs.map((job) => job.id));
      expect([...found.values()]).to.deep.equal(jobs);
    });

    it("omits unknown ids", async () => {
      const job = aJob();
      await add(job);
      expect([...(await opened().jobs.findJobs([anId("job"), job.id])).keys()]).to.deep.equal([job.id]);
    });

    it("refuses a job whose id exists, and stores none of its batch", async () => {
      const [job, other] = [aJob(), aJob()];
      await add(job);
      expect(await add(other, { ...job, modelId: "synth/v2" }).catch((error: unknown) => error)).to.be.instanceOf(
        Error,
      );
      expect([...(await opened().jobs.findJobs([job.id, other.id])).values()]).to.deep.equal([job]);
    });

    it("locks jobs in ascending order of id, each once, omitting unknown ones", async () => {
      const jobs = [aJob(), aJob(), aJob()];
      await add(...jobs);
      const asked = [...jobs.map((job) => job.id).reverse(), anId("job"), ...jobs.map((job) => job.id)];
      const locked = await opened().inTransaction((tx) => opened().jobs.lockJobs(tx, asked));
      expect([...locked.values()]).to.deep.equal(jobs.map(({ request: _request, ...state }) => state));
    });

    it("locks jobs without waiting in the same order, with none busy where no other transaction writes", async () => {
      const jobs = [aJob(), aJob()];
      await add(...jobs);
      const asked = [...jobs.map((job) => job.id).reverse(), anId("job"), ...jobs.map((job) => job.id)];
      const { locked, busy } = await opened().inTransaction((tx) => opened().jobs.tryLockJobs(tx, asked));
      expect([...locked.values()]).to.deep.equal(jobs.map(({ request: _request, ...state }) => state));
      expect([...busy]).to.deep.equal([]);
    });

    it("returns requests separately, omitting unknown ids", async () => {
      const [job, other] = [aJob(), aJob({ request: aJobRequest({ prompt: "another" }) })];
      await add(job, other);
      const requests = await opened().inTransaction((tx) =>
        opened().jobs.requestsOf(tx, [other.id, anId("job"), job.id, job.id]),
      );
      expect(requests).to.deep.equal(
        new Map([
          [other.id, other.request],
          [job.id, job.request],
        ]),
      );
    });

    it("accepts empty lists", async () => {
      await add();
      expect(await update()).to.equal(0);
      expect((await opened().jobs.findJobs([])).size).to.equal(0);
      await opened().inTransaction(async (tx) => {
        await opened().jobs.insertAttempts(tx, []);
        expect((await opened().jobs.lockJobs(tx, [])).size).to.equal(0);
      });
    });
  });

  describe("updates", () => {
    it("write every mutable member, and nothing else", async () => {
      const job = aJob();
      await add(job);
      const changes: Required<JobUpdate["changes"]> = {
        providerId: "fallback",
        servedModelId: "fallback/v1",
        operation: "music_fallback_full",
        status: "failed",
        phase: "ended",
        attempt: 3,
        refusals: 2,
        crashes: 1,
        collectionsBegun: 2,
        cancelRequestedAt: NOON + 5,
        fence: 5,
        leaseOwner: null,
        dueAt: null,
        error: { code: "generation_failed", message: "The provider could not create the track." },
        creditsCharged: 0,
        completedAt: NOON + 9,
        endedBy: anId("rpt"),
      };
      expect(await update({ id: job.id, fence: 0, changes })).to.equal(1);
      expect(await find(job.id)).to.deep.equal({ ...job, ...changes });
    });

    it("clear members set to null and keep those that are not named", async () => {
      const error = { code: "generation_failed", message: "It failed." } as const;
      const job = aJob({ error, leaseOwner: anId("prc"), status: "processing" });
      await add(job);
      await update({ id: job.id, fence: 0, changes: { leaseOwner: null, attempt: undefined } });
      expect(await find(job.id)).to.deep.equal({ ...job, leaseOwner: null });
      await update({ id: job.id, fence: 0, changes: { error: null } });
      expect(await find(job.id)).to.deep.equal({ ...job, leaseOwner: null, error: null });
    });

    it("write only under the current fence", async () => {
      const [stale, current] = [aJob({ fence: 2 }), aJob({ fence: 2 })];
      await add(stale, current);
      const written = await update(
        { id: stale.id, fence: 1, changes: { attempt: 9 } },
        { id: current.id, fence: 2, changes: { attempt: 1 } },
        { id: anId("job"), fence: 0, changes: { attempt: 1 } },
      );
      expect(written).to.equal(1);
      expect(await find(stale.id)).to.deep.equal(stale);
      expect(await find(current.id)).to.deep.equal({ ...current, attempt: 1 });
    });

    it("apply different members in one call, in order", async () => {
      const [first, second] = [aJob(), aJob()];
      await add(first, second);
      const written = await update(
        { id: first.id, fence: 0, changes: { attempt: 1, fence: 1 } },
        { id: second.id, fence: 0, changes: { dueAt: NOON + 1 } },
        { id: first.id, fence: 1, changes: { refusals: 1 } },
        { id: second.id, fence: 0, changes: {} },
      );
      expect(written).to.equal(4);
      expect(await find(first.id)).to.include({ attempt: 1, fence: 1, refusals: 1 });
      expect(await find(second.id)).to.include({ dueAt: NOON + 1 });
    });

    it("settle a large batch", async () => {
      const jobs = Array.from({ length: 256 }, () => aJob());
      await add(...jobs);
      const written = await update(...jobs.map((job) => ({ id: job.id, fence: 0, changes: ended("completed") })));
      expect(written).to.equal(256);
      const found = await opened().jobs.findJobs(jobs.map((job) => job.id));
      expect(new Set([...found.values()].map((job) => job.status))).to.deep.equal(new Set(["completed"]));
    });

    it("write each job's own values, where many change the same members", async () => {
      const jobs = Array.from({ length: 70 }, (_, index) => aJob({ fence: index % 3, dueAt: NOON }));
      await add(...jobs);
      const changesOf = (index: number): JobUpdate["changes"] => ({
        status: index === 5 ? "failed" : "processing",
        dueAt: index % 2 === 0 ? null : NOON + index,
        endedBy: index % 4 === 0 ? null : anId("rpt"),
        error: index === 5 ? { code: "generation_failed", message: "It's \\ ? failed." } : null,
      });
      const updates = jobs.map(({ id, fence }, index) => ({ id, fence, changes: changesOf(index) }));
      expect(await update(...updates)).to.equal(70);
      const found = await opened().jobs.findJobs(jobs.map(({ id }) => id));
      const expected = jobs.map((job, index) => ({ ...job, ...updates[index]?.changes }));
      expect(jobs.map(({ id }) => found.get(id))).to.deep.equal(expected);
    });

    it("refuse an unknown status or phase", async () => {
      const job = aJob();
      await add(job);
      for (const changes of [{ status: "cancelled" }, { phase: "dreaming" }]) {
        const outcome = update({ id: job.id, fence: 0, changes: changes as unknown as JobUpdate["changes"] });
        expect(await outcome.catch((error: unknown) => error)).to.be.instanceOf(Error);
      }
      expect(await find(job.id)).to.deep.equal(job);
    });
  });
}
