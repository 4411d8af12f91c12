import { expect } from "chai";
import { ProviderFailure } from "../../../core/ports/music-provider.js";
import { accepts, type Behaviour, completes, fails, SCRIPTED_TRACK } from "../../support/doubles/scripted-provider.js";
import { GRACE_MS, WorkerHarness } from "./worker-harness.js";

const LOST = fails("outcome_unknown");

describe("A submission whose outcome is unknown", () => {
  let harness: WorkerHarness;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
  });
  afterEach(() => harness.close());

  /** Loses the first submission, and does the rest as told. */
  function loseFirst(then: Behaviour): void {
    harness.provider.behaviour = (request, context) =>
      request.attempt === 1 ? LOST(request, context) : then(request, context);
  }

  describe("at a provider whose submit is idempotent", () => {
    const capabilities = { idempotentSubmit: true };

    it("is submitted again under the same job id", async () => {
      loseFirst(completes);
      const id = await harness.acceptOne();
      await harness.start({ capabilities });
      await harness.quiet();
      expect(await harness.job(id)).to.include({
        status: "processing",
        phase: "submitting",
        leaseOwner: null,
        dueAt: harness.clock.now() + 750,
      });
      await harness.pass(750);
      await harness.expectCompleted(id);
      expect(harness.provider.submissions.map(({ jobId }) => jobId)).to.deep.equal([id, id]);
      expect(new Set(harness.provider.submissions.map(({ attemptId }) => attemptId)).size).to.equal(2);
      expect(await harness.attempts(id)).to.deep.equal([
        [1, "outcome_unknown"],
        [2, "completed"],
      ]);
    });

    it("is given up and refunded after three more", async () => {
      harness.provider.behaviour = LOST;
      const id = await harness.acceptOne();
      await harness.start({ capabilities });
      await harness.pass(60_000);
      await harness.expectFailed(id, "provider_timeout");
      expect(await harness.attempts(id)).to.deep.equal([1, 2, 3, 4].map((number) => [number, "outcome_unknown"]));
    });

    it("may be refused for now when it is repeated, and is repeated again: nobody else gets it, since the first may have been accepted", async () => {
      loseFirst(fails("unavailable"));
      const id = await harness.acceptOne();
      await harness.start({ capabilities, withFallback: true });
      await harness.pass(750);
      expect(await harness.job(id)).to.include({ status: "processing", phase: "submitting", refusals: 1 });
      await harness.pass(60_000);
      await harness.expectFailed(id, "provider_unavailable");
      expect(harness.fallback.submissions).to.have.length(0);
      expect((await harness.attempts(id)).map(([, outcome]) => outcome)).to.deep.equal([
        "outcome_unknown",
        "unavailable",
        "unavailable",
        "unavailable",
      ]);
    });

    it("stays with its provider while that asks for fewer requests, or its breaker opens meanwhile", async () => {
      loseFirst(fails("rate_limited"));
      const id = await harness.acceptOne();
      await harness.start({ capabilities, withFallback: true, breakerFailures: 1 });
      await harness.pass(120_000);
      harness.provider.behaviour = completes;
      await harness.pass(120_000);
      await harness.expectCompleted(id);
      expect([(await harness.job(id)).providerId, harness.fallback.submissions.length]).to.deep.equal(["scripted", 0]);
    });
  });

  describe("at a provider that can be searched", () => {
    const capabilities = { lookup: true };

    it("is adopted when the provider renders it", async () => {
      harness.provider.behaviour = LOST;
      const handle = { version: 1, data: { task: "found" } };
      harness.provider.lookupBehaviour = async () => ({ state: "accepted", handle, nextPollMs: 5_000 });
      const id = await harness.acceptOne();
      await harness.start({ capabilities });
      await harness.pass(750);
      expect(harness.provider.lookups).to.deep.equal([harness.provider.submissions[0]?.attemptId]);
      expect(await harness.job(id)).to.include({
        phase: "rendering",
        leaseOwner: null,
        dueAt: harness.clock.now() + 5_000,
      });
      expect((await harness.storage.jobs.listAttempts(id))[0]?.handle).to.deep.equal(handle);
      expect(await harness.attempts(id)).to.deep.equal([[1, "accepted"]]);
      await harness.pass(5_000);
      await harness.expectCompleted(id);
      expect([harness.provider.submissions.length, harness.provider.polls]).to.deep.equal([1, [handle]]);
    });

    it("is adopted when the provider has finished it", async () => {
      harness.provider.behaviour = LOST;
      harness.provider.lookupBehaviour = async () => ({ state: "completed", tracks: [SCRIPTED_TRACK] });
      const id = await harness.acceptOne();
      await harness.start({ capabilities });
      await harness.pass(750);
      await harness.expectCompleted(id);
      expect(await harness.attempts(id)).to.deep.equal([[1, "completed"]]);
      expect(harness.provider.submissions).to.have.length(1);
    });

    it("is submitted again when the provider is sure it never came", async () => {
      loseFirst(completes);
      const id = await harness.acceptOne();
      await harness.start({ capabilities });
      await harness.pass(1_000);
      await harness.expectCompleted(id);
      expect(await harness.attempts(id)).to.deep.equal([
        [1, "unavailable"],
        [2, "completed"],
      ]);
      expect((await harness.storage.jobs.listAttempts(id))[0]).to.include({ cost: null, billable: "no" });
    });

    it("is submitted again only once the provider's search has had its time to see it", async () => {
      loseFirst(completes);
      const id = await harness.acceptOne();
      await harness.start({ capabilities: { ...capabilities, lookupSettlesMs: 60_000 } });
      await harness.pass(59_750);
      expect(await harness.job(id)).to.include({ phase: "submitting", attempt: 1 });
      expect(harness.provider.submissions).to.have.length(1);
      await harness.pass(250);
      await harness.expectCompleted(id);
    });

    it("is searched again while the search fails, and adopted in the end", async () => {
      harness.provider.behaviour = LOST;
      harness.provider.lookupBehaviour = () => Promise.reject(new ProviderFailure("unavailable", "down"));
      const id = await harness.acceptOne();
      await harness.start({ capabilities });
      await harness.pass(10_000);
      expect(harness.provider.lookups.length).to.be.above(3);
      expect(await harness.job(id)).to.include({ phase: "submitting", leaseOwner: null, crashes: 1 });
      harness.provider.lookupBehaviour = async () => ({ state: "completed", tracks: [SCRIPTED_TRACK] });
      await harness.pass(1_500);
      await harness.expectCompleted(id);
    });

    it("is refunded when the search fails until the grace time is over, and never submitted twice", async () => {
      harness.provider.behaviour = LOST;
      harness.provider.lookupBehaviour = () => Promise.reject(new Error("unreadable"));
      const id = await harness.acceptOne();
      await harness.start({ capabilities });
      await harness.pass(GRACE_MS - 250);
      expect((await harness.job(id)).status).to.equal("processing");
      await harness.pass(250);
      await harness.expectFailed(id, "provider_timeout");
      expect(await harness.attempts(id)).to.deep.equal([[1, "outcome_unknown"]]);
      expect(harness.provider.submissions).to.have.length(1);
    });

    it("that turns out finished is not lost to a fault in our own files, even after the grace time", async () => {
      harness.provider.behaviour = LOST;
      harness.provider.lookupBehaviour = () => Promise.reject(new Error("unreadable"));
      const id = await harness.acceptOne();
      await harness.start({ capabilities });
      await harness.quiet();
      const put = harness.audio.put.bind(harness.audio);
      harness.audio.put = () => Promise.reject(new Error("disk full"));
      harness.provider.lookupBehaviour = async () => ({ state: "completed", tracks: [SCRIPTED_TRACK] });
      harness.clock.set(harness.clock.now() + GRACE_MS);
      await harness.pass(3_000);
      expect(await harness.job(id)).to.include({ status: "processing", phase: "submitting" });
      harness.audio.put = put;
      await harness.pass(30_000);
      await harness.expectCompleted(id);
    });
  });

  describe("at a provider without either power", () => {
    it("waits for the grace time, then is refunded; it is never submitted twice", async () => {
      harness.provider.behaviour = LOST;
      const id = await harness.acceptOne();
      await harness.start();
      await harness.quiet();
      expect(await harness.job(id)).to.include({
        status: "processing",
        phase: "submitting",
        crashes: 0,
        dueAt: harness.clock.now() + GRACE_MS,
      });
      await harness.pass(GRACE_MS - 250);
      expect((await harness.job(id)).status).to.equal("processing");
      await harness.pass(250);
      await harness.expectFailed(id, "provider_timeout");
      expect(await harness.attempts(id)).to.deep.equal([[1, "outcome_unknown"]]);
      expect(harness.provider.submissions).to.have.length(1);
    });

    for (const [what, error] of [
      ["an error of its own", new TypeError("fetch failed")],
      ["no error at all", undefined as unknown as Error],
    ] as const) {
      it(`is assumed when the plugin throws ${what}`, async () => {
        harness.provider.behaviour = () => Promise.reject(error);
        const id = await harness.acceptOne();
        await harness.start();
        await harness.quiet();
        expect(await harness.attempts(id)).to.deep.equal([[1, "outcome_unknown"]]);
        expect((await harness.job(id)).phase).to.equal("submitting");
      });
    }

    it("is assumed when the work is accepted under a handle of more than 16 KiB; it is never submitted twice", async () => {
      const handle = { version: 1, data: { id: "x".repeat(16_384) } };
      harness.provider.behaviour = () => Promise.resolve({ state: "accepted", handle, nextPollMs: 1_000 });
      const id = await harness.acceptOne();
      await harness.start();
      await harness.quiet();
      await harness.pass(GRACE_MS);
      await harness.expectFailed(id, "provider_timeout");
      expect(await harness.attempts(id)).to.deep.equal([[1, "outcome_unknown"]]);
      expect(harness.provider.submissions).to.have.length(1);
    });

    it("holds no worker while it waits", async () => {
      harness.provider.behaviour = LOST;
      await harness.accept(3);
      const { leases } = await harness.start({ concurrency: 1 });
      await harness.quiet();
      harness.provider.behaviour = accepts();
      const id = await harness.acceptOne();
      await harness.pass(1_000);
      await harness.expectCompleted(id);
      expect(leases.count).to.equal(0);
    });
  });
});
