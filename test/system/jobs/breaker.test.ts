import { expect } from "chai";
import { ProviderFailure, type SubmitRequest } from "../../../core/ports/music-provider.js";
import {
  submitAccepts,
  type SubmitBehaviour,
  submitCompletes,
  submitFails,
  submitHolds,
} from "../../support/doubles/scripted-provider.js";
import { GRACE_MS, type Worker, WorkerHarness } from "./worker-harness.js";

const OPEN_MS = 30_000;

describe("The circuit breaker of a provider", () => {
  let harness: WorkerHarness;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
  });
  afterEach(() => harness.close());

  /** A worker that has just seen three failures in a row. */
  async function startOpened(): Promise<Worker> {
    harness.provider.behaviour = submitFails("unavailable");
    await harness.accept(3);
    const worker = await harness.start({ breakerFailures: 3, concurrency: 8, maxAttempts: 100 });
    await harness.quiet();
    expect(harness.provider.submissions).to.have.length(3);
    expect(await worker.availability.state("scripted")).to.equal("open");
    return worker;
  }

  it("opens after the configured number of failures in a row, and no job is submitted while it is open", async () => {
    await startOpened();
    const newClient = await harness.acceptOne();
    await harness.pass(OPEN_MS - 1_000);
    expect(harness.provider.submissions).to.have.length(3);
    expect(await harness.job(newClient)).to.include({ status: "queued", attempt: 0 });
  });

  it("stays closed while the provider responds now and then", async () => {
    let calls = 0;
    harness.provider.behaviour = (request, context) =>
      ++calls % 3 === 0 ? submitCompletes(request, context) : submitFails("timeout")(request, context);
    const jobs = await harness.accept(4);
    const worker = await harness.start({ breakerFailures: 3, concurrency: 1, maxAttempts: 100 });
    await harness.pass(60_000);
    expect(await worker.availability.state("scripted")).to.equal("closed");
    for (const { id } of jobs) await harness.expectCompleted(id);
  });

  it("counts a refusal of content as a success", async () => {
    let calls = 0;
    harness.provider.behaviour = (request, context) =>
      submitFails(++calls === 2 ? "content_rejected" : "unavailable")(request, context);
    await harness.accept(3);
    const worker = await harness.start({ breakerFailures: 2, concurrency: 1 });
    await harness.quiet();
    expect(harness.provider.submissions).to.have.length(3);
    expect(await worker.availability.state("scripted")).to.equal("closed");
  });

  it("lets one probe job through when half-open, and all jobs after that one succeeds", async () => {
    const worker = await startOpened();
    const { behaviour, release } = submitHolds();
    harness.provider.behaviour = behaviour;
    await harness.pass(OPEN_MS + 1_000);
    expect(await worker.availability.state("scripted")).to.equal("half_open");
    expect(harness.provider.submissions).to.have.length(4);
    release();
    await harness.pass(2_000);
    expect(await worker.availability.state("scripted")).to.equal("closed");
    const jobs = await harness.storage.jobs.listJobs({ limit: 10 });
    expect(jobs.map(({ status }) => status)).to.deep.equal(Array(3).fill("completed"));
    for (const { id } of jobs)
      expect((await harness.attempts(id)).map(([, outcome]) => outcome)).to.deep.equal(["unavailable", "completed"]);
  });

  it("lets one probe job of all processes through", async () => {
    const worker = await startOpened();
    await harness.start({ breakerFailures: 3, concurrency: 8 });
    await harness.accept(4);
    const { behaviour, release } = submitHolds();
    harness.provider.behaviour = behaviour;
    await harness.pass(OPEN_MS + 5_000);
    expect(await worker.availability.state("scripted")).to.equal("half_open");
    expect(harness.provider.submissions).to.have.length(4);
    release();
    await harness.pass(3_000);
    for (const { id } of await harness.storage.jobs.listJobs({ limit: 10 })) await harness.expectCompleted(id);
  });

  it("lets another job probe when the first probe was lost", async () => {
    const worker = await startOpened();
    harness.provider.behaviour = submitFails("outcome_unknown");
    await harness.pass(OPEN_MS + 1_000);
    expect(harness.provider.submissions).to.have.length(4);
    harness.provider.behaviour = submitCompletes;
    await harness.pass(OPEN_MS - 2_000);
    expect(harness.provider.submissions).to.have.length(4);
    await harness.pass(3_000);
    expect(await worker.availability.state("scripted")).to.equal("closed");
    expect(harness.provider.submissions).to.have.length(6);
  });

  it("releases its probe when no job is waiting", async () => {
    harness.provider.behaviour = submitFails("unavailable");
    await harness.accept(3);
    const worker = await harness.start({ breakerFailures: 3, concurrency: 8, maxAttempts: 1 });
    await harness.pass(OPEN_MS + 5_000);
    expect(await worker.availability.state("scripted")).to.equal("half_open");
    harness.provider.behaviour = submitCompletes;
    const id = await harness.acceptOne();
    await harness.pass(1_000);
    await harness.expectCompleted(id);
  });

  it("opens again when the probe fails", async () => {
    const worker = await startOpened();
    await harness.pass(OPEN_MS + 1_000);
    expect(harness.provider.submissions).to.have.length(4);
    expect(await worker.availability.state("scripted")).to.equal("open");
    await harness.pass(OPEN_MS - 2_000);
    expect(harness.provider.submissions).to.have.length(4);
  });

  it("is known to another process within a second", async () => {
    const other = harness.prepare({ breakerFailures: 3 });
    expect(await other.availability.state("scripted")).to.equal("closed");
    await startOpened();
    await harness.clock.advance(1_000);
    expect(await other.availability.state("scripted")).to.equal("open");
  });

  it("does not stop the polling of accepted work", async () => {
    harness.provider.behaviour = submitAccepts(5_000);
    const id = await harness.acceptOne();
    const worker = await harness.start({ breakerFailures: 1, maxAttempts: 100 });
    await harness.quiet();
    harness.provider.behaviour = submitFails("unavailable");
    await harness.accept();
    await harness.pass(1_000);
    expect(await worker.availability.state("scripted")).to.equal("open");
    await harness.pass(5_000);
    await harness.expectCompleted(id);
  });

  it("counts polls that cannot reach the provider", async () => {
    harness.provider.behaviour = submitAccepts(1_000);
    const cause = new Error("ECONNREFUSED");
    harness.provider.pollBehaviour = () => Promise.reject(new ProviderFailure("unavailable", "unreachable", { cause }));
    await harness.accept(2);
    const worker = await harness.start({ breakerFailures: 2 });
    await harness.pass(1_000);
    expect(await worker.availability.state("scripted")).to.equal("open");
  });

  it("counts calls with an unknown outcome, as in most outages", async () => {
    harness.provider.behaviour = submitFails("outcome_unknown");
    await harness.accept(3);
    const worker = await harness.start({ breakerFailures: 3 });
    await harness.quiet();
    expect(await worker.availability.state("scripted")).to.equal("open");
  });

  it("does not stop lookups of lost submissions, which use no probe", async () => {
    harness.provider.behaviour = submitFails("outcome_unknown");
    const lost = await harness.accept(3);
    const worker = await harness.start({ breakerFailures: 3 });
    await harness.pass(GRACE_MS - OPEN_MS);
    harness.provider.behaviour = submitFails("unavailable");
    const newClient = await harness.acceptOne();
    await harness.pass(OPEN_MS + 2_000);
    for (const { id } of lost) await harness.expectFailed(id, "provider_timeout");
    harness.provider.behaviour = submitCompletes;
    await harness.pass(2 * OPEN_MS);
    await harness.expectCompleted(newClient);
    expect(await worker.availability.state("scripted")).to.equal("closed");
  });
});

