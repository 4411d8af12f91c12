import { expect } from "chai";
import type { Transaction } from "../../../core/ports/unit-of-work.js";
import type { JobState } from "../../../core/jobs/job.js";
import { anAsset, anId } from "../../support/builders.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import {
  A_POLICY,
  aCancellation,
  aCancelRequest,
  aCompletion,
  anIntent,
  aReport,
  someFiles,
} from "../../support/reports.js";
import { type ReportsKit, reportsKit } from "./apply-reports-kit.js";

const HANDLE = { version: 1, data: { task: "t1" } } as const;
const accepted = { type: "accepted", number: 1, handle: HANDLE, nextPollMs: 5_000 } as const;

describe("ApplyReports", () => {
  let kit: ReportsKit;
  beforeEach(async () => {
    kit = await reportsKit();
  });

  it("writes what a report changes, and returns the job and its attempts as they are then", async () => {
    const job = await kit.write();
    const { next, job: after, attempts, ended } = await kit.reports().apply(anIntent(job));
    expect([next, ended]).to.deep.equal(["continue", null]);
    expect(after).to.include({ phase: "submitting", attempt: 1 });
    expect(await kit.job(job.id)).to.deep.include({ ...after });
    expect(await kit.storage.jobs.listAttempts(job.id)).to.deep.equal(attempts);
    expect(attempts.map(({ number, state }) => [number, state])).to.deep.equal([[1, "intended"]]);
  });

  it("writes nothing for a report that comes too late", async () => {
    const job = await kit.write();
    const noted: JobState[] = [];
    const late = aReport(
      { ...job, fence: 0 },
      { type: "crashed" },
      { alongside: async (_, one) => void noted.push(one) },
    );
    const { next, ended } = await kit.reports().apply(late);
    expect([next, ended, noted]).to.deep.equal(["stale", null, []]);
    expect(await kit.job(job.id)).to.deep.equal(job);
  });

  it("returns nothing of a job that does not exist", async () => {
    const job = { id: anId("job"), accountId: anId("acct"), fence: 1 };
    const applied = await kit.reports().apply(anIntent(job));
    expect(applied).to.deep.equal({ next: "stale", job: null, attempts: [], ended: null });
  });

  it("takes reports that come together into one commit, each on what those before it left", async () => {
    const [job, other] = [await kit.write(), await kit.write()];
    let commits = 0;
    const unitOfWork = new FaultyPort(kit.storage.unitOfWork).on("inTransaction", (run, work) => {
      commits += 1;
      return run(work);
    });
    const reports = kit.reports({ unitOfWork });
    const applied = await Promise.all([
      reports.apply(anIntent(job)),
      reports.apply(aReport(job, accepted)),
      reports.apply(anIntent(other)),
    ]);
    expect(commits).to.equal(1);
    expect(applied.map(({ job: after }) => after?.phase)).to.deep.equal(["submitting", "rendering", "submitting"]);
    const [attempt] = await kit.storage.jobs.listAttempts(job.id);
    expect(attempt).to.deep.include({ state: "accepted", handle: HANDLE });
    expect(await kit.job(job.id)).to.include({ phase: "rendering", leaseOwner: null, attempt: 1 });
    expect(await kit.storage.jobs.listAttempts(other.id)).to.have.length(1);
  });

  it("says whether reports are being written", async () => {
    const [job, reports] = [await kit.write(), kit.reports()];
    expect(reports.isWriting).to.equal(false);
    const applied = reports.apply(anIntent(job));
    expect(reports.isWriting).to.equal(true);
    await applied;
    expect(reports.isWriting).to.equal(false);
  });

  describe("that end a job", () => {
    it("settle a completed one: charge, tracks, attempt and job in one commit", async () => {
      const job = await kit.write({}, { state: "accepted", acceptedAt: kit.clock.now(), handle: HANDLE });
      const files = someFiles(job);
      const { next, ended } = await kit.reports().apply(aCompletion(job, 1, files));
      expect(next).to.equal("done");
      const after = await kit.job(job.id);
      const end = { status: "completed", phase: "ended", creditsCharged: 5, leaseOwner: null, dueAt: null, fence: 2 };
      expect(after).to.include({ ...end, completedAt: kit.clock.now() });
      expect(ended?.job).to.deep.equal(after);
      expect(ended?.tracks).to.deep.equal(files.tracks);
      expect(await kit.storage.library.tracksOfJobs([job.id])).to.have.keys([job.id]);
      expect(await kit.storage.balanceOf(job.accountId)).to.include({ monthly: 95, reservedMonthly: 0, spent: 5 });
      const [attempt] = await kit.storage.jobs.listAttempts(job.id);
      expect(attempt).to.include({ state: "settled" });
      expect(kit.ended.map(({ job: one }) => one)).to.deep.equal([after]);
    });

    it("write what reports of the same group changed before the end", async () => {
      const job = await kit.write();
      const reports = kit.reports();
      const [, applied] = await Promise.all([reports.apply(anIntent(job)), reports.apply(aCompletion(job))]);
      expect(applied?.ended?.job).to.include({ attempt: 1, status: "completed" });
      expect(await kit.job(job.id)).to.include({ attempt: 1, status: "completed", phase: "ended" });
      const [attempt, ...more] = await kit.storage.jobs.listAttempts(job.id);
      expect([attempt?.state, attempt?.outcome, more]).to.deep.equal(["settled", "completed", []]);
    });

    it("complete a job that waits in the queue again with a result that comes late", async () => {
      const waits = { status: "queued", leaseOwner: null } as const;
      const lost = { state: "abandoned", loss: "unknown", endedAt: kit.clock.now() } as const;
      const job = await kit.write(waits, lost);
      const { ended } = await kit.reports().apply(aCompletion(job));
      expect(ended?.job).to.include({ status: "completed", creditsCharged: 5 });
      expect(await kit.job(job.id)).to.deep.equal(ended?.job);
    });

    it("end it once: of two in one group the second ends nothing", async () => {
      const job = await kit.write();
      const reports = kit.reports();
      const applied = await Promise.all([reports.apply(aCancellation(job)), reports.apply(aCancellation(job))]);
      expect(applied.map(({ next, ended }) => [next, ended?.job.status])).to.deep.equal([
        ["done", "failed"],
        ["stale", undefined],
      ]);
      expect(kit.ended).to.have.length(1);
      expect(await kit.storage.balanceOf(job.accountId)).to.include({ monthly: 100, reservedMonthly: 0 });
    });

    it("settle several jobs of several accounts in one group, with the requests that reporters know", async () => {
      const jobs = [await kit.write(), await kit.write(), await kit.write()];
      const reports = kit.reports();
      const applied = await Promise.all(
        jobs.map((job, index) =>
          reports.apply({
            ...aCancellation(job),
            ...(index === 0 ? {} : { request: index === 1 ? null : job.request }),
          }),
        ),
      );
      expect(applied.map(({ ended }) => ended?.job.request)).to.deep.equal(jobs.map(({ request }) => request));
      for (const { accountId } of jobs) expect(await kit.storage.balanceOf(accountId)).to.include({ monthly: 100 });
    });

    it("write the files of a split", async () => {
      const job = await kit.write({ kind: "stem_split", operation: "stem_split" }, { state: "intended" });
      const { role: _role, ...output } = { ...anAsset({ label: "drums" }) };
      const files = { tracks: [], outputs: [output], missing: [] };
      const { ended } = await kit.reports().apply(aCompletion(job, 1, files));
      expect(ended?.outputs).to.deep.equal([output]);
      expect((await kit.storage.jobs.outputsOf([job.id])).get(job.id)).to.deep.equal([output]);
    });

    it("log the end, count it and what was bought", async () => {
      const job = await kit.write({}, { state: "intended" });
      await kit.reports().apply(aReport(job, accepted));
      await kit.reports().apply(aCompletion(job));
      const groups = ["group", "report"];
      expect(kit.metrics.counted).to.deep.equal([
        groups,
        ["attempt", "bought"],
        groups,
        ["attempt", "delivered"],
        ["job", "completed"],
      ]);
      expect(kit.logger.lines.map(({ message }) => message)).to.deep.equal(["A job completed"]);
    });

    it("count nothing without metrics", async () => {
      const job = await kit.write();
      await kit.reports({ metrics: null }).apply(aCancellation(job));
      expect(kit.metrics.counted).to.deep.equal([]);
      expect(kit.logger.lines).to.have.length(1);
    });
  });

  it("writes what is to be written alongside in the same transaction, with the job as it is then", async () => {
    const [job, reports] = [await kit.write(), kit.reports()];
    const noted: (JobState | string)[] = [];
    const alongside = async (tx: Transaction, after: JobState): Promise<void> => {
      noted.push(after);
      await kit.storage.jobs.insertOutputs(tx, [{ jobId: job.id, outputs: [] }]);
    };
    const { job: begun } = await reports.apply({ ...anIntent(job), alongside });
    const { ended } = await reports.apply({ ...aCancellation(job), alongside });
    expect(noted).to.deep.equal([begun, ended?.job]);
    const other = await kit.write();
    const failing = (): Promise<void> => Promise.reject(new Error("The record cannot be written."));
    const failed = await reports.apply({ ...aCancellation(other), alongside: failing }).catch(String);
    expect(failed).to.include("The record cannot be written.");
    expect(await kit.job(other.id)).to.deep.equal(other);
    expect(kit.ended).to.have.length(1);
  });

  it("notifies the workers of a provider that is to be asked, once it is committed", async () => {
    const cancels = { ...A_POLICY, capabilities: { ...A_POLICY.capabilities, cancel: true } };
    const attempt = { state: "accepted", acceptedAt: kit.clock.now(), handle: HANDLE } as const;
    const [job, other] = [await kit.write({}, attempt), await kit.write({}, attempt)];
    const reports = kit.reports();
    await Promise.all([reports.apply(aCancelRequest(other)), reports.apply(aCancelRequest(job, cancels))]);
    expect(kit.notified).to.deep.equal([{ jobId: job.id, providerId: "synth" }]);
  });

  it("writes nothing of a group in which a locked job has lost its fence", async () => {
    const job = await kit.write();
    const faulty = new FaultyPort(kit.storage.jobs);
    const reports = kit.reports({ jobs: faulty.on("updateJobs", async () => 0) });
    expect(await reports.apply(anIntent(job)).catch(String)).to.include("a locked job keeps its fence");
    expect(await kit.storage.jobs.listAttempts(job.id)).to.deep.equal([]);
    faulty.repair();
    expect((await reports.apply(anIntent(job))).next).to.equal("continue");
    expect(await kit.storage.jobs.listAttempts(job.id)).to.have.length(1);
  });

  describe("on rows that others hold", () => {
    it("leave a job that is locked to a later group, and go on with the others", async () => {
      const [job, other] = [await kit.write(), await kit.write()];
      let groups = 0;
      const jobs = new FaultyPort(kit.storage.jobs).on("tryLockJobs", async (lock, tx, ids) => {
        groups += 1;
        if (groups > 1) return lock(tx, ids);
        const { locked } = await lock(tx, ids);
        return { locked: new Map([...locked].filter(([id]) => id === other.id)), busy: new Set([job.id]) };
      });
      const reports = kit.reports({ jobs });
      const busy = reports.apply(anIntent(job));
      expect((await reports.apply(anIntent(other))).next).to.equal("continue");
      await kit.clock.advance(10);
      expect((await busy).next).to.equal("continue");
      expect(groups).to.equal(2);
      expect(await kit.storage.jobs.listAttempts(job.id)).to.have.length(1);
    });

    it("leave the end of a job whose balance is locked, and write the others", async () => {
      const [job, other] = [await kit.write(), await kit.write()];
      let groups = 0;
      const ledger = new FaultyPort(kit.storage.ledger).on("tryLockBalances", async (lock, tx, ids) => {
        groups += 1;
        if (groups > 1) return lock(tx, ids);
        const { locked } = await lock(tx, ids);
        const free = [...locked].filter(([id]) => id !== job.accountId);
        return { locked: new Map(free), busy: new Set([job.accountId]) };
      });
      const reports = kit.reports({ ledger });
      const [busy, free] = [reports.apply(aCancellation(job)), reports.apply(aCancellation(other))];
      expect((await free).ended?.job.id).to.equal(other.id);
      expect(await kit.job(job.id)).to.deep.equal(job);
      await kit.clock.advance(10);
      expect((await busy).ended?.job).to.include({ id: job.id, status: "failed" });
      expect(kit.ended.map(({ job: { id } }) => id)).to.deep.equal([other.id, job.id]);
      expect(await kit.storage.balanceOf(job.accountId)).to.include({ monthly: 100 });
    });
  });

  it("keeps the ledger exact", async () => {
    const jobs = [await kit.write(), await kit.write({}, { state: "intended" })] as const;
    await kit.reports().apply(aCancellation(jobs[0]));
    await kit.reports().apply(aCompletion(jobs[1]));
    expect((await kit.storage.ledger.audit()).violations).to.deep.equal([]);
  });
});
