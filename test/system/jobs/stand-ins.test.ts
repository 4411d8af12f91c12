import { expect } from "chai";
import { ProviderFailure, type ProviderFailureKind } from "../../../core/ports/music-provider.js";
import { accepts, fails } from "../../support/doubles/scripted-provider.js";
import { COST, GRACE_MS, WorkerHarness } from "./worker-harness.js";

describe("A job whose model has a stand-in", () => {
  let shop: WorkerHarness;
  beforeEach(async () => {
    shop = await WorkerHarness.open();
  });
  afterEach(() => shop.close());

  const served = async (
    id: Awaited<ReturnType<WorkerHarness["acceptOne"]>>,
  ): Promise<(readonly [string, string | null])[]> =>
    (await shop.storage.jobs.listAttempts(id)).map(({ providerId, outcome }) => [providerId, outcome] as const);

  it("goes to it when its provider refused as often as it may, under the one reservation, and shows who did it", async () => {
    shop.provider.behaviour = fails("unavailable");
    const id = await shop.acceptOne();
    await shop.start({ withFallback: true, maxAttempts: 2 });
    await shop.pass(1_000);
    const job = await shop.expectCompleted(id);
    expect(job).to.include({
      providerId: "stand-in",
      servedModelId: "stand-in/song",
      modelId: "scripted/song",
      operation: "music_stand-in_full",
    });
    expect(await served(id)).to.deep.equal([
      ["scripted", "unavailable"],
      ["scripted", "unavailable"],
      ["stand-in", "completed"],
    ]);
    expect(shop.fallback.submissions[0]).to.have.nested.property("model.id", "stand-in/song");
    expect(shop.fallback.submissions[0]).to.include({ jobId: id, attempt: 3 });
    expect((await shop.storage.library.tracksOfJobs([id])).get(id)?.[0]?.origin?.providerId).to.equal("stand-in");
  });

  for (const kind of ["misconfigured", "out_of_credit"] as const) {
    it(`goes to it at once when its provider is ${kind}, which opens the breaker and tells the operator`, async () => {
      shop.provider.behaviour = fails(kind);
      const id = await shop.acceptOne();
      const worker = await shop.start({ withFallback: true });
      await shop.quiet();
      await shop.pass(0);
      await shop.expectCompleted(id);
      expect(shop.provider.submissions).to.have.length(1);
      expect(await worker.availability.state("scripted")).to.equal("open");
      expect(
        shop.logger.lines.some(
          ({ level, message }) => level === "error" && message === "A provider needs its operator",
        ),
      ).to.equal(true);
    });
  }

  it("is taken from a provider whose breaker is open, and not submitted there", async () => {
    const worker = await shop.start({ withFallback: true });
    await worker.availability.recordBroken("scripted");
    const id = await shop.acceptOne();
    await shop.pass(1_500);
    await shop.expectCompleted(id);
    expect([shop.provider.submissions.length, shop.fallback.submissions.length]).to.deep.equal([0, 1]);
  });

  it("waits when no stand-in is there either, and is done once one is back", async () => {
    const worker = await shop.start({ withFallback: true });
    await worker.availability.recordBroken("scripted");
    await worker.availability.recordBroken("stand-in");
    const id = await shop.acceptOne();
    await shop.pass(5_000);
    expect(await shop.job(id)).to.include({ status: "queued", phase: "waiting", attempt: 0 });
    await shop.pass(45_000);
    await shop.expectCompleted(id);
  });

  it("fails, refunded once, when the stand-in refuses as well", async () => {
    shop.provider.behaviour = fails("unavailable");
    shop.fallback.behaviour = fails("timeout");
    const id = await shop.acceptOne();
    await shop.start({ withFallback: true, maxAttempts: 1 });
    await shop.pass(0);
    await shop.pass(0);
    await shop.expectFailed(id, "provider_timeout");
    expect(await served(id)).to.deep.equal([
      ["scripted", "unavailable"],
      ["stand-in", "timeout"],
    ]);
  });

  const STAYING: readonly ProviderFailureKind[] = ["content_rejected", "invalid_input", "failed", "cancelled", "gone"];
  for (const kind of STAYING) {
    it(`stays with its provider when that says ${kind}`, async () => {
      shop.provider.behaviour = fails(kind);
      const id = await shop.acceptOne();
      await shop.start({ withFallback: true });
      await shop.quiet();
      await shop.expectFailed(id, kind === "content_rejected" ? "invalid_request" : "generation_failed");
      expect(shop.fallback.submissions).to.have.length(0);
    });
  }

  it("never goes to it after an unknown outcome, however long nothing is heard", async () => {
    shop.provider.behaviour = fails("outcome_unknown");
    const id = await shop.acceptOne();
    await shop.start({ withFallback: true });
    await shop.pass(GRACE_MS + 1_000);
    await shop.expectFailed(id, "provider_timeout");
    expect([shop.provider.submissions.length, shop.fallback.submissions.length]).to.deep.equal([1, 0]);
  });

  it("never goes to it once its provider accepted, whatever the polls say", async () => {
    shop.provider.behaviour = accepts(1_000);
    shop.provider.pollBehaviour = () => Promise.reject(new ProviderFailure("unavailable", "busy"));
    const id = await shop.acceptOne();
    await shop.start({ withFallback: true, deadlineMs: 60_000 });
    await shop.pass(12 * 60_000);
    await shop.expectFailed(id, "provider_timeout");
    expect(shop.fallback.submissions).to.have.length(0);
  });

  it("waits for a provider that asks for fewer requests, however often, without going elsewhere", async () => {
    let refusals = 0;
    shop.provider.behaviour = (request, context) => {
      refusals += 1;
      return refusals <= 8 ? fails("rate_limited")(request, context) : accepts(500)(request, context);
    };
    const id = await shop.acceptOne();
    const worker = await shop.start({ withFallback: true, maxAttempts: 2, breakerFailures: 1 });
    await shop.pass(240_000);
    const job = await shop.expectCompleted(id);
    expect(job).to.include({ providerId: "scripted", refusals: 0, attempt: 9, creditsCharged: COST });
    expect(await worker.availability.state("scripted")).to.equal("closed");
  });
});
