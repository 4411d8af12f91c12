import { expect } from "chai";
import type { JobId } from "../../../core/ids.js";
import { anId } from "../../support/builders.js";
import { MemoryVendor } from "../../support/doubles/memory-vendor.js";
import { LEASE_MS, WorkerHarness } from "./worker-harness.js";

const CANCELS = { capabilities: { cancel: true } };

describe("A purchase on which workers are lost repeatedly", () => {
  let harness: WorkerHarness;
  let vendor: MemoryVendor;
  let id: JobId;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
    vendor = new MemoryVendor(harness.provider);
    id = await harness.acceptOne();
    const worker = await harness.start(CANCELS);
    await harness.pass(1_000);
    await worker.stop();
    harness.clock.set(harness.clock.now() + 5_000);
    for (let lost = 0; lost < 4; lost++) await claimAndVanish();
    expect(await harness.job(id)).to.include({ phase: "rendering", crashes: 3 });
  });
  afterEach(() => harness.close());

  /** A process that claims the rendering jobs, and is then lost. */
  async function claimAndVanish(): Promise<void> {
    const now = harness.clock.now();
    const phases = ["rendering" as const];
    const by = { owner: anId("prc"), leaseUntil: now + LEASE_MS };
    const claimed = await harness.storage.jobs.claimJobs({ providerId: "scripted", phases, limit: 1, now, ...by });
    expect(claimed).to.have.length(1);
    harness.clock.set(now + LEASE_MS);
  }

  const stateOf = async (): Promise<(readonly unknown[])[]> =>
    (await harness.storage.jobs.listAttempts(id)).map(({ state, loss }) => [state, loss] as const);

  it("is left alone for a minute, and delivered when the provider has finished it", async () => {
    vendor.hasFinished = true;
    await harness.start(CANCELS);
    await harness.pass(59_000);
    expect(await harness.job(id)).to.include({ phase: "rendering", crashes: 4, leaseOwner: null });
    expect(harness.provider.polls).to.have.length(0);
    await harness.pass(1_000);
    expect(await harness.expectCompleted(id)).to.include({ crashes: 4, attempt: 1 });
    expect(await stateOf()).to.deep.equal([["settled", null]]);
    expect([vendor.purchases.length, vendor.cancelled.length, harness.provider.polls.length]).to.deep.equal([1, 0, 1]);
  });

  it("continues with a reset crash count when the provider still renders it", async () => {
    const worker = await harness.start(CANCELS);
    await harness.pass(60_000);
    expect(await harness.job(id)).to.include({ phase: "rendering", crashes: 0, leaseOwner: null });
    await worker.stop();
    harness.clock.set(harness.clock.now() + 5_000);
    for (let lost = 0; lost < 3; lost++) await claimAndVanish();
    vendor.hasFinished = true;
    await harness.start(CANCELS);
    await harness.pass(1_000);
    await harness.expectCompleted(id);
    expect([vendor.purchases.length, vendor.cancelled.length]).to.deep.equal([1, 0]);
  });

  it("is left alone for longer after a further loss, and neither given up nor cancelled", async () => {
    await claimAndVanish();
    vendor.hasFinished = true;
    await harness.start(CANCELS);
    await harness.pass(1_000);
    expect(await harness.job(id)).to.include({ crashes: 5, leaseOwner: null });
    await harness.pass(118_000);
    expect(harness.provider.polls).to.have.length(0);
    await harness.pass(1_000);
    await harness.expectCompleted(id);
    expect([vendor.purchases.length, vendor.cancelled.length]).to.deep.equal([1, 0]);
  });
});
