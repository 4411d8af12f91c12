import { expect } from "chai";
import type { Stores } from "../../../adapters/storage/sql/index.js";
import type { JobId, TrackId } from "../../../core/ids.js";
import { LostReplies } from "../../support/doubles/faulty-storage.js";
import { MemoryVendor } from "../../support/doubles/memory-vendor.js";
import { type SubmitBehaviour, SCRIPTED_TRACK } from "../../support/doubles/scripted-provider.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { GRACE_MS, until, type Worker, WorkerHarness } from "./worker-harness.js";

const LYRICS = { text: "Rain\non tin", words: [{ text: "Rain", startSeconds: 1.25, endSeconds: 1.5 }] };

const sings: SubmitBehaviour = () =>
  Promise.resolve({ state: "completed", tracks: [{ ...SCRIPTED_TRACK, lyrics: LYRICS }] });

describe("A purchase whose job is being settled", () => {
  let harness: WorkerHarness;
  let vendor: MemoryVendor;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
    vendor = new MemoryVendor(harness.provider);
    vendor.hasFinished = true;
  });
  afterEach(() => harness.close());

  for (const how of ["rejects", "reruns"] as const) {
    const what = how === "rejects" ? "and the caller learns nothing of it" : "and the work runs again";

    it(`is charged and notified once and keeps its files when the commit's reply is lost, ${what}`, async () => {
      const lossy = new LostReplies(harness.storage, how);
      const id = await harness.acceptOne();
      await harness.start({ stores: lossy.stores });
      await harness.pass(10_000);
      await harness.expectCompleted(id);
      expect([lossy.lost, vendor.purchases.length]).to.deep.equal([1, 1]);
    });

    it(`is charged and notified once and keeps its files when the process stops meanwhile, ${what}`, async () => {
      let stopping: Promise<unknown> = Promise.resolve();
      const lossy = new LostReplies(harness.storage, how, 1, () => {
        worker.leases.abandonAll();
        stopping = worker.stop(0);
      });
      const id = await harness.acceptOne();
      const worker: Worker = await harness.start({ stores: lossy.stores });
      await harness.quiet();
      await harness.clock.advance(5_000);
      await until("the reply is lost", () => lossy.lost === 1);
      await stopping;
      await harness.expectCompleted(id);
      expect(vendor.purchases).to.have.length(1);
      // Another worker finds nothing to do.
      await harness.start();
      await harness.pass(60_000);
      await harness.expectCompleted(id);
      expect(vendor.purchases).to.have.length(1);
    });
  }

  /** A library that refuses tracks while it is broken, with an error that is not the storage's. */
  function brokenLibrary(isBroken: () => boolean): Pick<Stores, "library"> {
    const library = new FaultyPort(harness.storage.library).on("insertTracks", (insert, ...given) =>
      isBroken() && given[1].length > 0
        ? Promise.reject(new Error("UNIQUE constraint failed: tracks.id"))
        : insert(...given),
    );
    return { library };
  }

  async function expectStored(id: JobId): Promise<void> {
    expect(await harness.job(id)).to.include({ status: "processing", phase: "rendering", leaseOwner: null });
    const [attempt] = await harness.storage.jobs.listAttempts(id);
    expect(attempt?.state).to.equal("stored");
    const keys = attempt?.files?.tracks.flatMap(({ assets }) => assets.map(({ audioKey }) => audioKey)) ?? [];
    expect(keys).to.have.length(4);
    expect(await harness.files()).to.deep.equal([...keys].sort());
  }

  for (const kind of ["behind its handle", "in the worker's memory"] as const) {
    it(`keeps its files when settling fails otherwise, and is settled without another call (${kind})`, async () => {
      if (kind === "in the worker's memory") harness.provider.behaviour = sings;
      let isBroken = true;
      const id = await harness.acceptOne();
      const worker = await harness.start({ stores: brokenLibrary(() => isBroken) });
      await harness.pass(6_000);
      await expectStored(id);
      const [submissions, polls] = [harness.provider.submissions.length, harness.provider.polls.length];
      expect([submissions, polls]).to.deep.equal([1, kind === "behind its handle" ? 1 : 0]);
      // Another process settles it.
      await worker.stop();
      isBroken = false;
      await harness.start();
      await harness.pass(60_000);
      await harness.expectCompleted(id);
      expect([harness.provider.submissions.length, harness.provider.polls.length]).to.deep.equal([submissions, polls]);
      const [track] = (await harness.storage.library.tracksOfJobs([id])).get(id) ?? [];
      const lyrics = await harness.storage.library.findLyrics(track?.id as TrackId);
      const expected = { text: LYRICS.text, words: LYRICS.words };
      expect(lyrics).to.deep.equal(kind === "in the worker's memory" ? expected : null);
    });
  }

  it("is refunded when settling fails until the deadline, and leaves no files", async () => {
    const id = await harness.acceptOne();
    await harness.start({ stores: brokenLibrary(() => true), renderDeadlineMs: 5 * 60_000 });
    await harness.pass(4 * 60_000);
    await expectStored(id);
    await harness.pass(4 * 60_000);
    await harness.expectFailed(id, "provider_timeout");
    expect((await harness.storage.jobs.listAttempts(id))[0]).to.include({ state: "abandoned", loss: "crashed" });
    expect(vendor.purchases).to.have.length(1);
  });
});

