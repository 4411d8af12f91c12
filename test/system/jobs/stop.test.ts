import { expect } from "chai";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ClaimRequest } from "../../../core/ports/job-store.js";
import { accepts, completes, holds, SCRIPTED_TRACK } from "../../support/doubles/scripted-provider.js";
import { GRACE_MS, until, WorkerHarness } from "./worker-harness.js";

describe("A worker that is stopped", () => {
  let shop: WorkerHarness;
  beforeEach(async () => {
    shop = await WorkerHarness.open();
  });
  afterEach(() => shop.close());

  it("finishes what it runs, when that is done in time", async () => {
    const { behaviour, release } = holds();
    shop.provider.behaviour = behaviour;
    const id = await shop.acceptOne();
    const worker = await shop.start();
    await shop.provider.submitted();
    const stopped = worker.jobs.stop(10_000);
    release();
    await stopped;
    await shop.expectCompleted(id);
    expect(worker.leases.count).to.equal(0);
  });

  it("claims nothing more", async () => {
    const worker = await shop.start();
    await shop.quiet();
    await worker.stop();
    const id = await shop.acceptOne();
    await shop.clock.advance(60_000);
    expect(await shop.job(id)).to.include({ status: "queued", fence: 0 });
  });

  it("stops at once when it has nothing to do, without a tick of the clock", async () => {
    const worker = await shop.start();
    await shop.quiet();
    const before = shop.clock.now();
    await worker.jobs.stop(10_000);
    expect([shop.clock.now(), shop.clock.sleeping]).to.deep.equal([before, 0]);
  });

  it("breaks off what takes too long and hands it back; another one finishes it", async () => {
    const { behaviour } = holds();
    shop.provider.behaviour = behaviour;
    const id = await shop.acceptOne();
    const worker = await shop.start({ capabilities: { idempotentSubmit: true } });
    await shop.provider.submitted();
    await worker.stop(5_000);
    expect(await shop.job(id)).to.include({
      status: "processing",
      phase: "submitting",
      leaseOwner: null,
      crashes: 0,
      fence: 1,
    });
    expect(await shop.attempts(id)).to.deep.equal([[1, "outcome_unknown"]]);
    expect(worker.leases.count).to.equal(0);

    shop.provider.behaviour = completes;
    await shop.start({ capabilities: { idempotentSubmit: true } });
    await shop.quiet();
    expect(await shop.expectCompleted(id)).to.include({ crashes: 0, attempt: 2 });
    expect(await shop.attempts(id)).to.deep.equal([
      [1, "outcome_unknown"],
      [2, "completed"],
    ]);
  });

  it("lets nobody submit again what it broke off, where that could make a second piece", async () => {
    const { behaviour } = holds();
    shop.provider.behaviour = behaviour;
    const id = await shop.acceptOne();
    const worker = await shop.start();
    await shop.provider.submitted();
    await worker.stop(1_000);
    shop.provider.behaviour = completes;
    await shop.start();
    await shop.pass(GRACE_MS);
    await shop.expectFailed(id, "provider_timeout");
    expect(shop.provider.submissions).to.have.length(1);
  });

  it("leaves accepted work to the provider: the next one asks after it, and its attempt stays accepted", async () => {
    shop.provider.behaviour = accepts(1_000);
    shop.provider.pollBehaviour = (_, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
    const id = await shop.acceptOne();
    const worker = await shop.start();
    await shop.pass(1_000);
    expect(worker.calls()).to.equal(1);
    await worker.stop(500);
    expect(await shop.job(id)).to.include({ phase: "rendering", leaseOwner: null, crashes: 0 });
    expect(await shop.attempts(id)).to.deep.equal([[1, "accepted"]]);

    shop.provider.pollBehaviour = async () => ({ state: "completed", tracks: [SCRIPTED_TRACK] });
    await shop.start();
    await shop.quiet();
    await shop.expectCompleted(id);
  });

  it("fails no job because its own stop broke off a search at the end of the grace time", async () => {
    shop.provider.behaviour = (request, context) =>
      request.attempt === 1 ? Promise.reject(new Error("reply lost")) : completes(request, context);
    shop.provider.lookupBehaviour = (_, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
    const id = await shop.acceptOne();
    const worker = await shop.start({ capabilities: { lookup: true } });
    await shop.quiet();
    shop.clock.set(shop.clock.now() + GRACE_MS);
    await shop.pass(1_000);
    expect(worker.calls()).to.equal(1);
    await worker.stop(0);
    expect(await shop.job(id)).to.include({ status: "processing", phase: "submitting", leaseOwner: null });

    shop.provider.lookupBehaviour = async () => ({ state: "absent" });
    await shop.start({ capabilities: { lookup: true } });
    await shop.pass(1_000);
    await shop.expectCompleted(id);
  });

  it("waits for what a claim under way still brings", async () => {
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const { jobs } = shop.storage;
    let claims = 0;
    const slowJobs: typeof jobs = Object.assign(Object.create(jobs) as typeof jobs, {
      async claimJobs(request: ClaimRequest) {
        const claimed = await jobs.claimJobs(request);
        if (claimed.length === 0) return claimed;
        claims++;
        await gate;
        return claimed;
      },
    });
    const id = await shop.acceptOne();
    const worker = shop.prepare({ stores: { jobs: slowJobs }, capabilities: { idempotentSubmit: true } });
    await worker.jobs.start();
    await until("the claim is under way", () => claims === 1);
    let isStopped = false;
    const stopped = worker.jobs.stop(10_000).then(() => (isStopped = true));
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    expect(isStopped).to.equal(false);
    open();
    await stopped;
    await shop.expectCompleted(id);
  });
});
