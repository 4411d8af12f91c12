import { expect } from "chai";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  submitAccepts,
  submitCompletes,
  submitHolds,
  SCRIPTED_TRACK,
} from "../../support/doubles/scripted-provider.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { GRACE_MS, until, WorkerHarness } from "./worker-harness.js";

describe("A stopped worker", () => {
  let harness: WorkerHarness;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
  });
  afterEach(() => harness.close());

  it("finishes its running calls when they end in time", async () => {
    const { behaviour, release } = submitHolds();
    harness.provider.behaviour = behaviour;
    const id = await harness.acceptOne();
    const worker = await harness.start();
    await harness.provider.submitted();
    const stopped = worker.jobs.stop(10_000);
    release();
    await stopped;
    await harness.expectCompleted(id);
    expect(worker.leases.count).to.equal(0);
  });

  it("claims nothing more", async () => {
    const worker = await harness.start();
    await harness.quiet();
    await worker.stop();
    const id = await harness.acceptOne();
    await harness.clock.advance(60_000);
    expect(await harness.job(id)).to.include({ status: "queued", fence: 0 });
  });

  it("stops at once when it is idle, without waiting for the clock", async () => {
    const worker = await harness.start();
    await harness.quiet();
    const before = harness.clock.now();
    await worker.jobs.stop(10_000);
    expect([harness.clock.now(), harness.clock.sleeping]).to.deep.equal([before, 0]);
  });

  it("aborts and releases jobs that take too long; another worker finishes them", async () => {
    const { behaviour } = submitHolds();
    harness.provider.behaviour = behaviour;
    const id = await harness.acceptOne();
    const worker = await harness.start({ capabilities: { idempotentSubmit: true } });
    await harness.provider.submitted();
    await worker.stop(5_000);
    expect(await harness.job(id)).to.include({
      status: "processing",
      phase: "submitting",
      leaseOwner: null,
      crashes: 0,
      fence: 1,
    });
    expect(await harness.attempts(id)).to.deep.equal([[1, "outcome_unknown"]]);
    expect(worker.leases.count).to.equal(0);

    harness.provider.behaviour = submitCompletes;
    await harness.start({ capabilities: { idempotentSubmit: true } });
    await harness.quiet();
    expect(await harness.expectCompleted(id)).to.include({ crashes: 0, attempt: 2 });
    expect(await harness.attempts(id)).to.deep.equal([
      [1, "outcome_unknown"],
      [2, "completed"],
    ]);
  });

  it("prevents the resubmission of aborted calls that could buy a second time", async () => {
    const { behaviour } = submitHolds();
    harness.provider.behaviour = behaviour;
    const id = await harness.acceptOne();
    const worker = await harness.start();
    await harness.provider.submitted();
    await worker.stop(1_000);
    harness.provider.behaviour = submitCompletes;
    await harness.start();
    await harness.pass(GRACE_MS);
    await harness.expectFailed(id, "provider_timeout");
    expect(harness.provider.submissions).to.have.length(1);
  });

  it("leaves accepted work at the provider: the next worker polls it, and its attempt stays accepted", async () => {
    harness.provider.behaviour = submitAccepts(1_000);
    harness.provider.pollBehaviour = (_, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
    const id = await harness.acceptOne();
    const worker = await harness.start();
    await harness.pass(1_000);
    expect(worker.calls()).to.equal(1);
    await worker.stop(500);
    expect(await harness.job(id)).to.include({ phase: "rendering", leaseOwner: null, crashes: 0 });
    expect(await harness.attempts(id)).to.deep.equal([[1, "accepted"]]);

    harness.provider.pollBehaviour = async () => ({ state: "completed", tracks: [SCRIPTED_TRACK] });
    await harness.start();
    await harness.quiet();
    await harness.expectCompleted(id);
  });

  it("fails no job because its stop aborted a lookup at the end of the grace time", async () => {
    harness.provider.behaviour = (request, context) =>
      request.attempt === 1 ? Promise.reject(new Error("reply lost")) : submitCompletes(request, context);
    harness.provider.lookupBehaviour = (_, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
    const id = await harness.acceptOne();
    const worker = await harness.start({ capabilities: { lookup: true } });
    await harness.quiet();
    harness.clock.set(harness.clock.now() + GRACE_MS);
    await harness.pass(1_000);
    expect(worker.calls()).to.equal(1);
    await worker.stop(0);
    expect(await harness.job(id)).to.include({ status: "processing", phase: "submitting", leaseOwner: null });

    harness.provider.lookupBehaviour = async () => ({ state: "absent" });
    await harness.start({ capabilities: { lookup: true } });
    await harness.pass(1_000);
    await harness.expectCompleted(id);
  });

  it("waits for the jobs of a claim in progress", async () => {
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    let claims = 0;
    const slowJobs = new FaultyPort(harness.storage.jobs).on("claimJobs", async (claim, request) => {
      const claimed = await claim(request);
      if (claimed.length === 0) return claimed;
      claims++;
      await gate;
      return claimed;
    });
    const id = await harness.acceptOne();
    const worker = harness.prepare({ stores: { jobs: slowJobs }, capabilities: { idempotentSubmit: true } });
    await worker.jobs.start();
    await until("the claim is under way", () => claims === 1);
    let isStopped = false;
    const stopped = worker.jobs.stop(10_000).then(() => (isStopped = true));
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    expect(isStopped).to.equal(false);
    open();
    await stopped;
    await harness.expectCompleted(id);
  });
});
