import { expect } from "chai";
import type { JobId } from "../../../core/ids.js";
import type { ProviderCapabilities } from "../../../core/ports/music-provider.js";
import { ManualClock } from "../../support/doubles/manual-clock.js";
import { unavailableStores } from "../../support/doubles/faulty-storage.js";
import { gate, MemoryVendor } from "../../support/doubles/memory-vendor.js";
import { submitCompletes } from "../../support/doubles/scripted-provider.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { CALL_LIMIT_MS, GRACE_MS, LEASE_MS, until, type Worker, WorkerHarness } from "./worker-harness.js";

const MINUTE = 60_000;
/** The time that a plugin has to obey its signal. */
const OBEY_MS = 5_000;

describe("A purchase whose result arrives late", () => {
  let harness: WorkerHarness;
  let vendor: MemoryVendor;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
    vendor = new MemoryVendor(harness.provider);
  });
  afterEach(() => harness.close());

  /** A job whose worker hangs in the call until its lease has ended, while another worker runs. */
  async function hangInCall(
    capabilities: Partial<ProviderCapabilities>,
  ): Promise<{ readonly id: JobId; readonly hanging: Worker }> {
    const id = await harness.acceptOne();
    const hanging = await harness.start({ capabilities, clock: new ManualClock(harness.clock.now()) });
    await harness.provider.submitted();
    await harness.start({ capabilities, expectedCost: { amount: 1, unit: "USD" } });
    return { id, hanging };
  }

  const stateOf = async (id: JobId): Promise<(readonly unknown[])[]> =>
    (await harness.storage.jobs.listAttempts(id)).map(({ state, loss }) => [state, loss] as const);

  describe("from a worker that lost its lease", () => {
    for (const [what, capabilities] of [
      ["neither repeats nor finds submissions", {}],
      ["finds submissions", { lookup: true }],
    ] as const) {
      it(`is delivered after another worker's lookup, at a provider that ${what}`, async () => {
        const held = gate();
        vendor.reply = held.wait;
        const { id, hanging } = await hangInCall(capabilities);
        await harness.pass(LEASE_MS + 5_000);
        const crashes = "lookup" in capabilities ? 0 : 1;
        expect(await harness.job(id)).to.include({ status: "processing", leaseOwner: null, crashes });
        held.release();
        await until("the lost worker has reported it", () => hanging.leases.count === 0);
        vendor.hasFinished = true;
        await harness.pass(10_000);
        await harness.expectCompleted(id);
        expect(await stateOf(id)).to.deep.equal([["settled", null]]);
        expect([vendor.purchases.length, harness.provider.submissions.length]).to.deep.equal([1, 1]);
      });
    }

    it("is cancelled upstream when its job was refunded meanwhile, and counted as late", async () => {
      const held = gate();
      vendor.reply = held.wait;
      const { id, hanging } = await hangInCall({ cancel: true });
      await harness.pass(GRACE_MS + 1_000);
      const failed = await harness.expectFailed(id, "provider_timeout");
      expect(await stateOf(id)).to.deep.equal([["abandoned", "unknown"]]);
      held.release();
      await until("the lost worker has reported it", () => hanging.leases.count === 0);
      await harness.pass(2_000);
      expect(await harness.expectFailed(id, "provider_timeout")).to.deep.equal(failed);
      expect(await stateOf(id)).to.deep.equal([["abandoned", "late"]]);
      const [attempt] = await harness.storage.jobs.listAttempts(id);
      expect(attempt).to.deep.include({ outcome: "accepted", billable: "unknown" });
      expect(vendor.cancelled).to.deep.equal(vendor.purchases);
      expect(vendor.purchases).to.have.length(1);
    });
  });

  describe("from a provider with lookup, when the worker was disconnected during a long upload", () => {
    const capabilities = { lookup: true };

    it("is not bought again while its call may go on, although the provider does not know it", async () => {
      const upload = gate();
      vendor.upload = upload.wait;
      const { id, hanging } = await hangInCall(capabilities);
      await harness.pass(CALL_LIMIT_MS - 5_000);
      expect(harness.provider.lookups.length).to.be.above(0);
      expect([harness.provider.submissions.length, vendor.purchases.length]).to.deep.equal([1, 0]);
      upload.release();
      await until("the lost worker has reported it", () => hanging.leases.count === 0);
      vendor.hasFinished = true;
      await harness.pass(MINUTE);
      await harness.expectCompleted(id);
      expect([vendor.purchases.length, harness.provider.submissions.length]).to.deep.equal([1, 1]);
    });

    it("is bought once when the call began late after an outage during the recording of its intent", async () => {
      const upload = gate();
      vendor.upload = () => (harness.provider.submissions.length === 1 ? upload.wait() : Promise.resolve());
      const clock = new ManualClock(harness.clock.now());
      const beganBy = clock.now() + LEASE_MS - 6_000;
      const id = await harness.acceptOne();
      // The job is claimed; then every write waits for almost the length of a lease.
      const { unitOfWork, jobs } = unavailableStores(harness.storage, () => clock.now() < beganBy);
      const claiming = new FaultyPort(harness.storage.jobs).on("renewLeases", (_, ...given) =>
        jobs.renewLeases(...given),
      );
      const stores = { unitOfWork, jobs: claiming };
      const first = await harness.start({ capabilities, clock, stores });
      while (harness.provider.submissions.length === 0 && clock.now() < beganBy + LEASE_MS) {
        harness.clock.set(clock.now() + 1_000);
        await harness.pass(1_000, clock);
      }
      expect(clock.now()).to.be.within(beganBy, beganBy + 5_000);
      // Its upload continues while it is disconnected, and completes just before its limit.
      await harness.start({ capabilities });
      await harness.pass(CALL_LIMIT_MS - 2_000);
      upload.release();
      expect(harness.provider.lookups.length).to.be.above(0);
      await until("the lost worker has reported it", () => first.leases.count === 0);
      vendor.hasFinished = true;
      await harness.pass(2 * MINUTE);
      await harness.expectCompleted(id);
      expect([vendor.purchases.length, harness.provider.submissions.length]).to.deep.equal([1, 1]);
    });

    it("is bought again after its call has certainly ended, when it never arrived", async () => {
      const upload = gate();
      vendor.upload = (request) => (request.attempt === 1 ? upload.wait() : Promise.resolve());
      const { id } = await hangInCall(capabilities);
      vendor.hasFinished = true;
      await harness.pass(CALL_LIMIT_MS + MINUTE);
      await harness.expectCompleted(id);
      expect(await stateOf(id)).to.deep.equal([
        ["refused", null],
        ["settled", null],
      ]);
      expect(vendor.purchases).to.have.length(1);
    });
  });

  describe("from a plugin that ignores its signal", () => {
    /** The log line of the abandoned call. */
    const leftCall = () =>
      harness.logger.lines.find(({ message }) => message.startsWith("A plugin did not end a call"))?.fields;

    for (const reply of ["accepted", "completed"] as const) {
      it(`leaves its slot free after the limit, and is delivered when the call ends (${reply})`, async () => {
        const held = gate();
        vendor.reply = (request) => (request.jobId === stuck ? held.wait() : Promise.resolve());
        const { behaviour } = harness.provider;
        harness.provider.behaviour = async (request, context) => {
          const accepted = await behaviour(request, context);
          return reply === "accepted" ? accepted : submitCompletes(request, context);
        };
        const stuck = await harness.acceptOne();
        const worker = await harness.start({ concurrency: 1, callLimitMs: MINUTE });
        await harness.provider.submitted();
        const next = await harness.acceptOne();
        vendor.hasFinished = true;
        await harness.pass(MINUTE + OBEY_MS - 1_000);
        expect((await harness.job(next)).status).to.equal("queued");
        await harness.pass(10_000);
        await harness.expectCompleted(next);
        expect(worker.leases.count).to.equal(0);
        expect(await stateOf(stuck)).to.deep.equal([["unknown", null]]);
        expect(leftCall()).to.include({ provider: "scripted", call: "submit" });

        held.release();
        await harness.pass(10_000);
        // It occupies no slot and no lease any more: the workers look idle meanwhile.
        await until("it is settled", async () => (await harness.job(stuck)).status === "completed");
        await harness.expectCompleted(stuck);
        expect(await stateOf(stuck)).to.deep.equal([["settled", null]]);
        expect([vendor.purchases.length, harness.provider.submissions.length]).to.deep.equal([2, 2]);
      });
    }

    it("is polled again when a poll never ends", async () => {
      const held = gate();
      vendor.hasFinished = true;
      const { pollBehaviour } = harness.provider;
      harness.provider.pollBehaviour = async (handle, context) => {
        if (harness.provider.polls.length === 1) await held.wait();
        return pollBehaviour(handle, context);
      };
      const id = await harness.acceptOne();
      await harness.start({ callLimitMs: MINUTE });
      await harness.pass(2 * MINUTE);
      await harness.expectCompleted(id);
      expect(leftCall()).to.include({ provider: "scripted", call: "poll" });
      held.release();
      await harness.pass(5_000);
      await harness.expectCompleted(id);
      expect(vendor.purchases).to.have.length(1);
    });
  });
});
