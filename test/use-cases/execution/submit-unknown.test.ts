import { expect } from "chai";
import { ProviderFailure, type SubmitRequest } from "../../../core/ports/music-provider.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { submitAccepts, submitCompletes, submitFails } from "../../support/doubles/scripted-provider.js";
import { memoryWorkers } from "../../support/memory-workers.js";

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

describe("A submission", () => {
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
      kit.provider.lookupBehaviour = () => submitCompletes({} as SubmitRequest, {} as never);
      const id = await kit.accept();
      await kit.start();
      await kit.pass(5 * SECOND);
      expect(await kit.job(id)).to.include({ status: "completed", attempt: 1 });
    });

    it("is looked up again while that fails, and given up after the grace time", async () => {
      const kit = await memoryWorkers({ capabilities: { lookup: true }, jobs: { unknownGraceMs: 120 * SECOND } });
      kit.provider.behaviour = lost;
      kit.provider.lookupBehaviour = () => Promise.reject(new ProviderFailure("unavailable", "not now"));
      const id = await kit.accept();
      await kit.start();
      await kit.pass(30 * SECOND);
      expect(kit.provider.lookups.length).to.be.above(1);
      expect(kit.messages()).to.include("A lost submission could not be looked up");
      expect(await kit.job(id)).to.include({ phase: "submitting" });
      await kit.pass(100 * SECOND);
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
        message: "The plugin scripted failed in the call submit: Error: a socket died.",
      });
      const { error } = kit.fieldsOf("A submission failed");
      expect((error as Error).cause).to.include({ message: "a socket died" });
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
      const message = "A provider took a submission after the plugin's call had been left alone";
      expect(kit.fieldsOf(message)).to.include({ attempt: 1 });
      expect(await kit.job(id)).to.include({ status: "completed" });
    });
  });

  it("that is accepted late is looked for by others where that cannot be written, and says so", async () => {
    let isBroken = false;
    const kit = await memoryWorkers({
      ports: ({ jobs }) => ({
        jobs: new FaultyPort(jobs).failOn(
          "updateAttempts",
          () => new Error("a bug"),
          () => isBroken,
        ),
      }),
    });
    let finish: () => void = () => undefined;
    kit.provider.behaviour = (request, context) =>
      new Promise((resolve) => {
        finish = () => resolve(submitAccepts(SECOND)(request, context));
      });
    await kit.accept();
    await kit.start();
    await kit.pass(96 * SECOND);
    isBroken = true;
    finish();
    await kit.pass(SECOND);
    const fields = kit.fieldsOf("A late word of a submission could not be written");
    expect(fields).to.include({ attempt: 1 });
    expect(fields["error"]).to.include({ message: "a bug" });
  });

  describe("that cannot begin", () => {
    it("ends the job, refunded, where its model left the settings", async () => {
      const kit = await memoryWorkers();
      const id = await kit.accept();
      kit.storage.sql("UPDATE fermata_jobs SET served_model_id = 'scripted/gone' WHERE id = ?", id);
      await kit.start();
      expect(await kit.job(id)).to.include({ status: "failed", creditsCharged: 0, attempt: 0 });
      const { error } = kit.fieldsOf("A job's request could not be made for its provider");
      expect(error).to.include({ message: "The model scripted/gone is no longer in config." });
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
      const kit = await memoryWorkers();
      const id = await kit.accept();
      kit.outage.isOn = true;
      await kit.start();
      await kit.pass(3 * SECOND);
      expect(kit.provider.submissions).to.deep.equal([]);
      kit.outage.isOn = false;
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
});
