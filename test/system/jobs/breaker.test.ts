import { expect } from "chai";
import { ProviderFailure, type SubmitRequest } from "../../../core/ports/music-provider.js";
import { accepts, type Behaviour, completes, fails, holds } from "../../support/doubles/scripted-provider.js";
import { GRACE_MS, type Worker, WorkerHarness } from "./worker-harness.js";

const OPEN_MS = 30_000;

describe("The circuit breaker of a provider", () => {
  let shop: WorkerHarness;
  beforeEach(async () => {
    shop = await WorkerHarness.open();
  });
  afterEach(() => shop.close());

  /** A worker that has just seen three failures in a row. */
  async function startOpened(): Promise<Worker> {
    shop.provider.behaviour = fails("unavailable");
    await shop.accept(3);
    const worker = await shop.start({ breakerFailures: 3, concurrency: 8, maxAttempts: 100 });
    await shop.quiet();
    expect(shop.provider.submissions).to.have.length(3);
    expect(await worker.availability.state("scripted")).to.equal("open");
    return worker;
  }

  it("opens after so many failures in a row, and no job is submitted while it is open", async () => {
    await startOpened();
    const newClient = await shop.acceptOne();
    await shop.pass(OPEN_MS - 1_000);
    expect(shop.provider.submissions).to.have.length(3);
    expect(await shop.job(newClient)).to.include({ status: "queued", attempt: 0 });
  });

  it("stays closed as long as the provider answers now and then", async () => {
    let calls = 0;
    shop.provider.behaviour = (request, context) =>
      ++calls % 3 === 0 ? completes(request, context) : fails("timeout")(request, context);
    const jobs = await shop.accept(4);
    const worker = await shop.start({ breakerFailures: 3, concurrency: 1, maxAttempts: 100 });
    await shop.pass(60_000);
    expect(await worker.availability.state("scripted")).to.equal("closed");
    for (const { id } of jobs) await shop.expectCompleted(id);
  });

  it("takes a refusal of content for a sign of life", async () => {
    let calls = 0;
    shop.provider.behaviour = (request, context) =>
      fails(++calls === 2 ? "content_rejected" : "unavailable")(request, context);
    await shop.accept(3);
    const worker = await shop.start({ breakerFailures: 2, concurrency: 1 });
    await shop.quiet();
    expect(shop.provider.submissions).to.have.length(3);
    expect(await worker.availability.state("scripted")).to.equal("closed");
  });

  it("lets one job try when its time is over, and all of them once that one succeeds", async () => {
    const worker = await startOpened();
    const { behaviour, release } = holds();
    shop.provider.behaviour = behaviour;
    await shop.pass(OPEN_MS + 1_000);
    expect(await worker.availability.state("scripted")).to.equal("half_open");
    expect(shop.provider.submissions).to.have.length(4);
    release();
    await shop.pass(2_000);
    expect(await worker.availability.state("scripted")).to.equal("closed");
    const jobs = await shop.storage.jobs.listJobs({ limit: 10 });
    expect(jobs.map(({ status }) => status)).to.deep.equal(Array(3).fill("completed"));
    for (const { id } of jobs)
      expect((await shop.attempts(id)).map(([, outcome]) => outcome)).to.deep.equal(["unavailable", "completed"]);
  });

  it("lets one job of all processes try", async () => {
    const worker = await startOpened();
    await shop.start({ breakerFailures: 3, concurrency: 8 });
    await shop.accept(4);
    const { behaviour, release } = holds();
    shop.provider.behaviour = behaviour;
    await shop.pass(OPEN_MS + 5_000);
    expect(await worker.availability.state("scripted")).to.equal("half_open");
    expect(shop.provider.submissions).to.have.length(4);
    release();
    await shop.pass(3_000);
    for (const { id } of await shop.storage.jobs.listJobs({ limit: 10 })) await shop.expectCompleted(id);
  });

  it("lets another job try when the one that tried was never heard of again", async () => {
    const worker = await startOpened();
    shop.provider.behaviour = fails("outcome_unknown");
    await shop.pass(OPEN_MS + 1_000);
    expect(shop.provider.submissions).to.have.length(4);
    shop.provider.behaviour = completes;
    await shop.pass(OPEN_MS - 2_000);
    expect(shop.provider.submissions).to.have.length(4);
    await shop.pass(3_000);
    expect(await worker.availability.state("scripted")).to.equal("closed");
    expect(shop.provider.submissions).to.have.length(6);
  });

  it("keeps no try for itself when there is nothing to try", async () => {
    shop.provider.behaviour = fails("unavailable");
    await shop.accept(3);
    const worker = await shop.start({ breakerFailures: 3, concurrency: 8, maxAttempts: 1 });
    await shop.pass(OPEN_MS + 5_000);
    expect(await worker.availability.state("scripted")).to.equal("half_open");
    shop.provider.behaviour = completes;
    const id = await shop.acceptOne();
    await shop.pass(1_000);
    await shop.expectCompleted(id);
  });

  it("opens anew when that one fails", async () => {
    const worker = await startOpened();
    await shop.pass(OPEN_MS + 1_000);
    expect(shop.provider.submissions).to.have.length(4);
    expect(await worker.availability.state("scripted")).to.equal("open");
    await shop.pass(OPEN_MS - 2_000);
    expect(shop.provider.submissions).to.have.length(4);
  });

  it("is known to another process within a second", async () => {
    const other = shop.prepare({ breakerFailures: 3 });
    expect(await other.availability.state("scripted")).to.equal("closed");
    await startOpened();
    await shop.clock.advance(1_000);
    expect(await other.availability.state("scripted")).to.equal("open");
  });

  it("does not keep anybody from asking after accepted work", async () => {
    shop.provider.behaviour = accepts(5_000);
    const id = await shop.acceptOne();
    const worker = await shop.start({ breakerFailures: 1, maxAttempts: 100 });
    await shop.quiet();
    shop.provider.behaviour = fails("unavailable");
    await shop.accept();
    await shop.pass(1_000);
    expect(await worker.availability.state("scripted")).to.equal("open");
    await shop.pass(5_000);
    await shop.expectCompleted(id);
  });

  it("counts polls that find nobody there", async () => {
    shop.provider.behaviour = accepts(1_000);
    shop.provider.pollBehaviour = () => Promise.reject(new ProviderFailure("unavailable", "nobody there"));
    await shop.accept(2);
    const worker = await shop.start({ breakerFailures: 2 });
    await shop.pass(1_000);
    expect(await worker.availability.state("scripted")).to.equal("open");
  });

  it("counts calls whose outcome is unknown: that is how most outages look", async () => {
    shop.provider.behaviour = fails("outcome_unknown");
    await shop.accept(3);
    const worker = await shop.start({ breakerFailures: 3 });
    await shop.quiet();
    expect(await worker.availability.state("scripted")).to.equal("open");
  });

  it("keeps nobody from finding out about lost submissions, and these take no try away", async () => {
    shop.provider.behaviour = fails("outcome_unknown");
    const lost = await shop.accept(3);
    const worker = await shop.start({ breakerFailures: 3 });
    await shop.pass(GRACE_MS - OPEN_MS);
    shop.provider.behaviour = fails("unavailable");
    const newClient = await shop.acceptOne();
    await shop.pass(OPEN_MS + 2_000);
    for (const { id } of lost) await shop.expectFailed(id, "provider_timeout");
    shop.provider.behaviour = completes;
    await shop.pass(2 * OPEN_MS);
    await shop.expectCompleted(newClient);
    expect(await worker.availability.state("scripted")).to.equal("closed");
  });
});

