import { expect } from "chai";
import { JobNotFoundError, UnknownObjectError } from "../../../core/errors.js";
import { EndedJobs } from "../../../core/jobs/ended-jobs.js";
import { WatchJobs } from "../../../core/jobs/watch-jobs.js";
import type { Job } from "../../../core/jobs/job.js";
import { aJob, anId } from "../../support/builders.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { submitAccepts, submitFails } from "../../support/doubles/scripted-provider.js";
import { memoryCore } from "../../support/memory-core.js";
import { memoryWorkers, type MemoryWorkers } from "../../support/memory-workers.js";

const never = new AbortController().signal;
const failure = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

describe("Jobs as operators see them", () => {
  let kit: MemoryWorkers;
  beforeEach(async () => {
    kit = await memoryWorkers();
  });

  it("are listed the newest first, without what workers hold them by", async () => {
    const first = await kit.accept();
    await kit.clock.advance(1);
    const second = await kit.accept();
    const listed = await kit.core.jobs.list({ limit: 9 });
    expect(listed.map(({ id }) => id)).to.deep.equal([second, first]);
    expect(listed[0]).not.to.have.any.keys("fence", "leaseOwner", "endedBy");
  });

  it("are shown with their tracks, attempts and timeline", async () => {
    const id = await kit.accept();
    await kit.start();
    const { job, tracks, outputs, attempts, timeline } = await kit.core.jobs.show(id);
    expect(job).to.include({ id, status: "completed" }).and.not.to.have.property("fence");
    expect([tracks.length, outputs, attempts.length]).to.deep.equal([1, [], 1]);
    expect(attempts[0]).not.to.have.any.keys("handle", "result", "files");
    expect(timeline.events.map(({ type }) => type)).to.deep.equal([
      "accepted",
      "attempt_started",
      "attempt_finished",
      "files_stored",
      "charged",
      "completed",
    ]);
    expect(timeline.outlook).to.have.property("state");
    for (const unknown of ["nonsense", anId("job")]) {
      const error = await failure(kit.core.jobs.show(unknown));
      expect(error).to.be.instanceOf(UnknownObjectError);
      expect(String(error)).to.include(`There is no job ${unknown}.`);
    }
  });

  it("have the deliveries of their event in the timeline", async () => {
    kit = await memoryWorkers();
    const keyId = kit.ports.keyring.current("webhook-secrets").id;
    const state = { current: keyId, previous: null, unnamed: null, rotatedAt: null };
    await kit.storage.installation.keep("secret_keys", JSON.stringify(state));
    await kit.core.webhooks.endpoints.create(kit.accountId, "https://a.example/hook");
    const id = await kit.accept();
    await kit.start();
    await kit.pass(2_000);
    const { timeline } = await kit.core.jobs.show(id);
    expect(timeline.events.slice(-2).map(({ type }) => type)).to.deep.equal(["delivery_tried", "delivery_ended"]);
  });

  describe("are cancelled", () => {
    it("at once and refunded while nothing is bought, once, and recorded", async () => {
      const id = await kit.accept();
      const { outcome, generation } = await kit.core.jobs.cancel(id);
      expect([outcome, generation.status, generation.creditsCharged]).to.deep.equal(["cancelled", "failed", 0]);
      expect(await kit.core.jobs.cancel(id)).to.include({ outcome: "cancelled" });
      const records = await kit.storage.auditLog.list({ limit: 9 });
      expect(records).to.have.length(1);
      expect(records[0]).to.deep.include({
        ...{ action: "jobs.cancel", accountId: kit.accountId, targets: [id], fields: { refunded: true } },
      });
    });

    it("at once by force, whatever is bought, which is recorded", async () => {
      kit.provider.behaviour = submitAccepts(60_000);
      const id = await kit.accept();
      await kit.start();
      expect(await kit.core.jobs.cancel(id, { force: true })).to.include({ outcome: "cancelled" });
      const [record] = await kit.storage.auditLog.list({ limit: 1 });
      expect(record?.fields).to.deep.equal({ refunded: true, force: true });
    });

    it("not where they are bought and the provider cannot: they run to their end", async () => {
      kit.provider.behaviour = submitAccepts(60_000);
      const id = await kit.accept();
      await kit.start();
      const { outcome, generation } = await kit.core.jobs.cancel(id);
      expect([outcome, generation.status]).to.deep.equal(["running", "processing"]);
      expect((await kit.storage.auditLog.list({ limit: 1 }))[0]?.fields).to.deep.equal({ refunded: false });
    });

    it("not once they have ended", async () => {
      kit.provider.behaviour = submitFails("failed");
      const id = await kit.accept();
      await kit.start();
      expect(await kit.core.jobs.cancel(id)).to.include({ outcome: "ended" });
      expect(await kit.storage.auditLog.list({ limit: 1 })).to.deep.equal([]);
      for (const work of [kit.core.jobs.cancel("nonsense"), kit.core.jobs.cancel(id, { accountId: anId("acct") })])
        expect(await failure(work)).to.be.instanceOf(UnknownObjectError);
      expect(await kit.core.jobs.cancel(id, { accountId: kit.accountId })).to.include({ outcome: "ended" });
    });

    it("with a wait for the provider's reply: as long as the caller says, five seconds by default", async () => {
      kit = await memoryWorkers({ capabilities: { cancel: true } });
      kit.provider.behaviour = submitAccepts(60_000);
      kit.provider.cancel = () => new Promise(() => undefined);
      const [id, other, third, fourth] = [
        await kit.accept(),
        await kit.accept(),
        await kit.accept(),
        await kit.accept(),
      ];
      await kit.start();
      const took = async (work: Promise<{ outcome: string }>): Promise<unknown> => {
        const from = kit.clock.now();
        const done = work.then(({ outcome }) => [outcome, kit.clock.now() - from]);
        let isDone = false;
        void done.then(() => (isDone = true));
        for (let steps = 0; !isDone && steps < 100; steps++) await kit.clock.advance(100);
        return done;
      };
      expect(await took(kit.core.jobs.cancel(id))).to.deep.equal(["running", 5_000]);
      expect(await took(kit.core.jobs.cancel(other, { timeoutMs: 1_000 }))).to.deep.equal(["running", 1_000]);
      expect(await took(kit.core.jobs.cancel(third, { timeoutMs: 0 }))).to.deep.equal(["running", 0]);
      expect(await took(kit.core.jobs.cancel(fourth, { signal: AbortSignal.abort() }))).to.deep.equal(["running", 0]);
    });

    it("by their own account, which is not recorded", async () => {
      const id = await kit.accept();
      const { cancelJob } = kit.core.api;
      expect(await failure(cancelJob.execute(anId("acct"), id, never))).to.be.instanceOf(JobNotFoundError);
      const { outcome, found } = await cancelJob.execute(kit.accountId, id, never);
      expect([outcome, found.job.status]).to.deep.equal(["cancelled", "failed"]);
      expect(await kit.storage.auditLog.list({ limit: 1 })).to.deep.equal([]);
    });
  });
});

