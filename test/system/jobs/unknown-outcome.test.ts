import { expect } from "chai";
import { ProviderFailure } from "../../../core/ports/music-provider.js";
import {
  submitAccepts,
  type SubmitBehaviour,
  submitCompletes,
  submitFails,
  SCRIPTED_TRACK,
} from "../../support/doubles/scripted-provider.js";
import { GRACE_MS, WorkerHarness } from "./worker-harness.js";

const LOST = submitFails("outcome_unknown");
/** The longest pause between two calls. */
const REPEATED_WITHIN_MS = 60_000;

describe("A submission whose outcome is unknown", () => {
  let harness: WorkerHarness;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
  });
  afterEach(() => harness.close());

  /** Loses the first submission, and follows the script for the rest. */
  function loseFirst(then: SubmitBehaviour): void {
    harness.provider.behaviour = (request, context) =>
      request.attempt === 1 ? LOST(request, context) : then(request, context);
  }

  describe("at a provider whose submit is idempotent", () => {
    const capabilities = { idempotentSubmit: true };

    it("is submitted again under the same job id", async () => {
      loseFirst(submitCompletes);
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

    it("is submitted again until the grace time ends, then abandoned and refunded", async () => {
      harness.provider.behaviour = LOST;
      const id = await harness.acceptOne();
      await harness.start({ capabilities });
      await harness.pass(GRACE_MS - 1_000);
      expect(await harness.job(id)).to.include({ status: "processing", phase: "submitting", crashes: 0 });
      await harness.pass(REPEATED_WITHIN_MS);
      await harness.expectFailed(id, "provider_timeout");
      const attempts = await harness.attempts(id);
      expect(attempts.length).to.be.within(5, 15);
      expect(new Set(attempts.map(([, outcome]) => outcome))).to.deep.equal(new Set(["outcome_unknown"]));
    });

    it("is never thrown away after calls without a reply: the next one brings what the first bought", async () => {
      harness.provider.behaviour = LOST;
      const id = await harness.acceptOne();
      await harness.start({ capabilities });
      await harness.pass(60_000);
      expect(harness.provider.submissions.length).to.be.above(4);
      harness.provider.behaviour = submitCompletes;
      await harness.pass(REPEATED_WITHIN_MS);
      await harness.expectCompleted(id);
    });

    it("is repeated after a temporary refusal, without a fallback: the first may have been accepted", async () => {
      loseFirst(submitFails("unavailable"));
      const id = await harness.acceptOne();
      await harness.start({ capabilities, withFallback: true });
      await harness.pass(750);
      expect(await harness.job(id)).to.include({ status: "processing", phase: "submitting", refusals: 1 });
      await harness.pass(GRACE_MS - 2_000);
      expect(await harness.job(id)).to.include({ status: "processing", phase: "submitting" });
      await harness.pass(REPEATED_WITHIN_MS);
      await harness.expectFailed(id, "provider_unavailable");
      expect(harness.fallback.submissions).to.have.length(0);
      const [first, ...others] = (await harness.attempts(id)).map(([, outcome]) => outcome);
      expect([first, ...new Set(others)]).to.deep.equal(["outcome_unknown", "unavailable"]);
    });

    it("stays with its provider while that limits requests, or its breaker is open", async () => {
      loseFirst(submitFails("rate_limited"));
      const id = await harness.acceptOne();
      await harness.start({ capabilities, withFallback: true, breakerFailures: 1 });
      await harness.pass(120_000);
      harness.provider.behaviour = submitCompletes;
      await harness.pass(120_000);
      await harness.expectCompleted(id);
      expect([(await harness.job(id)).providerId, harness.fallback.submissions.length]).to.deep.equal(["scripted", 0]);
    });
  });

  describe("at a provider with lookup", () => {
    const capabilities = { lookup: true };

    it("is adopted when the provider is rendering it", async () => {
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

    it("is submitted again when the provider reports that it never arrived", async () => {
      loseFirst(submitCompletes);
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

    it("is submitted again only after the provider's lookup delay", async () => {
      loseFirst(submitCompletes);
      const id = await harness.acceptOne();
      await harness.start({ capabilities: { ...capabilities, lookupSettlesMs: 60_000 } });
      await harness.pass(59_750);
      expect(await harness.job(id)).to.include({ phase: "submitting", attempt: 1 });
      expect(harness.provider.submissions).to.have.length(1);
      await harness.pass(250);
      await harness.expectCompleted(id);
    });

    it("is looked up again while the lookup fails, and adopted in the end", async () => {
      harness.provider.behaviour = LOST;
      harness.provider.lookupBehaviour = () => Promise.reject(new ProviderFailure("unavailable", "down"));
      const id = await harness.acceptOne();
      await harness.start({ capabilities });
      await harness.pass(10_000);
      expect(harness.provider.lookups.length).to.be.above(3);
      expect(await harness.job(id)).to.include({ phase: "submitting", leaseOwner: null, crashes: 0 });
      harness.provider.lookupBehaviour = async () => ({ state: "completed", tracks: [SCRIPTED_TRACK] });
      await harness.pass(1_500);
      await harness.expectCompleted(id);
    });

    it("is refunded when the lookup fails until the grace time ends, and never submitted twice", async () => {
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

    it("that turns out finished is not lost to a fault of our own storage, even after the grace time", async () => {
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

  describe("at a provider with neither capability", () => {
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

    it("is assumed when the accepted work's handle has more than 16 KiB; it is never submitted twice", async () => {
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

    it("occupies no worker while it waits", async () => {
      harness.provider.behaviour = LOST;
      await harness.accept(3);
      const { leases } = await harness.start({ concurrency: 1 });
      await harness.quiet();
      harness.provider.behaviour = submitAccepts();
      const id = await harness.acceptOne();
      await harness.pass(1_000);
      await harness.expectCompleted(id);
      expect(leases.count).to.equal(0);
    });
  });
});
