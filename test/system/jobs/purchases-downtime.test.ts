import { expect } from "chai";
import type { Job } from "../../../core/jobs/job.js";
import { MemoryVendor } from "../../support/doubles/memory-vendor.js";
import { type WorkerOptions, WorkerHarness } from "./worker-harness.js";

const MINUTE = 60_000;
const RENDERS = 30;
/** Polls repeatedly. */
const FEW = 3;
const OPTIONS: WorkerOptions = {
  capabilities: { cancel: true },
  concurrency: RENDERS,
  deadlineMs: 60 * MINUTE,
  renderDeadlineMs: 60 * MINUTE,
  expectedCost: { amount: 1, unit: "USD" },
};

describe("Purchases while no worker runs for longer than both deadlines", () => {
  let harness: WorkerHarness;
  let vendor: MemoryVendor;
  let jobs: Job[];
  beforeEach(async () => {
    harness = await WorkerHarness.open();
    vendor = new MemoryVendor(harness.provider);
  });
  afterEach(() => harness.close());

  /** Buys this many renders, and runs no worker for longer than either deadline. */
  async function buyAndGoAway(count: number): Promise<void> {
    jobs = await harness.accept(count);
    const worker = await harness.start(OPTIONS);
    await harness.pass(1_000);
    await worker.stop();
    expect(vendor.purchases).to.have.length(count);
    harness.clock.set(harness.clock.now() + 61 * MINUTE);
  }

  async function expectAllDelivered(): Promise<void> {
    for (const { id } of jobs) await harness.expectCompleted(id);
    expect([vendor.purchases.length, vendor.cancelled.length]).to.deep.equal([jobs.length, 0]);
  }

  async function expectAllGivenUp(): Promise<void> {
    for (const { id } of jobs) {
      await harness.expectFailed(id, "provider_timeout");
      const [attempt] = await harness.storage.jobs.listAttempts(id);
      expect(attempt).to.include({ state: "abandoned", loss: "deadline" });
      expect(attempt?.cost).to.deep.equal({ amount: 1, unit: "USD" });
    }
    expect(vendor.purchases).to.have.length(jobs.length);
    expect([...vendor.cancelled].sort()).to.deep.equal([...vendor.purchases].sort());
  }

  it("are delivered by a last poll when the provider has finished them meanwhile", async () => {
    await buyAndGoAway(RENDERS);
    vendor.hasFinished = true;
    await harness.start(OPTIONS);
    await harness.pass(5_000);
    await expectAllDelivered();
    expect(harness.provider.polls).to.have.length(RENDERS);
  });

  it("are refunded and cancelled upstream when the last poll finds them still rendering", async () => {
    await buyAndGoAway(RENDERS);
    await harness.start(OPTIONS);
    await harness.pass(10_000);
    await expectAllGivenUp();
    expect(harness.provider.polls).to.have.length(RENDERS);
  });

  it("are delivered when the provider is unavailable after the restart and is back within ten minutes", async () => {
    await buyAndGoAway(FEW);
    vendor.hasFinished = true;
    vendor.isReachable = false;
    await harness.start(OPTIONS);
    await harness.pass(9 * MINUTE);
    for (const { id } of jobs) expect((await harness.job(id)).status).to.equal("processing");
    vendor.isReachable = true;
    await harness.pass(5_000);
    await expectAllDelivered();
  });

  it("are refunded when the provider is unavailable for longer than that, and cancelled once it is back", async () => {
    await buyAndGoAway(FEW);
    vendor.isReachable = false;
    await harness.start(OPTIONS);
    await harness.pass(10 * MINUTE + 10_000);
    for (const { id } of jobs) await harness.expectFailed(id, "provider_timeout");
    expect(vendor.cancelled).to.deep.equal([]);
    vendor.isReachable = true;
    await harness.pass(5 * MINUTE);
    await expectAllGivenUp();
  });
});

describe("The two deadlines of a job", () => {
  let harness: WorkerHarness;
  let vendor: MemoryVendor;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
    vendor = new MemoryVendor(harness.provider);
  });
  afterEach(() => harness.close());

  it("give a job that waited almost until its queue deadline the whole render time", async () => {
    const options = { deadlineMs: 60 * MINUTE, renderDeadlineMs: 20 * MINUTE, capabilities: { cancel: true } };
    const [delivered, overdue] = [await harness.acceptOne(), await harness.acceptOne()];
    harness.clock.set(harness.clock.now() + 59 * MINUTE);
    const worker = await harness.start(options);
    await harness.pass(18 * MINUTE);
    expect((await harness.job(delivered)).status).to.equal("processing");
    const acceptedAt = (await harness.storage.jobs.listAttempts(delivered))[0]?.acceptedAt ?? 0;
    const [attempt] = await harness.storage.jobs.listAttempts(delivered);
    expect(attempt?.deadlineAt).to.equal(acceptedAt + 20 * MINUTE);
    vendor.hasFinished = true;
    await harness.pass(5_000);
    await harness.expectCompleted(delivered);
    await harness.expectCompleted(overdue);
    expect(vendor.purchases).to.have.length(2);
    await worker.stop();
  });

  it("end a waiting job at the queue deadline, unbought, whatever the render deadline", async () => {
    const options = { deadlineMs: 10 * MINUTE, renderDeadlineMs: 60 * MINUTE, submissions: "paused" as const };
    const id = await harness.acceptOne();
    await harness.start(options);
    await harness.pass(10 * MINUTE + 5_000);
    await harness.expectFailed(id, "provider_unavailable");
    expect(vendor.purchases).to.deep.equal([]);
  });

  it("use the model's render deadline when it has one, longer or shorter than the setting", async () => {
    for (const [own, delivered] of [
      [90, true],
      [5, false],
    ] as const) {
      vendor.hasFinished = false;
      const id = await harness.acceptOne();
      const worker = await harness.start({
        deadlineMs: 60 * MINUTE,
        renderDeadlineMs: 20 * MINUTE,
        modelRenderDeadlineMinutes: own,
        capabilities: { cancel: true },
      });
      await harness.pass(25 * MINUTE);
      if (delivered) {
        expect((await harness.job(id)).status).to.equal("processing");
        vendor.hasFinished = true;
        await harness.pass(5_000);
        await harness.expectCompleted(id);
      } else {
        const failed = await harness.expectFailed(id, "provider_timeout");
        expect((failed.completedAt ?? 0) - failed.createdAt).to.be.within(5 * MINUTE, 5 * MINUTE + 15_000);
        expect(vendor.cancelled).to.have.length(1);
      }
      await worker.stop();
    }
    expect(vendor.purchases).to.have.length(2);
  });
});
