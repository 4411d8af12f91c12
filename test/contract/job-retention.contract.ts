import { expect } from "chai";
import type { JobId } from "../../core/ids.js";
import { wordlessRequest } from "../../core/jobs/erased-job.js";
import type { Job, JobAttempt } from "../../core/jobs/job.js";
import { aJob, aJobRequest, anAttempt, anId, NOON } from "../support/builders.js";
import type { StorageWith } from "../support/storage-under-test.js";

type Storage = StorageWith<"jobs" | "erasures">;

const SAID = {
  handle: { portVersion: 1, data: { prompt: "secret" } },
  message: "secret",
  progress: { percent: 10, queuePosition: null, at: NOON },
} as unknown as Partial<JobAttempt>;
const FORGOTTEN = { handle: null, message: null, progress: null, result: null, files: null };

/**
 * The promises of every `JobStore` about what it deletes of old jobs.
 *
 * @param open opens a storage without rows, once for each test; {@link storageUnderTest} creates it
 */
export function jobRetentionContract(name: string, open: () => Promise<Storage>): void {
  describe(`Retention contract of jobs: ${name}`, () => {
    let storage: Storage;
    beforeEach(async () => {
      storage = await open();
    });
    afterEach(() => storage.close());

    const add = (jobs: readonly Job[], attempts: readonly JobAttempt[] = []): Promise<void> =>
      storage.inTransaction(async (tx) => {
        await storage.jobs.insertJobs(tx, jobs);
        await storage.jobs.insertAttempts(tx, attempts);
      });
    const deleteRequests = (before: number, limit = 100): Promise<number> =>
      storage.inTransaction((tx) => storage.jobs.deleteRequests(tx, before, limit));
    const deleteAttempts = (before: number, limit = 100): Promise<number> =>
      storage.inTransaction((tx) => storage.jobs.deleteAttempts(tx, before, limit));
    const ended = (createdAt: number, given: Partial<Job> = {}): Job =>
      aJob({
        ...{ status: "completed", phase: "ended", dueAt: null, createdAt, completedAt: createdAt + 1 },
        request: aJobRequest({ prompt: "secret", lyrics: "secret", client: "shop", metadata: { a: "secret" } }),
        ...given,
      });
    const find = async (id: JobId): Promise<Job | undefined> => (await storage.jobs.findJobs([id])).get(id);

    it("deletes what old jobs were asked for, and nothing else of them", async () => {
      const [old, failed, young] = [ended(NOON), ended(NOON + 1, { status: "failed" }), ended(NOON + 2)];
      await add([old, failed, young]);
      expect(await deleteRequests(NOON + 2)).to.equal(2);
      for (const job of [old, failed])
        expect(await find(job.id)).to.deep.equal({ ...job, request: wordlessRequest(job.request) });
      expect(await find(young.id)).to.deep.equal(young);
      expect(wordlessRequest(old.request)).to.include({ prompt: "", lyrics: null, metadata: null, client: "shop" });
    });

    it("goes through the jobs once, some at a time, those created at one moment too", async () => {
      const jobs = Array.from({ length: 5 }, () => ended(NOON));
      await add([...jobs, ended(NOON - 1, { status: "failed" }), ended(NOON + 5)]);
      const counts: number[] = [];
      for (let count = 2; count === 2; counts.push(count)) count = await deleteRequests(NOON + 1, 2);
      expect(counts).to.deep.equal([2, 2, 2, 0]);
      for (const { id } of jobs) expect((await find(id))?.request.prompt).to.equal("");
      expect(await deleteRequests(NOON + 10, 2)).to.equal(1);
    });

    it("does not pass by a job that is alive, and keeps nothing of a transaction that failed", async () => {
      const [old, live, later] = [ended(NOON), aJob({ createdAt: NOON + 1 }), ended(NOON + 2)];
      await add([old, live, later]);
      const failing = storage.inTransaction(async (tx) => {
        await storage.jobs.deleteRequests(tx, NOON + 10, 10);
        throw new Error("lost");
      });
      expect(await failing.catch((error: Error) => error.message)).to.equal("lost");
      expect(await find(old.id)).to.deep.equal(old);
      expect(await deleteRequests(NOON + 10)).to.equal(1);
      expect(await find(live.id)).to.deep.equal(live);
      const end = { status: "failed", phase: "ended", dueAt: null, completedAt: NOON + 9 } as const;
      await storage.inTransaction((tx) =>
        storage.jobs.updateJobs(tx, [{ id: live.id, fence: live.fence, changes: end }]),
      );
      expect(await deleteRequests(NOON + 10)).to.equal(2);
      expect((await find(live.id))?.request.prompt).to.equal("");
      expect((await find(later.id))?.request.prompt).to.equal("");
    });

    it("deletes what providers were sent and said, unless it is still to be cancelled", async () => {
      const job = ended(NOON);
      const of = (number: number, given: Partial<JobAttempt>): JobAttempt =>
        anAttempt({ jobId: job.id, number, endedAt: NOON, ...SAID, ...given });
      const attempts = [
        of(1, { state: "refused" }),
        of(2, { state: "settled" }),
        of(3, { state: "abandoned", cancelDueAt: NOON + 5 }),
        of(4, { state: "accepted", endedAt: null }),
      ];
      await add([job], attempts);
      await deleteRequests(NOON + 1);
      expect(await storage.jobs.listAttempts(job.id)).to.deep.equal(
        attempts.map((attempt, index) => (index < 2 ? { ...attempt, ...FORGOTTEN } : attempt)),
      );
    });

    it("brings nothing back of an account that was erased", async () => {
      const job = ended(NOON);
      await add([job]);
      await storage.inTransaction((tx) => storage.erasures.eraseJobs(tx, [job.id], NOON + 1));
      const erased = await find(job.id);
      expect(await deleteRequests(NOON + 1)).to.equal(1);
      expect(await find(job.id)).to.deep.equal(erased);
    });

    it("deletes old attempts of ended jobs, the longest ended first", async () => {
      const job = ended(NOON);
      const at = [3, 1, 2].map((ms, index) =>
        anAttempt({ jobId: job.id, number: index + 1, state: "refused", endedAt: NOON + ms }),
      );
      await add([job], at);
      expect(await deleteAttempts(NOON + 3, 1)).to.equal(1);
      expect((await storage.jobs.listAttempts(job.id)).map(({ number }) => number)).to.deep.equal([1, 3]);
      expect([await deleteAttempts(NOON + 3, 10), await deleteAttempts(NOON + 3, 10)]).to.deep.equal([1, 0]);
      expect(await storage.jobs.listAttempts(job.id)).to.deep.equal([at[0]]);
    });

    it("keeps attempts that may still cost something: open, to be cancelled, or of a job that is alive", async () => {
      const [job, live] = [ended(NOON), aJob({ createdAt: NOON, phase: "rendering", status: "processing" })];
      const kept = [
        anAttempt({ jobId: job.id, number: 1, state: "finished", endedAt: NOON }),
        anAttempt({ jobId: job.id, number: 2, state: "abandoned", endedAt: NOON, cancelDueAt: NOON }),
        anAttempt({ jobId: job.id, number: 3, state: "stored", endedAt: NOON }),
        anAttempt({ jobId: job.id, number: 4, state: "unknown", endedAt: null }),
        anAttempt({ jobId: live.id, number: 1, state: "refused", endedAt: NOON }),
        anAttempt({ jobId: anId("job"), number: 1, state: "settled", endedAt: NOON }),
      ];
      await add([job, live], kept);
      expect(await deleteAttempts(NOON + 1)).to.equal(0);
      for (const attempt of kept) expect(await storage.jobs.listAttempts(attempt.jobId)).to.deep.include(attempt);
    });
  });
}
