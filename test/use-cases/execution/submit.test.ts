import { expect } from "chai";
import { ServiceUnavailableError } from "../../../core/errors.js";
import type { JobId } from "../../../core/ids.js";
import { type SubmitRequest } from "../../../core/ports/music-provider.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { submitAccepts, submitCompletes, submitFails, submitHolds } from "../../support/doubles/scripted-provider.js";
import { memoryWorkers, SPLITTING } from "../../support/memory-workers.js";

const SECOND = 1_000;

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

  it("is given up sooner where no source has to be uploaded", async () => {
    const kit = await memoryWorkers({
      ...SPLITTING,
      working: { callLimitMs: 300 * SECOND, plainCallLimitMs: 60 * SECOND },
    });
    // A call that ignores its signal.
    kit.provider.behaviour = () => new Promise(() => undefined);
    const [generation, split] = [await kit.accept(), await kit.split()];
    const workers = await kit.start();
    const begunAt = kit.clock.now();
    const limitOf = async (id: JobId): Promise<number> => ((await kit.attempts(id))[0]?.callEndsAt ?? 0) - begunAt;
    // Ten seconds to begin, the limit of the call, and five for a plugin to obey.
    expect(await limitOf(generation)).to.equal(75 * SECOND);
    expect(await limitOf(split)).to.equal(315 * SECOND);
    await kit.pass(66 * SECOND);
    expect(workers.slots[0]).to.include({ inUse: 1 });
    await kit.pass(240 * SECOND);
    expect(workers.slots[0]).to.include({ inUse: 0 });
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
    await kit.pass(6 * SECOND);
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
      expect(kit.fieldsOf("A job goes to a fallback")).to.include({ from: "scripted", to: "fallback" });
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

    it("is recorded also while no fallback can be looked for", async () => {
      let isBroken = false;
      const kit = await memoryWorkers({
        ...{ ...SPLITTING, withFallback: true },
        jobs: { retry: { maxAttempts: 1, backoffMs: 1_000 } },
        ports: ({ library }) => ({
          library: new FaultyPort(library).failOn(
            "findTracks",
            () => new ServiceUnavailableError(),
            () => isBroken,
          ),
        }),
      });
      const id = await kit.split();
      kit.provider.behaviour = (request, context) => {
        isBroken = true;
        return submitFails("unavailable")(request, context);
      };
      await kit.start();
      expect((await kit.attempts(id)).map(({ outcome }) => outcome)).to.deep.equal(["unavailable"]);
      const { error } = kit.fieldsOf("A fallback could not be looked for");
      expect(error).to.include({ name: "ServiceUnavailableError" });
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
      expect(kit.messages()).to.include("The circuit breaker of a provider opened");
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

    it("stays with its provider while its fallback is unavailable too", async () => {
      const kit = await memoryWorkers({
        ...{ options: { breaker }, jobs: { retry: { maxAttempts: 1, backoffMs: 1_000 } }, withFallback: true },
        working: { concurrency: 1 },
      });
      const held = submitHolds(submitFails("unavailable"));
      kit.provider.behaviour = held.behaviour;
      kit.fallback.behaviour = submitFails("unavailable");
      await kit.accept({ modelId: "fallback/song" });
      await kit.accept();
      const waiting = await kit.accept();
      await kit.start();
      held.release();
      await kit.pass(2 * SECOND);
      expect(await kit.job(waiting)).to.include({ status: "queued", providerId: "scripted", attempt: 0 });
      expect(kit.fallback.submissions).to.have.length(1);
    });

    for (const withFallback of [false, true]) {
      const what = withFallback ? "goes to a fallback" : "waits";
      it(`${what}, without a call, when it was accepted before that`, async () => {
        const kit = await memoryWorkers({
          options: { breaker },
          jobs: patient,
          working: { concurrency: 1 },
          withFallback,
        });
        kit.provider.behaviour = submitFails("unavailable");
        const first = await kit.accept();
        const second = await kit.accept();
        await kit.start();
        expect(kit.provider.submissions.map(({ jobId }) => jobId)).to.deep.equal([first]);
        const moved = (): unknown[] =>
          kit.logger.lines.flatMap(({ message, fields }) =>
            message === "A job goes to a fallback" ? [[fields["job_id"], fields["from"], fields["to"]]] : [],
          );
        if (withFallback) {
          await kit.pass(SECOND);
          expect(await kit.job(second)).to.include({ status: "completed", providerId: "fallback", attempt: 1 });
          expect(moved()).to.deep.include([second, "scripted", "fallback"]);
        } else {
          expect(await kit.job(second)).to.include({ status: "queued", attempt: 0, leaseOwner: null });
          expect(moved()).to.deep.equal([]);
          kit.provider.behaviour = submitCompletes;
          await kit.pass(45 * SECOND);
          expect(await kit.job(second)).to.include({ status: "completed", attempt: 1 });
        }
      });
    }

    for (const [kind, opens] of [
      ["outcome_unknown", true],
      ["unavailable", true],
      ["rate_limited", false],
      ["content_rejected", false],
    ] as const) {
      it(`counts ${kind} as a ${opens ? "failure" : "success"} of the provider`, async () => {
        const kit = await memoryWorkers({ options: { breaker }, jobs: patient });
        kit.provider.behaviour = submitFails(kind);
        await kit.accept();
        await kit.start();
        const opened = kit.logger.lines.filter(({ message }) => message === "The circuit breaker of a provider opened");
        expect(opened.map(({ fields }) => fields["provider"])).to.deep.equal(opens ? ["scripted"] : []);
      });
    }

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
      catalogue: SPLITTING.catalogue,
    });
    const id = await kit.split();
    isBroken = true;
    await kit.start();
    const fields = kit.fieldsOf("Job step failed unexpectedly; it will be retried");
    expect(fields).to.include({ provider: "scripted" });
    expect(fields["error"]).to.include({ message: "a bug" });
    expect(await kit.job(id)).to.include({ status: "queued", crashes: 1 });
    await kit.pass(300 * SECOND);
    expect(await kit.job(id)).to.include({ status: "failed", creditsCharged: 0 });
  });
});
