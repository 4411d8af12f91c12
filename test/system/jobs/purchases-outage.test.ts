import { expect } from "chai";
import { ServiceUnavailableError } from "../../../core/errors.js";
import type { Job } from "../../../core/jobs/job.js";
import { anId } from "../../support/builders.js";
import { unavailableStores } from "../../support/doubles/faulty-storage.js";
import { gate, MemoryVendor } from "../../support/doubles/memory-vendor.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { CALL_LIMIT_MS, LEASE_MS, type Worker, type WorkerOptions, WorkerHarness } from "./worker-harness.js";

describe("Purchases while the storage is unavailable for longer than a lease", () => {
  let harness: WorkerHarness;
  let vendor: MemoryVendor;
  let isAway: boolean;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
    vendor = new MemoryVendor(harness.provider);
    isAway = false;
  });
  afterEach(() => harness.close());

  function startCutOff(options: WorkerOptions = {}): Promise<Worker> {
    return harness.start({ ...options, stores: unavailableStores(harness.storage, () => isAway) });
  }

  const leasesOf = (jobs: readonly Job[]) =>
    Promise.all(
      jobs.map(async ({ id }) => {
        const { fence, leaseOwner, crashes } = await harness.job(id);
        return { fence, leaseOwner, crashes };
      }),
    );

  for (const phase of ["the provider is called", "the reply is held"] as const) {
    it(`stay with their two workers when it is back (while ${phase})`, async () => {
      const held = gate();
      if (phase === "the provider is called") vendor.upload = held.wait;
      else vendor.reply = held.wait;
      const jobs = await harness.accept(8);
      const workers = [await startCutOff({ concurrency: 4 }), await startCutOff({ concurrency: 4 })];
      await harness.provider.submitted(8);
      await harness.quiet();
      expect(workers.map(({ leases }) => leases.count)).to.deep.equal([4, 4]);
      const before = await leasesOf(jobs);

      isAway = true;
      await harness.pass(LEASE_MS + 5_000);
      for (const { id } of jobs) expect((await harness.job(id)).dueAt).to.be.below(harness.clock.now());
      isAway = false;
      await harness.pass(5_000);
      expect(await leasesOf(jobs), "each lease is its owner's").to.deep.equal(before);

      held.release();
      vendor.hasFinished = true;
      await harness.pass(10_000);
      for (const { id } of jobs) expect(await harness.expectCompleted(id)).to.include({ attempt: 1, crashes: 0 });
      expect(vendor.purchases).to.have.length(8);
    });
  }

  it("are taken over one lease after it is back when their own worker is gone", async () => {
    vendor.hasFinished = true;
    const id = await harness.acceptOne();
    const now = harness.clock.now();
    const owner = anId("prc");
    const by = { owner, leaseUntil: now + LEASE_MS };
    await harness.storage.jobs.claimJobs({ providerId: "scripted", phases: ["waiting"], limit: 1, now, ...by });
    await startCutOff();
    isAway = true;
    await harness.pass(LEASE_MS + 5_000);
    isAway = false;
    await harness.pass(LEASE_MS - 1_000);
    expect(await harness.job(id)).to.include({ leaseOwner: owner, crashes: 0 });
    expect(vendor.purchases).to.deep.equal([]);
    await harness.pass(10_000);
    expect(await harness.expectCompleted(id)).to.include({ attempt: 1 });
    expect(vendor.purchases).to.have.length(1);
  });

  it("are delivered when one of two workers was disconnected, although the other claimed their jobs", async () => {
    const held = gate();
    vendor.reply = held.wait;
    const jobs = await harness.accept(4);
    await startCutOff();
    await harness.provider.submitted(4);
    await harness.start();
    isAway = true;
    await harness.pass(LEASE_MS + 5_000);
    for (const { id } of jobs) expect(await harness.job(id)).to.include({ phase: "submitting", crashes: 1 });
    held.release();
    await harness.pass(2_000);
    isAway = false;
    vendor.hasFinished = true;
    await harness.pass(CALL_LIMIT_MS);
    for (const { id } of jobs) await harness.expectCompleted(id);
    expect(vendor.purchases).to.have.length(4);
  });

  it("are still polled when the storage fails repeatedly for a moment, without counting a crash", async () => {
    let failures = 0;
    const callbacks = new FaultyPort(harness.storage.callbacks).on("unread", (read, ...given) => {
      if (failures === 0) return read(...given);
      failures--;
      return Promise.reject(new ServiceUnavailableError("The storage is unavailable."));
    });
    const stores = { callbacks };
    const id = await harness.acceptOne();
    await harness.start({ stores, capabilities: { callbacks: "signed", cancel: true } });
    await harness.pass(1_000);
    failures = 10;
    vendor.hasFinished = true;
    await harness.pass(60_000);
    expect(failures).to.equal(0);
    expect(await harness.expectCompleted(id)).to.include({ crashes: 0, attempt: 1 });
    expect([vendor.purchases.length, vendor.cancelled.length]).to.deep.equal([1, 0]);
  });
});