describe("A job that ends without a purchase while the commit's reply is lost", () => {
  let harness: WorkerHarness;
  let vendor: MemoryVendor;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
    vendor = new MemoryVendor(harness.provider);
  });
  afterEach(() => harness.close());

  for (const how of ["rejects", "reruns"] as const) {
    it(`is refunded and notified once when its provider refused it (the call ${how})`, async () => {
      harness.provider.behaviour = () => Promise.reject(new Error("unreadable"));
      const lossy = new LostReplies(harness.storage, how);
      const id = await harness.acceptOne();
      await harness.start({ stores: lossy.stores, capabilities: { idempotentSubmit: true } });
      await harness.pass(GRACE_MS + 60_000);
      await harness.expectFailed(id, "provider_timeout");
      expect(lossy.lost).to.equal(1);
    });

    it(`is refunded and notified once at its queue deadline (the call ${how})`, async () => {
      const lossy = new LostReplies(harness.storage, how);
      const id = await harness.acceptOne();
      await harness.start({ stores: lossy.stores, submissions: "paused", deadlineMs: 10_000 });
      await harness.pass(20_000);
      await harness.expectFailed(id, "provider_unavailable");
      expect(lossy.lost).to.equal(1);
    });

    it(`is returned as ended to the operator who cancelled it (the call ${how})`, async () => {
      const lossy = new LostReplies(harness.storage, how);
      const id = await harness.acceptOne();
      const worker = await harness.start({ stores: lossy.stores, capabilities: { cancel: true } });
      await harness.quiet();
      const cancelling = worker.operate.cancel(id, { force: true });
      await harness.pass(5_000);
      const { outcome, generation } = await cancelling;
      expect(await harness.expectFailed(id, "generation_failed")).to.include({ id: generation.id });
      expect([outcome, generation.status, generation.error?.details]).to.deep.equal([
        "cancelled",
        "failed",
        { reason: "cancelled" },
      ]);
      expect([lossy.lost, vendor.cancelled.length]).to.deep.equal([1, 1]);
    });
  }

  it("is reported as cancelled to a second operator too, and refunded once", async () => {
    const id = await harness.acceptOne();
    const { operate } = harness.prepare({ stores: new LostReplies(harness.storage, "reruns").stores });
    await operate.cancel(id, { force: true });
    expect(await operate.cancel(id, { force: true })).to.have.property("outcome", "cancelled");
    await harness.expectFailed(id, "generation_failed");
  });
});
