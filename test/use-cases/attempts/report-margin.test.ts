import { expect } from "chai";
import { type MarginQuery, type MarginReport, ReportMargin } from "../../../core/attempts/report-margin.js";
import type { Job, JobAttempt } from "../../../core/jobs/job.js";
import { aJob, anAttempt, NOON } from "../../support/builders.js";
import { ManualClock } from "../../support/doubles/manual-clock.js";
import { memoryStorage } from "../../support/memory-storage.js";
import type { StorageUnderTest } from "../../support/storage-under-test.js";

const DAY_MS = 86_400_000;
const NOTHING_BOUGHT = { bought: 0, delivered: 0, wasted: 0, perhaps: 0, reasons: {} };

const SETTLED: Partial<JobAttempt> = { state: "settled", acceptedAt: NOON, endedAt: NOON, billable: "yes" };
const usd = (amount: number) => ({ amount, unit: "USD" });

const ended = (job: Partial<Job> = {}): Job =>
  aJob({ status: "completed", phase: "ended", completedAt: NOON, dueAt: null, creditsCharged: 5, ...job });
const refunded = (job: Partial<Job> = {}): Job => ended({ status: "failed", creditsCharged: 0, ...job });

describe("ReportMargin", () => {
  let storage: StorageUnderTest;
  beforeEach(async () => {
    storage = await memoryStorage(new ManualClock());
  });

  /** Writes a job with its attempts, by number. */
  async function write(job: Job, ...attempts: readonly Partial<JobAttempt>[]): Promise<void> {
    const rows = attempts.map((attempt, index) => anAttempt({ jobId: job.id, number: index + 1, ...attempt }));
    await storage.inTransaction(async (tx) => {
      await storage.jobs.insertJobs(tx, [job]);
      await storage.jobs.insertAttempts(tx, rows);
    });
  }

  const report = (query: Partial<MarginQuery> = {}): Promise<MarginReport> =>
    new ReportMargin(storage).report({ from: NOON - DAY_MS, to: NOON + DAY_MS, refundedLimit: 10, ...query });

  it("is empty without ended jobs", async () => {
    await write(aJob(), { state: "accepted", acceptedAt: NOON });
    const span = { from: NOON - DAY_MS, to: NOON + DAY_MS };
    expect(await report()).to.deep.equal({ ...span, providers: [], days: [], refunded: [], refundedCount: 0 });
  });

  it("sums up what completed jobs brought in and what the provider billed for them", async () => {
    await write(ended({ creditsCharged: 5 }), { ...SETTLED, cost: usd(0.1) });
    await write(ended({ creditsCharged: 8 }), { ...SETTLED, cost: usd(0.2) });
    expect((await report()).providers).to.deep.equal([
      {
        providerId: "synth",
        completed: 2,
        failed: 0,
        creditsCharged: 13,
        attempts: 2,
        billed: { USD: 0.3 },
        possiblyBilled: {},
        refunded: {},
        ...NOTHING_BOUGHT,
        bought: 2,
        delivered: 2,
      },
    ]);
  });

  it("keeps what was billed apart from what may have been, and each unit from the others", async () => {
    await write(
      refunded(),
      { state: "refused", billable: "no", cost: usd(9), endedAt: NOON },
      { state: "failed", billable: "unknown", cost: usd(0.5), endedAt: NOON, loss: "unknown" },
      { state: "failed", billable: "yes", cost: { amount: 3, unit: "credits" }, acceptedAt: NOON, loss: "deadline" },
    );
    const [provider] = (await report()).providers;
    expect(provider).to.deep.include({
      failed: 1,
      completed: 0,
      creditsCharged: 0,
      attempts: 3,
      billed: { credits: 3 },
      possiblyBilled: { USD: 0.5 },
      refunded: { USD: 0.5, credits: 3 },
    });
  });

  it("counts what was bought in vain by its reason, and what may have been bought", async () => {
    await write(
      ended(),
      { state: "abandoned", acceptedAt: NOON, loss: "late" },
      { state: "abandoned", acceptedAt: NOON, loss: "late" },
      { state: "failed", acceptedAt: NOON, loss: "files_lost" },
      { state: "abandoned", loss: "unknown" },
      { state: "accepted", acceptedAt: NOON },
      SETTLED,
    );
    const bought = { bought: 5, delivered: 1, wasted: 3, perhaps: 1, reasons: { late: 2, files_lost: 1 } };
    const { providers, days } = await report();
    expect(providers[0]).to.deep.include(bought);
    expect(days).to.deep.equal([{ day: "2026-11-21", providerId: "synth", ...bought }]);
  });

  it("counts an attempt at its own provider, and the job at its last one; in alphabetical order", async () => {
    await write(ended({ providerId: "synth" }), { ...SETTLED, providerId: "suno", cost: usd(1) }, SETTLED);
    await write(ended({ providerId: "fal" }), { ...SETTLED, providerId: "fal" });
    const { providers } = await report();
    expect(providers.map(({ providerId, completed, attempts }) => [providerId, completed, attempts])).to.deep.equal([
      ["fal", 1, 1],
      ["suno", 0, 1],
      ["synth", 1, 1],
    ]);
  });

  it("counts purchases on the day of acceptance, or of the call where none is known, in UTC", async () => {
    const midnight = Date.UTC(2026, 10, 22);
    await write(
      ended(),
      { ...SETTLED, providerId: "synth", startedAt: midnight - 1, acceptedAt: midnight },
      { ...SETTLED, providerId: "fal", startedAt: midnight - 2, acceptedAt: midnight },
      { state: "abandoned", loss: "unknown", startedAt: midnight - 1 },
    );
    expect((await report()).days.map(({ day, providerId, bought, perhaps }) => [day, providerId, bought, perhaps]))
      .to //
      .deep.equal([
        ["2026-11-21", "synth", 0, 1],
        ["2026-11-22", "fal", 1, 0],
        ["2026-11-22", "synth", 1, 0],
      ]);
  });

  it("lists the attempts paid for refunded jobs, the newest first, without what a plugin keeps of them", async () => {
    const jobs = [0, 1, 2].map((number) => refunded({ createdAt: NOON + number, fence: 3 }));
    for (const job of jobs) await write(job, { state: "failed", billable: "yes", cost: usd(1), loss: "files_lost" });
    await write(ended(), { ...SETTLED, cost: usd(1) });
    const { refunded: listed, refundedCount } = await report({ refundedLimit: 2 });
    expect(refundedCount).to.equal(3);
    expect(listed.map(({ job }) => job.id)).to.deep.equal([jobs[2]?.id, jobs[1]?.id]);
    expect(listed[0]?.job).not.to.have.any.keys("fence", "leaseOwner", "endedBy");
    expect(listed[0]?.attempt).to.include({ number: 1, loss: "files_lost" }).and.not.to.have.any.keys("handle");
    expect((await report({ refundedLimit: 3 })).refunded).to.have.length(3);
  });

  it("does not list what the provider billed nothing for, and does list a bill of which it is not known", async () => {
    await write(refunded(), { state: "refused", billable: "no", cost: null });
    expect((await report()).refundedCount).to.equal(0);
    await write(refunded(), { state: "abandoned", billable: null, cost: null });
    expect(await report()).to.deep.include({ refundedCount: 1 });
    expect((await report()).providers[0]).to.deep.include({ refunded: {}, attempts: 2 });
  });

  it("has the jobs created from a moment on and before another", async () => {
    for (const createdAt of [NOON - 1, NOON, NOON + 1, NOON + 2]) await write(ended({ createdAt }));
    expect((await report({ from: NOON, to: NOON + 2 })).providers[0]).to.include({ completed: 2 });
  });

  it("reads them by pages, each job once, also where many were created in the same moment", async () => {
    const jobs = Array.from({ length: 1_001 }, () => ended({ creditsCharged: 1 }));
    await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, jobs));
    expect((await report()).providers[0]).to.include({ completed: 1_001, creditsCharged: 1_001 });
  });
});