describe("WatchJobs", () => {
  async function setUp() {
    const { storage, clock, logger } = await memoryCore();
    let reads = 0;
    const jobs = new FaultyPort(storage.jobs).on("findJobs", (find, ids) => {
      reads += 1;
      return find(ids);
    });
    const endedJobs = new EndedJobs({ logger });
    const watch = new WatchJobs({ jobs, endedJobs, clock });
    const insert = async (): Promise<Job> => {
      const job = aJob();
      await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, [job]));
      return job;
    };
    return { storage, clock, endedJobs, watch, insert, reads: () => reads };
  }

  it("reads a job twice a second, for all who watch together", async () => {
    const { clock, watch, insert, reads } = await setUp();
    const [job, other] = [await insert(), await insert()];
    const watching = [job, job, other].map(({ id }) => watch.watch(id, never));
    const first = await Promise.all(watching.map((one) => one.next()));
    expect(first.map(({ value }) => value?.job.id)).to.deep.equal([job.id, job.id, other.id]);
    expect(reads()).to.equal(3);
    const second = Promise.all(watching.map((one) => one.next()));
    await clock.advance(499);
    expect(reads()).to.equal(3);
    await clock.advance(1);
    expect((await second).every(({ done }) => done === false)).to.equal(true);
    expect(reads()).to.equal(4);
  });

  it("reads it at once when it ends in this process, and then as often as before", async () => {
    const { clock, storage, endedJobs, watch, insert } = await setUp();
    const [job, other] = [await insert(), await insert()];
    const watching = watch.watch(job.id, never);
    await watching.next();
    const next = watching.next();
    const changes = { status: "failed", phase: "ended", completedAt: clock.now(), dueAt: null } as const;
    await storage.inTransaction((tx) => storage.jobs.updateJobs(tx, [{ id: job.id, fence: 0, changes }]));
    endedJobs.emitEnded({ job: other, tracks: [], outputs: [] });
    endedJobs.emitEnded({ job, tracks: [], outputs: [] });
    expect((await next).value?.job.status).to.equal("failed");
    const later = watching.next();
    await clock.advance(500);
    expect((await later).value?.job.status).to.equal("failed");
  });

  it("ends when it is aborted, or the job is not there, and leaves no sleeper", async () => {
    const { clock, storage, watch, insert } = await setUp();
    expect(await watch.watch(anId("job"), never).next()).to.deep.equal({ done: true, value: undefined });
    const job = await insert();
    const stopping = new AbortController();
    const watching = watch.watch(job.id, stopping.signal);
    await watching.next();
    const next = watching.next();
    stopping.abort();
    expect(await next).to.deep.equal({ done: true, value: undefined });
    expect(clock.sleeping).to.equal(0);
    const again = watch.watch(job.id, never);
    await again.next();
    storage.sql("DELETE FROM fermata_jobs");
    const gone = again.next();
    await clock.advance(500);
    expect(await gone).to.deep.equal({ done: true, value: undefined });
    expect(await watch.watch(job.id, AbortSignal.abort()).next()).to.include({ done: true });
  });
});