describe("A model that its provider no longer has", () => {
  let harness: WorkerHarness;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
  });
  afterEach(() => harness.close());

  const RETIRED = "scripted/song";

  /** Has every model but one. */
  const lacksTheModel: SubmitBehaviour = (request, context) =>
    modelOf(request) === RETIRED
      ? submitFails("model_unavailable")(request, context)
      : submitCompletes(request, context);

  const modelOf = (request: SubmitRequest): string => (request.operation === "music" ? request.model.id : "none");
  const calls = (modelId: string): number =>
    harness.provider.submissions.filter((request) => modelOf(request) === modelId).length;

  it("is unavailable from the first refusal on, and the other models of the provider work", async () => {
    harness.provider.behaviour = lacksTheModel;
    const id = await harness.acceptOne();
    const worker = await harness.start({ maxAttempts: 100 });
    await harness.quiet();
    expect(await worker.availability.state("scripted")).to.equal("closed");
    expect(await worker.availability.state(RETIRED)).to.equal("open");
    const other = await harness.acceptOne("scripted/beat");
    const later = await harness.acceptOne();
    await harness.pass(OPEN_MS - 2_000);
    await harness.expectCompleted(other);
    expect(calls(RETIRED)).to.equal(1);
    expect(await harness.job(id)).to.include({ status: "queued", attempt: 1 });
    expect(await harness.job(later)).to.include({ status: "queued", attempt: 0 });
    const notified = harness.logger.lines.filter(({ message }) => message === "A provider no longer offers a model");
    expect(notified.map(({ level, fields }) => [level, fields?.["provider"], fields?.["model"]])).to.deep.equal([
      ["error", "scripted", RETIRED],
    ]);
  });

  it("is probed by one job of all processes when half-open, and used by all when that one succeeds", async () => {
    harness.provider.behaviour = lacksTheModel;
    await harness.accept(3);
    const worker = await harness.start({ concurrency: 1, maxAttempts: 100 });
    await harness.start({ concurrency: 8, maxAttempts: 100 });
    await harness.pass(OPEN_MS / 2);
    const before = calls(RETIRED);
    const { behaviour, release } = submitHolds();
    harness.provider.behaviour = behaviour;
    await harness.pass(OPEN_MS);
    expect(calls(RETIRED) - before).to.equal(1);
    expect(await worker.availability.state(RETIRED)).to.equal("half_open");
    release();
    await harness.pass(OPEN_MS);
    expect(await worker.availability.state(RETIRED)).to.equal("closed");
    for (const { id } of await harness.storage.jobs.listJobs({ limit: 10 })) await harness.expectCompleted(id);
  });

  it("fails and refunds its jobs when it stays unavailable, after the usual number of attempts", async () => {
    harness.provider.behaviour = lacksTheModel;
    const id = await harness.acceptOne();
    await harness.start({ maxAttempts: 2 });
    await harness.pass(3 * OPEN_MS);
    await harness.expectFailed(id, "provider_unavailable");
    expect((await harness.attempts(id)).map(([, outcome]) => outcome)).to.deep.equal([
      "model_unavailable",
      "model_unavailable",
    ]);
  });

  it("sends its jobs to the fallback at once, later ones without another call", async () => {
    harness.provider.behaviour = lacksTheModel;
    const [first] = await harness.accept();
    await harness.start({ withFallback: true });
    await harness.pass(1_500);
    const second = await harness.acceptOne();
    await harness.pass(1_500);
    for (const id of [first?.id ?? second, second])
      expect(await harness.expectCompleted(id)).to.include({ providerId: "fallback", modelId: RETIRED });
    expect(calls(RETIRED)).to.equal(1);
  });

  it("does not use up its provider's probe for the other models", async () => {
    const worker = await harness.start({ breakerFailures: 1, maxAttempts: 100 });
    await worker.availability.recordBroken("scripted");
    await harness.accept(2);
    await harness.pass(OPEN_MS / 2);
    await worker.availability.recordBroken(RETIRED);
    const other = await harness.acceptOne("scripted/beat");
    await harness.pass(OPEN_MS / 2 + 5_000);
    await harness.expectCompleted(other);
    expect(calls(RETIRED)).to.equal(0);
    expect(await worker.availability.state("scripted")).to.equal("closed");
  });
});
