import { expect } from "chai";
import { submitAccepts, submitFails, submitHolds } from "../../support/doubles/scripted-provider.js";
import { LEASE_MS, until, WorkerHarness } from "./worker-harness.js";

const HOUR_MS = 3_600_000;

describe("A job past its deadline", () => {
  let harness: WorkerHarness;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
  });
  afterEach(() => harness.close());

  it("that still waits is refunded as provider unavailable", async () => {
    harness.provider.behaviour = submitFails("unavailable");
    const id = await harness.acceptOne();
    await harness.start({ maxAttempts: 1_000, deadlineMs: 60_000 });
    await harness.pass(60_000);
    expect((await harness.job(id)).status).to.equal("queued");
    await harness.pass(5_000);
    await harness.expectFailed(id, "provider_unavailable");
  });

  it("that the provider still renders is refunded, and never polled again", async () => {
    harness.provider.behaviour = submitAccepts(1_000);
    harness.provider.pollBehaviour = async () => ({ state: "running", nextPollMs: 20_000 });
    const id = await harness.acceptOne();
    await harness.start({ deadlineMs: 60_000 });
    await harness.pass(65_000);
    await harness.expectFailed(id, "provider_timeout");
    const polls = harness.provider.polls.length;
    await harness.pass(60_000);
    expect(harness.provider.polls).to.have.length(polls);
  });

  it("that a worker has begun to submit is delivered: the render deadline applies from then on", async () => {
    const { behaviour, release } = submitHolds();
    harness.provider.behaviour = behaviour;
    const id = await harness.acceptOne();
    // Two processes: one whose provider never responds, one that runs the maintenance.
    await harness.start({ deadlineMs: HOUR_MS });
    await harness.provider.submitted();
    const other = harness.prepare({ deadlineMs: 1_000 });
    await harness.pass(1_250);
    await other.maintenance.runOnce();
    expect((await harness.job(id)).status).to.equal("processing");
    release();
    await harness.quiet();
    await harness.expectCompleted(id);
  });

  it("is refunded once, however many processes do the maintenance", async () => {
    await harness.accept(20);
    const processes = [1, 2, 3].map(() => harness.prepare({ deadlineMs: 1_000 }).maintenance);
    harness.clock.set(harness.clock.now() + 1_001);
    await Promise.all(processes.map((maintenance) => maintenance.runOnce()));
    expect(harness.ended).to.have.length(20);
    expect(await harness.storage.balanceOf(harness.accountId)).to.include({
      runningJobs: 0,
      spent: 0,
      reservedMonthly: 0,
      reservedPack: 0,
      monthly: 5,
    });
  });
});

describe("A job that an operator cancels", () => {
  let harness: WorkerHarness;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
  });
  afterEach(() => harness.close());

  it("while it waits is refunded and never submitted", async () => {
    const id = await harness.acceptOne();
    const { operate } = harness.prepare();
    expect((await operate.cancel(id, { force: true })).generation).to.include({ id, status: "failed" });
    await harness.start();
    await harness.pass(60_000);
    const job = await harness.expectFailed(id, "generation_failed");
    expect(job.error?.details).to.deep.equal({ reason: "cancelled" });
    expect(harness.provider.submissions).to.have.length(0);
  });

  it("is cancelled once", async () => {
    const id = await harness.acceptOne();
    const { operate } = harness.prepare();
    const both = await Promise.all([operate.cancel(id, { force: true }), operate.cancel(id, { force: true })]);
    expect(both.map(({ outcome }) => outcome)).to.deep.equal(["cancelled", "cancelled"]);
    await harness.expectFailed(id, "generation_failed");
  });

  it("while its worker waits for the provider stays cancelled, and the track is discarded", async () => {
    const { behaviour, release } = submitHolds();
    harness.provider.behaviour = behaviour;
    const id = await harness.acceptOne();
    const worker = await harness.start();
    await harness.provider.submitted();
    const cancelled = await worker.operate.cancel(id, { force: true });
    release();
    await harness.quiet();
    const { completedAt, error } = await harness.expectFailed(id, "generation_failed");
    expect(cancelled).to.have.property("outcome", "cancelled");
    expect(cancelled.generation).to.deep.include({ completedAt, error });
    expect((await harness.storage.jobs.listAttempts(id))[0]).to.include({
      outcome: "completed",
      state: "abandoned",
      loss: "cancelled",
      billable: "yes",
    });
  });

  it("is aborted in the worker with its next lease renewal, when the call can be repeated", async () => {
    const { behaviour } = submitHolds();
    harness.provider.behaviour = behaviour;
    const id = await harness.acceptOne();
    const worker = await harness.start({ capabilities: { idempotentSubmit: true } });
    await harness.provider.submitted();
    await worker.operate.cancel(id, { force: true });
    await harness.pass(LEASE_MS / 3);
    expect(worker.calls()).to.equal(0);
    await harness.expectFailed(id, "generation_failed");
  });

  it("while the provider renders it is not polled again", async () => {
    harness.provider.behaviour = submitAccepts(1_000);
    const id = await harness.acceptOne();
    const worker = await harness.start();
    await harness.quiet();
    await worker.operate.cancel(id, { force: true });
    await harness.pass(10_000);
    await harness.expectFailed(id, "generation_failed");
    expect(harness.provider.polls).to.have.length(0);
  });

  it("after its end is reported as ended, and keeps its result", async () => {
    const id = await harness.acceptOne();
    const worker = await harness.start();
    await harness.quiet();
    const { outcome, generation } = await worker.operate.cancel(id, { force: true });
    expect([outcome, generation.status, generation.tracks.length]).to.deep.equal(["ended", "completed", 1]);
    await harness.expectCompleted(id);
  });

  it("at the moment of its completion ends one way, with the matching credits", async () => {
    const outcomes = new Set<string>();
    const worker = await harness.start();
    for (let round = 0; round < 12; round++) {
      const { behaviour, release } = submitHolds();
      harness.provider.behaviour = behaviour;
      const id = await harness.acceptOne();
      await harness.provider.submitted(round + 1);
      release();
      // In each round the operator comes a little later.
      let turns = round * 4;
      await until("the operator comes", () => turns-- <= 0);
      const { outcome } = await worker.operate.cancel(id, { force: true });
      await harness.quiet();
      outcomes.add((await harness.job(id)).status);
      if (outcome === "cancelled") await harness.expectFailed(id, "generation_failed");
      else await harness.expectCompleted(id);
    }
    expect([...outcomes]).to.include("failed");
  });
});
