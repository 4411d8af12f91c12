import { expect } from "chai";
import { ServiceUnavailableError } from "../../../core/errors.js";
import { ProviderFailure } from "../../../core/ports/music-provider.js";
import { traceIdOf } from "../../../core/tracing/trace-context.js";
import { anId } from "../../support/builders.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { RecordingTracer } from "../../support/doubles/recording-tracer.js";
import {
  SCRIPTED_TRACK,
  submitAccepts,
  submitCompletes,
  submitFails,
  submitHolds,
} from "../../support/doubles/scripted-provider.js";
import { memoryWorkers } from "../../support/memory-workers.js";

const SECOND = 1_000;

describe("The steps of a job", () => {
  it("are traced as parts of what created it, with the calls of its provider", async () => {
    const tracer = new RecordingTracer();
    const kit = await memoryWorkers({ ports: () => ({ tracer }) });
    kit.provider.behaviour = submitAccepts(SECOND);
    const request = tracer.start({ name: "request", parent: null });
    const id = await tracer.within(request, () => kit.accept());
    await kit.start();
    await kit.pass(5 * SECOND);
    expect(await kit.job(id)).to.include({ status: "completed" });
    const spans = tracer.ended.filter(({ traceId }) => traceId === traceIdOf(request.context));
    const names = spans.map(({ name }) => name);
    expect(names.filter((name) => name === "process job")).to.have.length(2);
    for (const name of ["create job", "submit scripted", "poll scripted", "store files", "fetch file", "settle job"])
      expect(names, name).to.include(name);
    const submission = spans.find(({ name }) => name === "submit scripted");
    expect(submission).to.deep.include({
      kind: "client",
      attributes: { "fermata.provider": "scripted", "fermata.model": "scripted/song" },
    });
    const step = spans.find(({ name }) => name === "process job");
    expect(step?.attributes).to.include({ "messaging.message.id": id, "fermata.job.phase": "waiting" });
    expect(submission?.parentId).to.equal(step?.spanId);
  });

  it("are not traced for a job that was accepted without", async () => {
    const tracer = new RecordingTracer();
    const kit = await memoryWorkers({ ports: () => ({ tracer }) });
    const id = await kit.accept();
    kit.storage.sql("UPDATE fermata_jobs SET trace = NULL WHERE id = ?", id);
    tracer.ended.splice(0);
    await kit.start();
    expect(await kit.job(id)).to.include({ status: "completed" });
    expect(tracer.ended.map(({ name }) => name)).not.to.include("process job");
  });

  it("go on when the health of the provider cannot be written", async () => {
    const kit = await memoryWorkers({
      ports: ({ health }) => ({
        health: new FaultyPort(health).failOn("saveHealth", () => new ServiceUnavailableError()),
      }),
    });
    kit.provider.behaviour = submitFails("unavailable");
    const id = await kit.accept();
    await kit.start();
    kit.provider.behaviour = submitCompletes;
    await kit.pass(5 * SECOND);
    expect(await kit.job(id)).to.include({ status: "completed" });
    const fields = kit.fieldsOf("The health of a provider could not be written");
    expect(fields).to.include({ provider: "scripted" });
    expect(fields["error"]).to.include({ name: "ServiceUnavailableError" });
  });

  it("that a stop aborts report once what they know, and are released", async () => {
    const kit = await memoryWorkers();
    kit.provider.behaviour = submitHolds().behaviour;
    await kit.accept();
    const workers = await kit.start();
    kit.outage.isOn = true;
    await kit.stop(workers, SECOND);
    const { error } = kit.fieldsOf("The outcome of an aborted call could not be written");
    expect(error).to.include({ name: "ServiceUnavailableError" });
    kit.outage.isOn = false;
  });

  it("that repeat what buys nothing are released by a stop, or left to their lease", async () => {
    const kit = await memoryWorkers({ capabilities: { lookup: true } });
    kit.provider.behaviour = submitFails("outcome_unknown");
    const id = await kit.accept();
    const workers = await kit.start();
    kit.provider.lookupBehaviour = (_id, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new ProviderFailure("unavailable", "stopped")));
      });
    await kit.pass(10 * SECOND);
    expect(kit.provider.lookups).to.have.length(1);
    expect((await kit.job(id)).leaseOwner).not.to.equal(null);
    await kit.stop(workers, SECOND);
    expect(await kit.job(id)).to.include({ leaseOwner: null, phase: "submitting" });
    const again = await kit.start();
    await kit.pass(5 * SECOND);
    kit.outage.isOn = true;
    await kit.stop(again, SECOND);
    expect(kit.fieldsOf("A job could not be released")["error"]).to.include({ name: "ServiceUnavailableError" });
  });

  it("are cut off by an outage before they begin, and go on after it without counting as crashes", async () => {
    let isAway = false;
    const kit = await memoryWorkers({
      ports: ({ jobs }) => ({
        jobs: new FaultyPort(jobs).failOn(
          "renderTimes",
          () => new ServiceUnavailableError(),
          () => isAway,
        ),
      }),
    });
    const id = await kit.accept();
    isAway = true;
    await kit.start();
    const { error } = kit.fieldsOf("The storage is unavailable; the job step will be retried");
    expect(error).to.include({ name: "ServiceUnavailableError" });
    expect(await kit.job(id)).to.include({ status: "queued", crashes: 0, attempt: 0 });
    isAway = false;
    await kit.pass(10 * SECOND);
    expect(await kit.job(id)).to.include({ status: "completed", crashes: 0 });
  });

  it("end what is bought in vain, and adopt what is finished, at the price that was expected or reported", async () => {
    const kit = await memoryWorkers({ model: { upstreamCost: { amount: 2, unit: "credits" } } });
    const [expected, reported] = [await kit.accept(), await kit.accept()];
    kit.provider.behaviour = async ({ jobId }) => ({
      ...{ state: "completed", tracks: [SCRIPTED_TRACK] },
      ...(jobId === reported ? { cost: { amount: 3, unit: "credits" } } : {}),
    });
    await kit.start();
    expect((await kit.attempts(expected))[0]?.cost).to.deep.equal({ amount: 2, unit: "credits" });
    expect((await kit.attempts(reported))[0]?.cost).to.deep.equal({ amount: 3, unit: "credits" });
  });

  it("wait, and say so, when workers were lost again and again, and go on with what is bought", async () => {
    const kit = await memoryWorkers({ jobs: { leaseMs: 30 * SECOND } });
    kit.provider.behaviour = submitAccepts(SECOND);
    const id = await kit.accept();
    const first = await kit.start();
    await kit.stop(first);
    for (let lost = 0; lost < 4; lost++) {
      const now = (await kit.job(id)).dueAt ?? 0;
      kit.clock.set(now);
      await kit.storage.jobs.claimJobs({
        ...{ providerId: "scripted", phases: ["rendering"], limit: 1, now, owner: anId("prc") },
        leaseUntil: now + 30 * SECOND,
      });
    }
    const dueAt = (await kit.job(id)).dueAt ?? 0;
    kit.clock.set(dueAt);
    await kit.start();
    expect(await kit.job(id)).to.include({ phase: "rendering", leaseOwner: null, dueAt: dueAt + 60 * SECOND });
    const line = kit.logger.lines.find(({ message }) => message.startsWith("Workers in a row were lost with a job"));
    expect(line).to.deep.include({ level: "warn" });
    expect(line?.fields).to.include({ workers: 4, due_at: new Date(dueAt + 60 * SECOND).toISOString(), job_id: id });
    await kit.pass(60 * SECOND);
    expect(await kit.job(id)).to.include({ status: "completed", attempt: 1 });
  });

  it("are not begun for a model that cannot render in the time that it has", async () => {
    const kit = await memoryWorkers({ jobs: { renderDeadlineMs: 60 * SECOND } });
    const slow = await kit.accept();
    kit.provider.behaviour = submitAccepts(SECOND);
    kit.provider.pollBehaviour = () => Promise.resolve({ state: "running", nextPollMs: SECOND });
    await kit.start();
    expect(await kit.job(slow)).to.include({ phase: "rendering" });
    await kit.pass(100 * SECOND);
    expect(await kit.job(slow)).to.include({ status: "failed", creditsCharged: 0 });
  });
});