describe("A model that its provider has not got any more", () => {
  let shop: WorkerHarness;
  beforeEach(async () => {
    shop = await WorkerHarness.open();
  });
  afterEach(() => shop.close());

  const RETIRED = "scripted/song";

  /** Has every model but one. */
  const lacksTheModel: Behaviour = (request, context) =>
    modelOf(request) === RETIRED ? fails("model_unavailable")(request, context) : completes(request, context);

  const modelOf = (request: SubmitRequest): string => (request.operation === "music" ? request.model.id : "none");
  const calls = (modelId: string): number =>
    shop.provider.submissions.filter((request) => modelOf(request) === modelId).length;

  it("is unavailable from the first refusal on, and the other models of the provider work", async () => {
    shop.provider.behaviour = lacksTheModel;
    const id = await shop.acceptOne();
    const worker = await shop.start({ maxAttempts: 100 });
    await shop.quiet();
    expect(await worker.availability.state("scripted")).to.equal("closed");
    expect(await worker.availability.state(RETIRED)).to.equal("open");
    const other = await shop.acceptOne("scripted/beat");
    const later = await shop.acceptOne();
    await shop.pass(OPEN_MS - 2_000);
    await shop.expectCompleted(other);
    expect(calls(RETIRED)).to.equal(1);
    expect(await shop.job(id)).to.include({ status: "queued", attempt: 1 });
    expect(await shop.job(later)).to.include({ status: "queued", attempt: 0 });
    const notified = shop.logger.lines.filter(({ message }) => message === "A provider no longer offers a model");
    expect(notified.map(({ level, fields }) => [level, fields?.["provider"], fields?.["model"]])).to.deep.equal([
      ["error", "scripted", RETIRED],
    ]);
  });

  it("is tried by one job of all processes once its time is over, and by all when that one succeeds", async () => {
    shop.provider.behaviour = lacksTheModel;
    await shop.accept(3);
    const worker = await shop.start({ concurrency: 1, maxAttempts: 100 });
    await shop.start({ concurrency: 8, maxAttempts: 100 });
    await shop.pass(OPEN_MS / 2);
    const before = calls(RETIRED);
    const { behaviour, release } = holds();
    shop.provider.behaviour = behaviour;
    await shop.pass(OPEN_MS);
    expect(calls(RETIRED) - before).to.equal(1);
    expect(await worker.availability.state(RETIRED)).to.equal("half_open");
    release();
    await shop.pass(OPEN_MS);
    expect(await worker.availability.state(RETIRED)).to.equal("closed");
    for (const { id } of await shop.storage.jobs.listJobs({ limit: 10 })) await shop.expectCompleted(id);
  });

  it("fails its jobs when it stays away, with the credits back, as often tried as any", async () => {
    shop.provider.behaviour = lacksTheModel;
    const id = await shop.acceptOne();
    await shop.start({ maxAttempts: 2 });
    await shop.pass(3 * OPEN_MS);
    await shop.expectFailed(id, "provider_unavailable");
    expect((await shop.attempts(id)).map(([, outcome]) => outcome)).to.deep.equal([
      "model_unavailable",
      "model_unavailable",
    ]);
  });

  it("leaves its jobs to the fallback at once, and the later ones do not ask for it", async () => {
    shop.provider.behaviour = lacksTheModel;
    const [first] = await shop.accept();
    await shop.start({ withFallback: true });
    await shop.pass(1_500);
    const second = await shop.acceptOne();
    await shop.pass(1_500);
    for (const id of [first?.id ?? second, second])
      expect(await shop.expectCompleted(id)).to.include({ providerId: "stand-in", modelId: RETIRED });
    expect(calls(RETIRED)).to.equal(1);
  });

  it("does not take the one try of its provider away from the other models", async () => {
    const worker = await shop.start({ breakerFailures: 1, maxAttempts: 100 });
    await worker.availability.recordBroken("scripted");
    await shop.accept(2);
    await shop.pass(OPEN_MS / 2);
    await worker.availability.recordBroken(RETIRED);
    const other = await shop.acceptOne("scripted/beat");
    await shop.pass(OPEN_MS / 2 + 5_000);
    await shop.expectCompleted(other);
    expect(calls(RETIRED)).to.equal(0);
    expect(await worker.availability.state("scripted")).to.equal("closed");
  });
});
