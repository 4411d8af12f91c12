import { expect } from "chai";
import type { ApplyReports } from "../../../core/attempts/apply-reports.js";
import { EndJobs } from "../../../core/attempts/end-jobs.js";
import { LAST_POLL_WINDOW_MS } from "../../../core/attempts/policy.js";
import { Policies } from "../../../core/attempts/policies.js";
import { ServiceUnavailableError } from "../../../core/errors.js";
import { EndedJobs } from "../../../core/jobs/ended-jobs.js";
import type { Job, JobAttempt, JobState } from "../../../core/jobs/job.js";
import { Catalogue, type CatalogueProvider } from "../../../core/providers/catalogue.js";
import { aJob, aJobRequest, anAttempt, anId, aReservation } from "../../support/builders.js";
import { OPTIONS } from "../../support/core-options.js";
import { SILENT } from "../../support/databases.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { ManualClock } from "../../support/doubles/manual-clock.js";
import { ManualRandom } from "../../support/doubles/manual-random.js";
import { ScriptedProvider } from "../../support/doubles/scripted-provider.js";
import { memoryStorage } from "../../support/memory-storage.js";
import { reportsOn } from "../../support/reports.js";
import type { StorageUnderTest } from "../../support/storage-under-test.js";

const { id, label, models } = new ScriptedProvider("synth").definition;
const SYNTH: CatalogueProvider = { id, label, models, enabled: true, isReachable: false, cancel: true };
const LOST = (): Error => new ServiceUnavailableError("The reply was lost.");

