import { expect } from "chai";
import { ServiceUnavailableError } from "../../../../core/errors.js";
import { ProviderFailure, type SubmitRequest } from "../../../../core/ports/music-provider.js";
import { aTrack } from "../../../support/builders.js";
import { FaultyPort } from "../../../support/doubles/faulty-port.js";
import {
  submitAccepts,
  submitCompletes,
  submitFails,
  submitHolds,
} from "../../../support/doubles/scripted-provider.js";
import { memoryWorkers, type MemoryWorkers } from "../../../support/memory-workers.js";

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

const messagesOf = ({ logger }: MemoryWorkers): string[] => logger.lines.map(({ message }) => message);

describe("The submission of a job", () => {
  it("asks the provider for what the caller wanted, and completes with what it returns at once", async () => {
    const kit = await memoryWorkers();
    const id = await kit.accept({ prompt: "slow rain", duration: 42, options: { seed: 7 } });
    await kit.start();
    expect(await kit.job(id)).to.include({ status: "completed", phase: "ended", creditsCharged: 10, attempt: 1 });
    const [attempt] = await kit.attempts(id);
    expect(attempt).to.include({ state: "settled", number: 1, startedAt: kit.clock.now() });
    // Ten seconds to begin, the limit of the call, and five for a plugin to obey.
    expect(attempt?.callEndsAt).to.equal(kit.clock.now() + 105 * SECOND);
    expect(await kit.entries(id)).to.deep.equal(["reserve", "charge"]);
    const [request] = kit.provider.submissions as unknown as readonly [Extract<SubmitRequest, { operation: "music" }>];
    expect(request).to.deep.include({
      jobId: id,
      attempt: 1,
      callbackUrl: null,
      operation: "music",
      prompt: "slow rain",
      lyrics: null,
      durationSeconds: 42,
      instrumental: true,
      options: { seed: 7, style_weight: 0.5 },
    });
    expect(request.attemptId).to.equal(attempt?.id);
    expect(request.model.id).to.equal("scripted/song");
    expect(request).not.to.have.property("reference");
    expect(kit.metrics.counted).to.deep.include(["call", "submit"]);
  });

  it("logs every line of a job with its ids", async () => {
    const kit = await memoryWorkers();
    kit.provider.behaviour = submitFails("failed");
    const id = await kit.accept();
    await kit.start();
    const line = kit.logger.lines.find(({ message }) => message === "A submission failed");
    expect(line?.fields).to.include({ job_id: id, kind: "failed", attempt: 1 });
  });

  it("leaves accepted work to the provider, and the job without a worker", async () => {
    const kit = await memoryWorkers();
    kit.provider.behaviour = submitAccepts(60 * SECOND);
    const id = await kit.accept();
    await kit.start();
    expect(await kit.job(id)).to.include({
      status: "processing",
      phase: "rendering",
      leaseOwner: null,
      dueAt: kit.clock.now() + 60 * SECOND,
    });
    expect((await kit.attempts(id))[0]).to.deep.include({
      state: "accepted",
      handle: { version: 1, data: { task: id } },
    });
  });

  it("begins for as many jobs as there are slots, and for the next when one is free", async () => {
    const kit = await memoryWorkers({ working: { concurrency: 2 } });
    const held = submitHolds();
    kit.provider.behaviour = held.behaviour;
    for (let count = 0; count < 3; count++) await kit.accept();
    const workers = await kit.start();
    expect(kit.provider.submissions).to.have.length(2);
    expect(workers.slots).to.deep.equal([
      { provider: "scripted", kind: "submit", inUse: 2, max: 2 },
      { provider: "scripted", kind: "poll", inUse: 0, max: 50 },
    ]);
    held.release();
    await kit.pass();
    expect(kit.provider.submissions).to.have.length(3);
  });

  it("begins when the job is accepted, without waiting for the next look", async () => {
    const kit = await memoryWorkers();
    await kit.start();
    const id = await kit.accept();
    await kit.pass();
    expect(await kit.job(id)).to.include({ status: "completed", completedAt: kit.clock.now() });
  });

  it("waits while an operator has paused submissions", async () => {
    const kit = await memoryWorkers();
    await kit.core.submissions.pause();
    await kit.start();
    const id = await kit.accept();
    await kit.pass(5 * SECOND);
    expect(await kit.job(id)).to.include({ status: "queued", attempt: 0 });
    await kit.core.submissions.resume();
    await kit.pass(2 * SECOND);
    expect(await kit.job(id)).to.include({ status: "completed" });
  });

  describe("that the provider refuses", () => {
    it("for now is repeated later, and completes", async () => {
      const kit = await memoryWorkers();
      kit.provider.behaviour = submitFails("unavailable");
      const id = await kit.accept();
      await kit.start();
      expect(await kit.job(id)).to.include({ status: "queued", phase: "waiting", refusals: 1, attempt: 1 });
      kit.provider.behaviour = submitCompletes;
      await kit.pass(5 * SECOND);
      expect(await kit.job(id)).to.include({ status: "completed", attempt: 2 });
      expect((await kit.attempts(id)).map(({ state, outcome }) => [state, outcome])).to.deep.equal([
        ["refused", "unavailable"],
        ["settled", "completed"],
      ]);
    });

    it("for good ends the job, refunded, without files", async () => {
      const kit = await memoryWorkers();
      kit.provider.behaviour = submitFails("content_rejected");
      const id = await kit.accept();
      await kit.start();
      expect(await kit.job(id)).to.include({ status: "failed", creditsCharged: 0 });
      expect(await kit.entries(id)).to.deep.equal(["reserve", "refund"]);
      expect(kit.audio.keys).to.deep.equal([]);
    });

    it("goes to the fallback, under the same reservation", async () => {
      const kit = await memoryWorkers({ withFallback: true, jobs: { retry: { maxAttempts: 1, backoffMs: 1_000 } } });
      kit.provider.behaviour = submitFails("unavailable");
      const id = await kit.accept();
      await kit.start();
      await kit.pass(5 * SECOND);
      expect(await kit.job(id)).to.include({
        status: "completed",
        providerId: "fallback",
        servedModelId: "fallback/song",
      });
      expect(messagesOf(kit)).to.include("A job goes to a fallback");
      expect(await kit.entries(id)).to.deep.equal(["reserve", "charge"]);
    });

    it("stays with its provider where that only limits requests", async () => {
      const kit = await memoryWorkers({ withFallback: true, jobs: { retry: { maxAttempts: 1, backoffMs: 1_000 } } });
      kit.provider.behaviour = submitFails("rate_limited");
      const id = await kit.accept();
      await kit.start();
      await kit.pass(5 * SECOND);
      expect(await kit.job(id)).to.include({ status: "queued", providerId: "scripted" });
      expect(kit.fallback.submissions).to.deep.equal([]);
    });

    it("fails when no fallback is available either", async () => {
      const kit = await memoryWorkers({ withFallback: true, jobs: { retry: { maxAttempts: 1, backoffMs: 1_000 } } });
      for (const one of [kit.provider, kit.fallback]) one.behaviour = submitFails("unavailable");
      const id = await kit.accept();
      await kit.start();
      await kit.pass(10 * SECOND);
      expect(await kit.job(id)).to.include({ status: "failed", providerId: "fallback" });
      expect((await kit.attempts(id)).map(({ providerId }) => providerId)).to.deep.equal(["scripted", "fallback"]);
    });
  });

  describe("while the provider is unavailable", () => {
    const breaker = { failures: 1, openMs: 30 * SECOND };
    const patient = { retry: { maxAttempts: 9, backoffMs: 1_000 } };

    it("waits until one job has tried it again", async () => {
      const kit = await memoryWorkers({ options: { breaker }, jobs: patient });
      kit.provider.behaviour = submitFails("unavailable");
      const ids = [await kit.accept(), await kit.accept()];
      await kit.start();
      const before = kit.provider.submissions.length;
      expect(messagesOf(kit)).to.include("The circuit breaker of a provider opened");
      await kit.pass(20 * SECOND);
      expect(kit.provider.submissions).to.have.length(before);
      kit.provider.behaviour = submitCompletes;
      await kit.pass(15 * SECOND);
      for (const id of ids) expect(await kit.job(id)).to.include({ status: "completed" });
    });

    it("opens again when that one is refused", async () => {
      const kit = await memoryWorkers({ options: { breaker }, jobs: patient });
      kit.provider.behaviour = submitFails("unavailable");
      await kit.accept();
      await kit.start();
      await kit.pass(35 * SECOND);
      const tried = kit.provider.submissions.length;
      expect(tried).to.equal(2);
      await kit.pass(20 * SECOND);
      expect(kit.provider.submissions).to.have.length(tried);
    });

    it("goes to a fallback without calling it", async () => {
      const kit = await memoryWorkers({ options: { breaker }, jobs: patient, withFallback: true });
      kit.provider.behaviour = submitFails("unavailable");
      await kit.accept();
      await kit.start();
      const before = kit.provider.submissions.length;
      const id = await kit.accept();
      await kit.pass(2 * SECOND);
      expect(await kit.job(id)).to.include({ status: "completed", providerId: "fallback" });
      expect(kit.provider.submissions).to.have.length(before);
    });

    it("keeps away from a provider that needs its operator from the first refusal on", async () => {
      const kit = await memoryWorkers({ jobs: patient });
      kit.provider.behaviour = submitFails("misconfigured");
      await kit.accept();
      await kit.start();
      await kit.pass(20 * SECOND);
      expect(kit.provider.submissions).to.have.length(1);
      const line = kit.logger.lines.find(({ message }) => message === "A provider needs its operator");
      expect(line?.fields).to.include({ provider: "scripted", kind: "misconfigured" });
    });

    it("keeps away from a model that it no longer offers alone", async () => {
      const kit = await memoryWorkers({ jobs: patient, working: { concurrency: 1 } });
      kit.provider.behaviour = (request, context) =>
        request.operation === "music" && request.model.id === "scripted/song"
          ? submitFails("model_unavailable")(request, context)
          : submitCompletes(request, context);
      const beat = await kit.accept({ modelId: "scripted/beat", instrumental: false });
      for (let count = 0; count < 2; count++) await kit.accept();
      await kit.start();
      await kit.pass(15 * SECOND);
      expect(await kit.job(beat)).to.include({ status: "completed" });
      expect(kit.provider.submissions).to.have.length(2);
      const line = kit.logger.lines.find(({ message }) => message === "A provider no longer offers a model");
      expect(line?.fields).to.include({ model: "scripted/song" });
      kit.provider.behaviour = submitCompletes;
      await kit.pass(30 * SECOND);
      expect(kit.provider.submissions).to.have.length(4);
    });
  });

  describe("whose reply is lost", () => {
    const lost = submitFails("outcome_unknown");

    it("is repeated under the same job where that buys nothing new", async () => {
      const kit = await memoryWorkers({ capabilities: { idempotentSubmit: true } });
      kit.provider.behaviour = lost;
      const id = await kit.accept();
      await kit.start();
      expect((await kit.attempts(id))[0]).to.include({ state: "unknown" });
      kit.provider.behaviour = submitCompletes;
      await kit.pass(10 * SECOND);
      expect(await kit.job(id)).to.include({ status: "completed" });
      expect(kit.provider.submissions.map(({ jobId }) => jobId)).to.deep.equal([id, id]);
    });

    it("is looked up where the provider can, and adopted", async () => {
      const kit = await memoryWorkers({ capabilities: { lookup: true } });
      kit.provider.behaviour = lost;
      kit.provider.lookupBehaviour = () =>
        Promise.resolve({ state: "accepted", handle: { version: 1, data: { task: "found" } }, nextPollMs: 5_000 });
      const id = await kit.accept();
      await kit.start();
      await kit.pass(5 * SECOND);
      const [attempt] = await kit.attempts(id);
      expect(kit.provider.lookups[0]).to.equal(attempt?.id);
      await kit.pass(10 * SECOND);
      expect(await kit.job(id)).to.include({ status: "completed" });
      expect(kit.provider.submissions).to.have.length(1);
    });

    it("is submitted again where the look-up says that it never arrived", async () => {
      const kit = await memoryWorkers({ capabilities: { lookup: true } });
      kit.provider.behaviour = lost;
      const id = await kit.accept();
      await kit.start();
      kit.provider.behaviour = submitCompletes;
      await kit.pass(10 * SECOND);
      expect(await kit.job(id)).to.include({ status: "completed", attempt: 2 });
      expect((await kit.attempts(id)).map(({ state }) => state)).to.deep.equal(["refused", "settled"]);
    });

    it("completes with a result that the look-up returns", async () => {
      const kit = await memoryWorkers({ capabilities: { lookup: true } });
      kit.provider.behaviour = lost;
      kit.provider.lookupBehaviour = () => submitCompletes({} as SubmitRequest, {} as never) as never;
      const id = await kit.accept();
      await kit.start();
      await kit.pass(5 * SECOND);
      expect(await kit.job(id)).to.include({ status: "completed", attempt: 1 });
    });

    it("is looked up again while that fails, and given up after the grace time", async () => {
      const kit = await memoryWorkers({ capabilities: { lookup: true }, jobs: { unknownGraceMs: 200 * SECOND } });
      kit.provider.behaviour = lost;
      kit.provider.lookupBehaviour = () => Promise.reject(new ProviderFailure("unavailable", "not now"));
      const id = await kit.accept();
      await kit.start();
      await kit.pass(100 * SECOND);
      expect(kit.provider.lookups.length).to.be.above(1);
      expect(messagesOf(kit)).to.include("A lost submission could not be looked up");
      expect(await kit.job(id)).to.include({ phase: "submitting" });
      await kit.pass(150 * SECOND);
      expect(await kit.job(id)).to.include({ status: "failed", creditsCharged: 0 });
      expect(kit.provider.submissions).to.have.length(1);
    });

    it("is waited for otherwise, and never bought twice", async () => {
      const kit = await memoryWorkers({ jobs: { unknownGraceMs: 200 * SECOND } });
      kit.provider.behaviour = () => Promise.reject(new Error("a socket died"));
      const id = await kit.accept();
      await kit.start();
      expect((await kit.attempts(id))[0]).to.include({
        state: "unknown",
        message: "The plugin failed without saying why.",
      });
      await kit.pass(250 * SECOND);
      expect(await kit.job(id)).to.include({ status: "failed", creditsCharged: 0 });
      expect(kit.provider.submissions).to.have.length(1);
    });
  });

  describe("that hangs", () => {
    it("frees its slot at the limit of the call; what comes late is adopted", async () => {
      const kit = await memoryWorkers({ jobs: { unknownGraceMs: 300 * SECOND } });
      let finish: () => void = () => undefined;
      kit.provider.behaviour = (request, context) =>
        new Promise((resolve) => {
          finish = () => resolve(submitAccepts(SECOND)(request, context));
        });
      const id = await kit.accept();
      const workers = await kit.start();
      await kit.pass(96 * SECOND);
      expect(workers.slots[0]).to.include({ inUse: 0 });
      expect(await kit.job(id)).to.include({ phase: "submitting" });
      finish();
      await kit.pass(5 * SECOND);
      expect(messagesOf(kit)).to.include("A provider took a submission after the plugin's call had been left alone");
      expect(await kit.job(id)).to.include({ status: "completed" });
    });
  });

  describe("that cannot begin", () => {
    it("ends the job, refunded, where its model left the settings", async () => {
      const kit = await memoryWorkers();
      const id = await kit.accept();
      kit.storage.sql("UPDATE fermata_jobs SET served_model_id = 'scripted/gone' WHERE id = ?", id);
      await kit.start();
      expect(await kit.job(id)).to.include({ status: "failed", creditsCharged: 0, attempt: 0 });
      expect(kit.provider.submissions).to.deep.equal([]);
    });

    it("does not call the provider when recording the intent took too long", async () => {
      const kit = await memoryWorkers({
        ports: ({ jobs }) => ({
          jobs: new FaultyPort(jobs).on("insertAttempts", async (insert, tx, attempts) => {
            await insert(tx, attempts);
            if (attempts.length > 0) delay();
          }),
        }),
      });
      let delays = 0;
      const delay = (): void => {
        delays += 1;
        if (delays === 1) kit.clock.set(kit.clock.now() + 10 * SECOND + 1);
      };
      const id = await kit.accept();
      await kit.start();
      expect(kit.provider.submissions).to.have.length(1);
      const [attempt] = await kit.attempts(id);
      expect(attempt).to.include({
        state: "refused",
        billable: "no",
        message: "The provider was not called: recording the intent took too long.",
      });
    });

    it("records no intent while the storage is away, and goes on afterwards", async () => {
      let isAway = false;
      const kit = await memoryWorkers({
        ports: ({ unitOfWork }) => ({
          unitOfWork: new FaultyPort(unitOfWork).failOn(
            "inTransaction",
            () => new ServiceUnavailableError(),
            () => isAway,
          ),
        }),
      });
      const id = await kit.accept();
      isAway = true;
      await kit.start();
      await kit.pass(3 * SECOND);
      expect(kit.provider.submissions).to.deep.equal([]);
      isAway = false;
      await kit.pass(60 * SECOND);
      expect(await kit.job(id)).to.include({ status: "completed" });
    });

    it("ends a job past its deadline in place of a submission", async () => {
      const kit = await memoryWorkers();
      const id = await kit.accept();
      kit.clock.set(kit.clock.now() + HOUR);
      await kit.start();
      expect(await kit.job(id)).to.include({ status: "failed", creditsCharged: 0 });
      expect(kit.provider.submissions).to.deep.equal([]);
    });
  });

  it("that crashes the step is repeated later, and given up after four crashes", async () => {
    let isBroken = false;
    const kit = await memoryWorkers({
      ports: ({ library }) => ({
        library: new FaultyPort(library).failOn(
          "findTracks",
          () => new Error("a bug"),
          () => isBroken,
        ),
      }),
      catalogue: { stemSplit: { sources: "any" } },
    });
    const track = aTrack({ accountId: kit.accountId });
    await kit.storage.inTransaction((tx) => kit.storage.library.insertTracks(tx, [track]));
    const { id } = await kit.core.splits.start({ kind: "stem_split", accountId: kit.accountId, trackId: track.id });
    isBroken = true;
    await kit.start();
    expect(messagesOf(kit)).to.include("Job step failed unexpectedly; it will be retried");
    expect(await kit.job(id)).to.include({ status: "queued", crashes: 1 });
    await kit.pass(300 * SECOND);
    expect(await kit.job(id)).to.include({ status: "failed", creditsCharged: 0 });
  });
});
