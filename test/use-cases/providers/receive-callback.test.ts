import { expect } from "chai";
import { NotFoundError } from "../../../core/errors.js";
import type { Job } from "../../../core/jobs/job.js";
import type { StoredCallback } from "../../../core/ports/callback-store.js";
import type { JobNotification } from "../../../core/ports/job-queue.js";
import { CallbackUrls } from "../../../core/providers/callback-urls.js";
import { ReceiveCallback } from "../../../core/providers/receive-callback.js";
import { aJob, anId } from "../../support/builders.js";
import { type MemoryCore, memoryCore } from "../../support/memory-core.js";

describe("A callback over HTTP", () => {
  let memory: MemoryCore;
  let urls: CallbackUrls;
  let notified: JobNotification[];
  let receiving: ReceiveCallback;
  beforeEach(async () => {
    memory = await memoryCore();
    notified = [];
    urls = new CallbackUrls({ ...memory.ports, publicUrl: "https://music.example" });
    const queue = { ...memory.ports.queue, notify: (all: readonly JobNotification[]) => void notified.push(...all) };
    receiving = new ReceiveCallback({ ...memory.ports, queue, urls });
  });

  async function insert(given: Partial<Job> = {}): Promise<Job> {
    const job = aJob({ status: "processing", phase: "rendering", dueAt: memory.clock.now() + 60_000, ...given });
    await memory.storage.inTransaction((tx) => memory.storage.jobs.insertJobs(tx, [job]));
    return job;
  }
  const tokenOf = (jobId: Job["id"], attempt: number | null, providerId = "synth"): string =>
    urls.urlOf(providerId, jobId, attempt)?.split("/").at(-1) ?? "";
  const receive = (
    { id: jobId }: Pick<Job, "id">,
    given: Partial<Parameters<ReceiveCallback["receive"]>[0]> = {},
    attempt: number | null = 1,
  ): Promise<void> =>
    receiving.receive({
      ...{ providerId: "synth", jobId, token: tokenOf(jobId, attempt), headers: {}, query: {} },
      body: new TextEncoder().encode("{}"),
      ...given,
    });
  const kept = ({ id }: Pick<Job, "id">): Promise<StoredCallback[]> => memory.storage.callbacks.unread(id, 100);
  const dueAt = async ({ id }: Job) => (await memory.storage.jobs.findJobs([id])).get(id)?.dueAt;

  it("is kept as it came, without what may be a login, makes its job due and notifies workers", async () => {
    const job = await insert();
    const headers = { "x-signature": "abc", authorization: "Bearer k", cookie: "a=b", "proxy-authorization": "x" };
    await receive(job, { headers, query: { state: "done" } });
    const [callback] = await kept(job);
    expect(callback).to.deep.include({
      ...{ jobId: job.id, providerId: "synth", attempt: 1, headers: { "x-signature": "abc" } },
      ...{ query: { state: "done" }, receivedAt: memory.clock.now() },
    });
    expect(new TextDecoder().decode(callback?.body)).to.equal("{}");
    expect(await dueAt(job)).to.equal(memory.clock.now());
    expect(notified).to.deep.equal([{ jobId: job.id, providerId: "synth" }]);
  });

  it("is of an attempt, or of the job where its address names none", async () => {
    const job = await insert();
    await receive(job, {}, null);
    expect((await kept(job))[0]).to.include({ attempt: null });
  });

  it("is refused at any other address", async () => {
    const job = await insert();
    const other = await insert();
    const wrong = [
      receive(job, { token: "nonsense" }),
      receive(job, { token: tokenOf(other.id, 1) }),
      receive(job, { token: tokenOf(job.id, 2).replace("2.", "1.") }),
      receive(job, { providerId: "suno" }),
      receive(job, { jobId: "nonsense" }),
    ];
    for (const work of wrong) {
      const error: unknown = await work.catch((cause: unknown) => cause);
      expect(error).to.be.instanceOf(NotFoundError);
    }
    expect(await kept(job)).to.deep.equal([]);
    expect(await receiving.isAddress("synth", job.id, tokenOf(job.id, 1))).to.equal(true);
    expect(await receiving.isAddress("synth", job.id, "nonsense")).to.equal(false);
    expect(await receiving.isAddress("synth", "nonsense", tokenOf(job.id, 1))).to.equal(false);
  });

  it("that came before is kept once; it makes its job due all the same", async () => {
    const job = await insert();
    await receive(job);
    const later = { dueAt: memory.clock.now() + 60_000 };
    await memory.storage.inTransaction((tx) =>
      memory.storage.jobs.updateJobs(tx, [{ id: job.id, fence: 0, changes: later }]),
    );
    await receive(job);
    expect(await kept(job)).to.have.length(1);
    expect([await dueAt(job), notified.length]).to.deep.equal([memory.clock.now(), 2]);
  });

  it("is another one with another body, query, signature or attempt, and the same with another header", async () => {
    const job = await insert();
    await receive(job, { headers: { "x-signature": "a" } });
    for (const given of [
      { body: new TextEncoder().encode("[]"), headers: { "x-signature": "a" } },
      { query: { a: "1" }, headers: { "x-signature": "a" } },
      { headers: { "x-signature": "b" } },
    ])
      await receive(job, given);
    await receive(job, { headers: { "x-signature": "a" } }, 2);
    expect(await kept(job)).to.have.length(5);
    await receive(job, { headers: { "x-signature": "a", "user-agent": "curl" } });
    expect(await kept(job)).to.have.length(5);
  });

  it("leaves a job to the worker that holds it, and one of which nothing is submitted to its turn", async () => {
    const [held, waiting] = [
      await insert({ leaseOwner: "prc_1" }),
      await insert({ phase: "waiting", status: "queued" }),
    ];
    for (const job of [held, waiting]) {
      await receive(job);
      expect(await dueAt(job)).to.equal(job.dueAt);
      expect(await kept(job)).to.have.length(1);
    }
    expect(notified).to.have.length(2);
    await receive(held);
    expect(notified, "it is known").to.have.length(2);
  });

  it("makes a job due no later than it was", async () => {
    const job = await insert({ dueAt: memory.clock.now() - 5 });
    await receive(job);
    expect(await dueAt(job)).to.equal(memory.clock.now() - 5);
    const never = await insert({ dueAt: null });
    await receive(never);
    expect(await dueAt(never)).to.equal(memory.clock.now());
  });

  it("changes nothing of a job that has ended, is gone, or is at another provider", async () => {
    const jobs = [await insert({ status: "completed" }), await insert({ providerId: "suno" }), { id: anId("job") }];
    for (const job of jobs) {
      await receive(job);
      expect(await kept(job)).to.deep.equal([]);
    }
    expect(notified).to.deep.equal([]);
  });

  it("is kept up to 50 times for a job; more make it due, and are logged", async () => {
    const job = await insert();
    for (let count = 0; count < 51; count++) await receive(job, { query: { count: String(count) } });
    expect(await kept(job)).to.have.length(50);
    expect(notified).to.have.length(51);
    expect(memory.logger.lines).to.have.length(1);
    expect(memory.logger.lines[0]?.fields).to.deep.equal({ job_id: job.id, provider: "synth" });
  });
});
