import { expect } from "chai";
import { ProviderFailure } from "../../../core/ports/music-provider.js";
import { accepts, type Behaviour, completes, fails, SCRIPTED_TRACK } from "../../support/doubles/scripted-provider.js";
import { GRACE_MS, WorkerHarness } from "./worker-harness.js";

const LOST = fails("outcome_unknown");

describe("A submission whose outcome is unknown", () => {
  let shop: WorkerHarness;
  beforeEach(async () => {
    shop = await WorkerHarness.open();
  });
  afterEach(() => shop.close());

  /** Loses the first submission, and does the rest as told. */
  function loseFirst(then: Behaviour): void {
    shop.provider.behaviour = (request, context) =>
      request.attempt === 1 ? LOST(request, context) : then(request, context);
  }

  describe("at a provider whose submit is idempotent", () => {
    const capabilities = { idempotentSubmit: true };

    it("is submitted again under the same job id", async () => {
      loseFirst(completes);
      const id = await shop.acceptOne();
      await shop.start({ capabilities });
      await shop.quiet();
      expect(await shop.job(id)).to.include({
        status: "processing",
        phase: "submitting",
        leaseOwner: null,
        dueAt: shop.clock.now() + 750,
      });
      await shop.pass(750);
      await shop.expectCompleted(id);
      expect(shop.provider.submissions.map(({ jobId }) => jobId)).to.deep.equal([id, id]);
      expect(new Set(shop.provider.submissions.map(({ attemptId }) => attemptId)).size).to.equal(2);
      expect(await shop.attempts(id)).to.deep.equal([
        [1, "outcome_unknown"],
        [2, "completed"],
      ]);
    });

    it("is given up and refunded after three more", async () => {
      shop.provider.behaviour = LOST;
      const id = await shop.acceptOne();
      await shop.start({ capabilities });
      await shop.pass(60_000);
      await shop.expectFailed(id, "provider_timeout");
      expect(await shop.attempts(id)).to.deep.equal([1, 2, 3, 4].map((number) => [number, "outcome_unknown"]));
    });

    it("may be refused for now when it is repeated, and is repeated again: nobody else gets it, since the first may have been accepted", async () => {
      loseFirst(fails("unavailable"));
      const id = await shop.acceptOne();
      await shop.start({ capabilities, withFallback: true });
      await shop.pass(750);
      expect(await shop.job(id)).to.include({ status: "processing", phase: "submitting", refusals: 1 });
      await shop.pass(60_000);
      await shop.expectFailed(id, "provider_unavailable");
      expect(shop.fallback.submissions).to.have.length(0);
      expect((await shop.attempts(id)).map(([, outcome]) => outcome)).to.deep.equal([
        "outcome_unknown",
        "unavailable",
        "unavailable",
        "unavailable",
      ]);
    });

    it("stays with its provider while that asks for fewer requests, or its breaker opens meanwhile", async () => {
      loseFirst(fails("rate_limited"));
      const id = await shop.acceptOne();
      await shop.start({ capabilities, withFallback: true, breakerFailures: 1 });
      await shop.pass(120_000);
      shop.provider.behaviour = completes;
      await shop.pass(120_000);
      await shop.expectCompleted(id);
      expect([(await shop.job(id)).providerId, shop.fallback.submissions.length]).to.deep.equal(["scripted", 0]);
    });
  });

  describe("at a provider that can be searched", () => {
    const capabilities = { lookup: true };

    it("is adopted when the provider renders it", async () => {
      shop.provider.behaviour = LOST;
      const handle = { version: 1, data: { task: "found" } };
      shop.provider.lookupBehaviour = async () => ({ state: "accepted", handle, nextPollMs: 5_000 });
      const id = await shop.acceptOne();
      await shop.start({ capabilities });
      await shop.pass(750);
      expect(shop.provider.lookups).to.deep.equal([shop.provider.submissions[0]?.attemptId]);
      expect(await shop.job(id)).to.include({ phase: "rendering", leaseOwner: null, dueAt: shop.clock.now() + 5_000 });
      expect((await shop.storage.jobs.listAttempts(id))[0]?.handle).to.deep.equal(handle);
      expect(await shop.attempts(id)).to.deep.equal([[1, "accepted"]]);
      await shop.pass(5_000);
      await shop.expectCompleted(id);
      expect([shop.provider.submissions.length, shop.provider.polls]).to.deep.equal([1, [handle]]);
    });

    it("is adopted when the provider has finished it", async () => {
      shop.provider.behaviour = LOST;
      shop.provider.lookupBehaviour = async () => ({ state: "completed", tracks: [SCRIPTED_TRACK] });
      const id = await shop.acceptOne();
      await shop.start({ capabilities });
      await shop.pass(750);
      await shop.expectCompleted(id);
      expect(await shop.attempts(id)).to.deep.equal([[1, "completed"]]);
      expect(shop.provider.submissions).to.have.length(1);
    });

    it("is submitted again when the provider is sure it never came", async () => {
      loseFirst(completes);
      const id = await shop.acceptOne();
      await shop.start({ capabilities });
      await shop.pass(1_000);
      await shop.expectCompleted(id);
      expect(await shop.attempts(id)).to.deep.equal([
        [1, "unavailable"],
        [2, "completed"],
      ]);
      expect((await shop.storage.jobs.listAttempts(id))[0]).to.include({ cost: null, billable: "no" });
    });

    it("is submitted again only once the provider's search has had its time to see it", async () => {
      loseFirst(completes);
      const id = await shop.acceptOne();
      await shop.start({ capabilities: { ...capabilities, lookupSettlesMs: 60_000 } });
      await shop.pass(59_750);
      expect(await shop.job(id)).to.include({ phase: "submitting", attempt: 1 });
      expect(shop.provider.submissions).to.have.length(1);
      await shop.pass(250);
      await shop.expectCompleted(id);
    });

    it("is searched again while the search fails, and adopted in the end", async () => {
      shop.provider.behaviour = LOST;
      shop.provider.lookupBehaviour = () => Promise.reject(new ProviderFailure("unavailable", "down"));
      const id = await shop.acceptOne();
      await shop.start({ capabilities });
      await shop.pass(10_000);
      expect(shop.provider.lookups.length).to.be.above(3);
      expect(await shop.job(id)).to.include({ phase: "submitting", leaseOwner: null, crashes: 1 });
      shop.provider.lookupBehaviour = async () => ({ state: "completed", tracks: [SCRIPTED_TRACK] });
      await shop.pass(1_500);
      await shop.expectCompleted(id);
    });

    it("is refunded when the search fails until the grace time is over, and never submitted twice", async () => {
      shop.provider.behaviour = LOST;
      shop.provider.lookupBehaviour = () => Promise.reject(new Error("unreadable"));
      const id = await shop.acceptOne();
      await shop.start({ capabilities });
      await shop.pass(GRACE_MS - 250);
      expect((await shop.job(id)).status).to.equal("processing");
      await shop.pass(250);
      await shop.expectFailed(id, "provider_timeout");
      expect(await shop.attempts(id)).to.deep.equal([[1, "outcome_unknown"]]);
      expect(shop.provider.submissions).to.have.length(1);
    });

    it("that turns out finished is not lost to a fault in our own files, even after the grace time", async () => {
      shop.provider.behaviour = LOST;
      shop.provider.lookupBehaviour = () => Promise.reject(new Error("unreadable"));
      const id = await shop.acceptOne();
      await shop.start({ capabilities });
      await shop.quiet();
      const put = shop.audio.put.bind(shop.audio);
      shop.audio.put = () => Promise.reject(new Error("disk full"));
      shop.provider.lookupBehaviour = async () => ({ state: "completed", tracks: [SCRIPTED_TRACK] });
      shop.clock.set(shop.clock.now() + GRACE_MS);
      await shop.pass(3_000);
      expect(await shop.job(id)).to.include({ status: "processing", phase: "submitting" });
      shop.audio.put = put;
      await shop.pass(30_000);
      await shop.expectCompleted(id);
    });
  });

  describe("at a provider without either power", () => {
    it("waits for the grace time, then is refunded; it is never submitted twice", async () => {
      shop.provider.behaviour = LOST;
      const id = await shop.acceptOne();
      await shop.start();
      await shop.quiet();
      expect(await shop.job(id)).to.include({
        status: "processing",
        phase: "submitting",
        crashes: 0,
        dueAt: shop.clock.now() + GRACE_MS,
      });
      await shop.pass(GRACE_MS - 250);
      expect((await shop.job(id)).status).to.equal("processing");
      await shop.pass(250);
      await shop.expectFailed(id, "provider_timeout");
      expect(await shop.attempts(id)).to.deep.equal([[1, "outcome_unknown"]]);
      expect(shop.provider.submissions).to.have.length(1);
    });

    for (const [what, error] of [
      ["an error of its own", new TypeError("fetch failed")],
      ["no error at all", undefined as unknown as Error],
    ] as const) {
      it(`is assumed when the plugin throws ${what}`, async () => {
        shop.provider.behaviour = () => Promise.reject(error);
        const id = await shop.acceptOne();
        await shop.start();
        await shop.quiet();
        expect(await shop.attempts(id)).to.deep.equal([[1, "outcome_unknown"]]);
        expect((await shop.job(id)).phase).to.equal("submitting");
      });
    }

    it("is assumed when the work is accepted under a handle of more than 16 KiB; it is never submitted twice", async () => {
      const handle = { version: 1, data: { id: "x".repeat(16_384) } };
      shop.provider.behaviour = () => Promise.resolve({ state: "accepted", handle, nextPollMs: 1_000 });
      const id = await shop.acceptOne();
      await shop.start();
      await shop.quiet();
      await shop.pass(GRACE_MS);
      await shop.expectFailed(id, "provider_timeout");
      expect(await shop.attempts(id)).to.deep.equal([[1, "outcome_unknown"]]);
      expect(shop.provider.submissions).to.have.length(1);
    });

    it("holds no worker while it waits", async () => {
      shop.provider.behaviour = LOST;
      await shop.accept(3);
      const { leases } = await shop.start({ concurrency: 1 });
      await shop.quiet();
      shop.provider.behaviour = accepts();
      const id = await shop.acceptOne();
      await shop.pass(1_000);
      await shop.expectCompleted(id);
      expect(leases.count).to.equal(0);
    });
  });
});
