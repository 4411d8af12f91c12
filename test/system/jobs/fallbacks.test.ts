import { expect } from "chai";
import { ProviderFailure, type ProviderFailureKind } from "../../../core/ports/music-provider.js";
import { submitAccepts, submitFails } from "../../support/doubles/scripted-provider.js";
import { COST, GRACE_MS, WorkerHarness } from "./worker-harness.js";

describe("A job whose model has a fallback", () => {
  let harness: WorkerHarness;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
  });
  afterEach(() => harness.close());

  const served = async (
    id: Awaited<ReturnType<WorkerHarness["acceptOne"]>>,
  ): Promise<(readonly [string, string | null])[]> =>
    (await harness.storage.jobs.listAttempts(id)).map(({ providerId, outcome }) => [providerId, outcome] as const);

  it("goes to the fallback after its provider's last attempt, under the same reservation", async () => {
    harness.provider.behaviour = submitFails("unavailable");
    const id = await harness.acceptOne();
    await harness.start({ withFallback: true, maxAttempts: 2 });
    await harness.pass(1_000);
    const job = await harness.expectCompleted(id);
    expect(job).to.include({
      providerId: "fallback",
      servedModelId: "fallback/song",
      modelId: "scripted/song",
      operation: "music_fallback_full",
    });
    expect(await served(id)).to.deep.equal([
      ["scripted", "unavailable"],
      ["scripted", "unavailable"],
      ["fallback", "completed"],
    ]);
    expect(harness.fallback.submissions[0]).to.have.nested.property("model.id", "fallback/song");
    expect(harness.fallback.submissions[0]).to.include({ jobId: id, attempt: 3 });
    expect((await harness.storage.library.tracksOfJobs([id])).get(id)?.[0]?.origin?.providerId).to.equal("fallback");
  });

  for (const kind of ["misconfigured", "out_of_credit"] as const) {
    it(`goes to the fallback at once after ${kind}, which opens the breaker and logs an error`, async () => {
      harness.provider.behaviour = submitFails(kind);
      const id = await harness.acceptOne();
      const worker = await harness.start({ withFallback: true });
      await harness.quiet();
      await harness.pass(0);
      await harness.expectCompleted(id);
      expect(harness.provider.submissions).to.have.length(1);
      expect(await worker.availability.state("scripted")).to.equal("open");
      expect(
        harness.logger.lines.some(
          ({ level, message }) => level === "error" && message === "A provider needs its operator",
        ),
      ).to.equal(true);
    });
  }

  it("goes to the fallback without a submission while the provider's breaker is open", async () => {
    const worker = await harness.start({ withFallback: true });
    await worker.availability.recordBroken("scripted");
    const id = await harness.acceptOne();
    await harness.pass(1_500);
    await harness.expectCompleted(id);
    expect([harness.provider.submissions.length, harness.fallback.submissions.length]).to.deep.equal([0, 1]);
  });

  it("waits when the fallback is unavailable too, and completes when one is back", async () => {
    const worker = await harness.start({ withFallback: true });
    await worker.availability.recordBroken("scripted");
    await worker.availability.recordBroken("fallback");
    const id = await harness.acceptOne();
    await harness.pass(5_000);
    expect(await harness.job(id)).to.include({ status: "queued", phase: "waiting", attempt: 0 });
    await harness.pass(45_000);
    await harness.expectCompleted(id);
  });

  it("fails, refunded once, when the fallback refuses as well", async () => {
    harness.provider.behaviour = submitFails("unavailable");
    harness.fallback.behaviour = submitFails("timeout");
    const id = await harness.acceptOne();
    await harness.start({ withFallback: true, maxAttempts: 1 });
    await harness.pass(0);
    await harness.pass(0);
    await harness.expectFailed(id, "provider_timeout");
    expect(await served(id)).to.deep.equal([
      ["scripted", "unavailable"],
      ["fallback", "timeout"],
    ]);
  });

  const STAYING: readonly ProviderFailureKind[] = ["content_rejected", "invalid_input", "failed", "cancelled", "gone"];
  for (const kind of STAYING) {
    it(`stays with its provider after ${kind}`, async () => {
      harness.provider.behaviour = submitFails(kind);
      const id = await harness.acceptOne();
      await harness.start({ withFallback: true });
      await harness.quiet();
      await harness.expectFailed(id, kind === "content_rejected" ? "invalid_request" : "generation_failed");
      expect(harness.fallback.submissions).to.have.length(0);
    });
  }

  it("never goes to the fallback after an unknown outcome, however long it stays unknown", async () => {
    harness.provider.behaviour = submitFails("outcome_unknown");
    const id = await harness.acceptOne();
    await harness.start({ withFallback: true });
    await harness.pass(GRACE_MS + 1_000);
    await harness.expectFailed(id, "provider_timeout");
    expect([harness.provider.submissions.length, harness.fallback.submissions.length]).to.deep.equal([1, 0]);
  });

  it("never goes to the fallback after its provider accepted, whatever the polls return", async () => {
    harness.provider.behaviour = submitAccepts(1_000);
    harness.provider.pollBehaviour = () => Promise.reject(new ProviderFailure("unavailable", "busy"));
    const id = await harness.acceptOne();
    await harness.start({ withFallback: true, deadlineMs: 60_000 });
    await harness.pass(12 * 60_000);
    await harness.expectFailed(id, "provider_timeout");
    expect(harness.fallback.submissions).to.have.length(0);
  });

  it("waits for a rate-limited provider, however often, without a fallback", async () => {
    let refusals = 0;
    harness.provider.behaviour = (request, context) => {
      refusals += 1;
      return refusals <= 8 ? submitFails("rate_limited")(request, context) : submitAccepts(500)(request, context);
    };
    const id = await harness.acceptOne();
    const worker = await harness.start({ withFallback: true, maxAttempts: 2, breakerFailures: 1 });
    await harness.pass(240_000);
    const job = await harness.expectCompleted(id);
    expect(job).to.include({ providerId: "scripted", refusals: 0, attempt: 9, creditsCharged: COST });
    expect(await worker.availability.state("scripted")).to.equal("closed");
  });
});