describe("EndJobs", () => {
  let clock: ManualClock;
  let storage: StorageUnderTest;
  let endedJobs: EndedJobs;
  let reports: FaultyPort<ApplyReports>;
  beforeEach(async () => {
    clock = new ManualClock();
    storage = await memoryStorage(clock);
    endedJobs = new EndedJobs({ logger: SILENT });
    reports = new FaultyPort(reportsOn(storage, clock, endedJobs));
  });

  function endJobs(provider: CatalogueProvider = SYNTH): EndJobs {
    const policies = new Policies({
      settings: OPTIONS.jobs,
      catalogue: new Catalogue([provider]),
      random: new ManualRandom(),
    });
    return new EndJobs({ ...storage, applyReports: reports.port, policies, clock, ids: { next: anId } });
  }

  async function write(given: Partial<Job> = {}, attempt?: Partial<JobAttempt>): Promise<Job> {
    const account = await storage.addAccount({}, { monthly: 100 });
    const job = aJob({ accountId: account.id, createdAt: clock.now(), ...given });
    await storage.apply(aReservation(await storage.balanceOf(account.id), job));
    await storage.inTransaction(async (tx) => {
      await storage.jobs.insertJobs(tx, [job]);
      if (attempt !== undefined) await storage.jobs.insertAttempts(tx, [anAttempt({ jobId: job.id, ...attempt })]);
    });
    return job;
  }

  const bought = (): Promise<Job> =>
    write(
      { status: "processing", phase: "rendering", attempt: 1 },
      {
        state: "accepted",
        handle: { version: 1, data: { task: 7 } },
        acceptedAt: clock.now(),
        deadlineAt: clock.now() + OPTIONS.jobs.renderDeadlineMs,
      },
    );

  const stored = async ({ id: jobId }: Job): Promise<Job | undefined> =>
    (await storage.jobs.findJobs([jobId])).get(jobId);
  const noted: JobState[] = [];
  const alongside = (_tx: unknown, job: JobState): Promise<void> => {
    noted.push(job);
    return Promise.resolve();
  };
  beforeEach(() => noted.splice(0));

  /** Loses the replies to the first reports, which are written or not. */
  function loseReplies(times: number, isWritten: boolean): () => number {
    let sent = 0;
    reports.on("apply", async (apply, command) => {
      sent += 1;
      if (sent > times) return apply(command);
      if (isWritten) await apply(command);
      throw LOST();
    });
    return () => sent;
  }

  it("ends and refunds a job that is wanted no more while nothing is bought", async () => {
    const job = await write();
    await endJobs().requestCancel(job, alongside);
    expect(await stored(job)).to.include({ status: "failed", phase: "ended", creditsCharged: 0 });
    expect(await storage.balanceOf(job.accountId)).to.include({ monthly: 100, reservedMonthly: 0 });
    expect(noted.map(({ status }) => status)).to.deep.equal(["failed"]);
  });

  it("keeps the request with a job whose work is bought, and has it cancelled where the provider can", async () => {
    const job = await bought();
    await endJobs().requestCancel(job, alongside);
    expect(await stored(job)).to.include({ status: "processing", cancelRequestedAt: clock.now() });
    expect(await storage.jobs.claimCancels("synth", clock.now(), clock.now() + 1, 10)).to.have.length(1);
    const other = await bought();
    await endJobs({ ...SYNTH, cancel: false }).requestCancel(other, alongside);
    expect(await storage.jobs.claimCancels("synth", clock.now(), clock.now() + 1, 10)).to.deep.equal([]);
  });

  it("writes the provider's reply to a request to cancel, for the attempt that it is about", async () => {
    const job = await bought();
    const use = endJobs();
    await use.requestCancel(job, alongside);
    await use.cancelReported(job, 2, "cancelled");
    expect(await stored(job), "there is no such attempt").to.include({ status: "processing" });
    await use.cancelReported(job, 1, "cancelled");
    expect(await stored(job)).to.include({ status: "failed", creditsCharged: 0 });
  });

  it("ends a job at once for an operator, whatever is bought; one that has ended stays as it is", async () => {
    const job = await bought();
    await endJobs().cancel(job, alongside);
    const first = await stored(job);
    expect(first).to.include({ status: "failed", creditsCharged: 0 });
    await clock.advance(5_000);
    await endJobs().cancel(job, alongside);
    expect(await stored(job)).to.deep.equal(first);
    expect(noted).to.have.length(1);
  });

  it("ends a job past its queue deadline and returns it; null while its time is not over", async () => {
    const job = await write();
    expect(await endJobs().endOverdue(job)).to.equal(null);
    await clock.advance(OPTIONS.jobs.queueDeadlineMs);
    expect(await endJobs().endOverdue(job)).to.include({ id: job.id, status: "failed" });
    expect(await endJobs().endOverdue(job), "it has ended before").to.equal(null);
  });

  it("counts a job as ended by a report whose reply was lost", async () => {
    const job = await write();
    const ends: string[] = [];
    endedJobs.onEnded((ended) => ends.push(ended.job.id));
    await clock.advance(OPTIONS.jobs.queueDeadlineMs);
    const sent = loseReplies(1, true);
    expect(await endJobs().endOverdue(job)).to.include({ id: job.id, status: "failed" });
    expect([sent(), new Set(ends).size]).to.deep.equal([2, 1]);
    expect(await storage.balanceOf(job.accountId)).to.include({ monthly: 100 });
  });

  it("sends what an operator wants up to four times, half a second apart", async () => {
    const job = await write();
    const sent = loseReplies(3, false);
    const cancelled = endJobs().cancel(job, alongside);
    await clock.advance(499);
    expect(sent()).to.equal(1);
    await clock.advance(1);
    expect(sent()).to.equal(2);
    await clock.advance(1_000);
    await cancelled;
    expect(sent()).to.equal(4);
    expect(await stored(job)).to.include({ status: "failed" });
  });

  it("gives up after the fourth reply that was lost, and after the second at a deadline", async () => {
    const job = await write();
    let sent = loseReplies(9, false);
    const failing = endJobs().cancel(job, alongside).catch(String);
    await clock.advance(10_000);
    expect(await failing).to.include("The reply was lost.");
    expect(sent()).to.equal(4);
    sent = loseReplies(9, false);
    expect(await endJobs().endOverdue(job).catch(String), "without a pause").to.include("The reply was lost.");
    expect(sent()).to.equal(2);
  });

  it("sends nothing again that failed for another reason", async () => {
    const job = await write();
    let sent = 0;
    reports.failOn("apply", () => new Error(`The disk is full ${++sent}.`));
    expect(await endJobs().cancel(job, alongside).catch(String)).to.include("The disk is full 1.");
  });

  it("expects of work that may be bought what the job's way to use a track costs", async () => {
    const [song] = models as readonly [(typeof models)[number]];
    const upstreamCost = { amount: 0.4, unit: "USD" };
    const cover = { sources: "any", upstreamCost } as const;
    const priced = { ...SYNTH, models: [{ ...song, id: "synth/v1", references: { cover } }] };
    const sourceUse = { mode: "cover", fromSeconds: null, toSeconds: null, strength: null } as const;
    const since = clock.now() - LAST_POLL_WINDOW_MS;
    const job = await write(
      { status: "processing", phase: "submitting", attempt: 1, request: aJobRequest({ sourceUse }) },
      { state: "unknown", deadlineAt: since, overdueSince: since },
    );
    expect(await endJobs(priced).endOverdue(job)).to.include({ status: "failed" });
    const [attempt] = await storage.jobs.listAttempts(job.id);
    expect(attempt).to.deep.include({ state: "abandoned", cost: upstreamCost, loss: "unknown" });
  });
});
