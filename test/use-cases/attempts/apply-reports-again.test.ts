import { expect } from "chai";
import type { ReportCommand } from "../../../core/attempts/report-groups.js";
import type { CallbackId } from "../../../core/ids.js";
import type { Job } from "../../../core/jobs/job.js";
import { anId, aTrack } from "../../support/builders.js";
import { LostReplies } from "../../support/doubles/faulty-storage.js";
import { RecordingTracer } from "../../support/doubles/recording-tracer.js";
import { A_POLICY, aCancellation, aCompletion, anIntent, aReport, someFiles } from "../../support/reports.js";
import { type ReportsKit, reportsKit } from "./apply-reports-kit.js";

const HANDLE = { version: 1, data: { task: "t1" } } as const;
const accepted = { type: "accepted", number: 1, handle: HANDLE, nextPollMs: 5_000 } as const;

describe("Reports", () => {
  let kit: ReportsKit;
  beforeEach(async () => {
    kit = await reportsKit();
  });

  describe("of a provider that sends callbacks", () => {
    const policy = { ...A_POLICY, capabilities: { ...A_POLICY.capabilities, callbacks: "hints" } } as const;

    /** Stores a callback, as the API does. */
    async function receive(job: Job): Promise<CallbackId> {
      const id = anId("cbk");
      const given = { providerId: "synth", attempt: null, headers: {}, query: {}, body: new Uint8Array() };
      const callback = { id, jobId: job.id, digest: id.padEnd(64, "0"), receivedAt: kit.clock.now(), ...given };
      await kit.storage.inTransaction((tx) => kit.storage.callbacks.insert(tx, callback));
      return id;
    }
    const polled = (
      job: Job,
      callbacksRead: readonly CallbackId[],
      given: Partial<ReportCommand> = {},
    ): ReportCommand =>
      aReport(
        job,
        { type: "running", number: 1, nextPollMs: 60_000, handle: null, callbacksRead },
        { policy, ...given },
      );
    const rendering = (): Promise<Job> =>
      kit.write({ phase: "rendering" }, { state: "accepted", acceptedAt: kit.clock.now(), handle: HANDLE });
    const unread = async (job: Job): Promise<CallbackId[]> =>
      (await kit.storage.callbacks.unread(job.id, 10)).map(({ id }) => id);

    it("note which callbacks their worker has read, and leave the job until its next poll", async () => {
      const job = await rendering();
      const id = await receive(job);
      await kit.reports().apply(polled(job, [id]));
      expect(await unread(job)).to.deep.equal([]);
      expect(await kit.job(job.id)).to.include({ leaseOwner: null, dueAt: kit.clock.now() + 60_000 });
    });

    it("make the job due at once where a callback came that the worker has not read", async () => {
      const [job, other] = [await rendering(), await rendering()];
      const [read, missed] = [await receive(job), await receive(job)];
      const reports = kit.reports();
      await Promise.all([reports.apply(polled(job, [read])), reports.apply(polled(other, []))]);
      expect(await unread(job)).to.deep.equal([missed]);
      expect(await kit.job(job.id)).to.include({ dueAt: kit.clock.now() });
      expect(await kit.job(other.id)).to.include({ dueAt: kit.clock.now() + 60_000 });
    });

    it("leave the job to the worker that holds it, and to another provider's pace", async () => {
      const [job, other] = [await rendering(), await rendering()];
      await receive(job);
      await receive(other);
      const reports = kit.reports();
      const stored = { type: "files_kept", number: 1, files: someFiles(job) } as const;
      await reports.apply(aReport(job, stored, { policy }));
      expect(await kit.job(job.id)).to.include({ dueAt: job.dueAt });
      await reports.apply(polled(other, [], { policy: A_POLICY }));
      expect(await kit.job(other.id)).to.include({ dueAt: kit.clock.now() + 60_000 });
    });
  });

  describe("whose reply is lost", () => {
    it("notify listeners once of the job that they ended, with its tracks and its request", async () => {
      const job = await kit.write({}, { state: "intended" });
      const files = { ...someFiles(job), tracks: [aTrack({ jobId: job.id, accountId: job.accountId })] };
      const { stores } = new LostReplies(kit.storage, "reruns");
      const { next, ended } = await kit.reports(stores).apply(aCompletion(job, 1, files));
      expect(next).to.equal("done");
      expect(ended).to.deep.include({ job: await kit.job(job.id), tracks: files.tracks, outputs: [] });
      expect(kit.ended).to.deep.equal([ended]);
      expect(kit.metrics.counted.filter(([what]) => what !== "group")).to.deep.equal([
        ["attempt", "bought"],
        ["attempt", "delivered"],
        ["job", "completed"],
      ]);
      expect(await kit.storage.balanceOf(job.accountId)).to.include({ monthly: 95, spent: 5 });
    });

    it("count as the end of a failed job when they are sent again", async () => {
      const [job, other] = [await kit.write(), await kit.write()];
      const { stores } = new LostReplies(kit.storage, "rejects");
      const reports = kit.reports(stores);
      const command = aCancellation(job);
      expect(await reports.apply(command).catch(String)).to.include("The reply to the commit was lost.");
      const [again, another] = await Promise.all([reports.apply(command), reports.apply(anIntent(other))]);
      expect(again).to.deep.include({ next: "done", ended: { job: await kit.job(job.id), tracks: [], outputs: [] } });
      expect(another).to.include({ next: "continue", ended: null });
      expect((await reports.apply(aCancellation(job))).ended, "another report").to.equal(null);
    });
  });

  describe("with traces", () => {
    it("record the settlement as a part of the job's trace, from the moment of the report", async () => {
      const tracer = new RecordingTracer(() => kit.clock.now());
      const trace = { traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`, tracestate: null };
      const job = await kit.write({ trace }, { state: "intended" });
      const reports = kit.reports({ tracer });
      await reports.apply(aReport(job, accepted));
      expect(tracer.ended).to.deep.equal([]);
      await kit.clock.advance(3_000);
      await reports.apply(aCompletion(job));
      expect(tracer.ended.map(({ name }) => name)).to.deep.equal(["wait in queue", "attempt", "settle job"]);
      expect(tracer.ended.at(-1)).to.include({ startedAt: kit.clock.now(), traceId: "a".repeat(32) });
    });
  });
});
