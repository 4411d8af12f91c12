import { expect } from "chai";
import { OperationRefusedError } from "../../../core/errors.js";
import type { JobId } from "../../../core/ids.js";
import type { Cancellation } from "../../../core/jobs/operate-jobs.js";
import { type CancelOutcome, type MusicProvider, ProviderFailure } from "../../../core/ports/music-provider.js";
import { anId } from "../../support/builders.js";
import {
  SCRIPTED_TRACK,
  submitAccepts,
  submitCompletes,
  submitFails,
  submitHolds,
} from "../../support/doubles/scripted-provider.js";
import { anEndpoint } from "../../support/webhook-builders.js";
import { type Worker, WorkerHarness } from "./worker-harness.js";

const CANCELS = { cancel: true } as const;
const MINUTE = 60_000;

describe("A job that its caller cancels", () => {
  let harness: WorkerHarness;
  let asked: number;
  let reply: () => Promise<CancelOutcome>;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
    asked = 0;
    reply = () => Promise.resolve("cancelled");
    const cancel: MusicProvider["cancel"] = () => {
      asked++;
      return reply();
    };
    Object.assign(harness.provider, { cancel });
    harness.provider.behaviour = submitAccepts(10 * MINUTE);
  });
  afterEach(() => harness.close());

  /** The result of the call, for which time passes. */
  async function cancel({ operate }: Worker, id: JobId, passMs = 6_000): Promise<Cancellation> {
    const cancelling = operate.cancel(id);
    await harness.pass(passMs);
    return cancelling;
  }

  async function rendering(capabilities: object = CANCELS): Promise<{ readonly id: JobId; readonly worker: Worker }> {
    const id = await harness.acceptOne();
    const worker = await harness.start({ capabilities });
    await harness.quiet();
    expect((await harness.job(id)).phase).to.equal("rendering");
    return { id, worker };
  }

  async function expectCancelled(id: JobId): Promise<void> {
    const job = await harness.expectFailed(id, "generation_failed");
    expect(job.error).to.deep.include({ message: "The job was cancelled.", details: { reason: "cancelled" } });
  }

  it("while it waits is refunded at once and never submitted, however often it is cancelled", async () => {
    const id = await harness.acceptOne();
    const { operate } = harness.prepare();
    const results = [await operate.cancel(id), await operate.cancel(id)];
    await expectCancelled(id);
    expect(results.map(({ outcome }) => outcome)).to.deep.equal(["cancelled", "cancelled"]);
    expect(results[0]?.generation).to.include({ id, status: "failed", creditsCharged: 0 });
    await harness.start();
    await harness.pass(MINUTE);
    expect(harness.provider.submissions).to.have.length(0);
  });

  it("while it renders is refunded when the provider confirms the cancellation", async () => {
    const { id, worker } = await rendering();
    const { outcome, generation } = await cancel(worker, id);
    expect([outcome, generation.status, generation.creditsCharged, asked]).to.deep.equal(["cancelled", "failed", 0, 1]);
    await expectCancelled(id);
    const [attempt] = await harness.storage.jobs.listAttempts(id);
    expect(attempt).to.include({ state: "abandoned", loss: "cancelled", cancelDueAt: null });
    await harness.pass(20 * MINUTE);
    expect([asked, harness.provider.polls.length]).to.deep.equal([1, 0]);
  });

  it("is notified of by webhook as any failure is, also when it only waited", async () => {
    const { webhooks } = harness.storage;
    const endpoint = anEndpoint({ accountId: harness.accountId });
    await harness.storage.inTransaction((tx) => webhooks.insertEndpoint(tx, endpoint));
    const waiting = await harness.acceptOne();
    await harness.prepare().operate.cancel(waiting);
    const { id, worker } = await rendering();
    await cancel(worker, id);
    const deliveries = await webhooks.listDeliveries({ endpointId: endpoint.id, order: "oldest", limit: 10 });
    const events = await webhooks.findEvents(deliveries.map(({ eventId }) => eventId));
    const sent = deliveries.map(({ eventId }) => [events.get(eventId)?.jobId, events.get(eventId)?.type]);
    expect(sent).to.deep.equal([
      [waiting, "generation.failed"],
      [id, "generation.failed"],
    ]);
  });

  it("is cancelled by the process that works on it when another one is called", async () => {
    const { id } = await rendering();
    const elsewhere = harness.prepare({ capabilities: CANCELS });
    expect((await cancel(elsewhere, id)).outcome).to.equal("cancelled");
    expect(asked).to.equal(1);
    await expectCancelled(id);
  });

  it("runs on, and is paid when it completes, where the provider is asked too late", async () => {
    reply = () => Promise.resolve("too_late");
    const { id, worker } = await rendering();
    expect(await cancel(worker, id)).to.have.property("outcome", "running");
    expect((await cancel(worker, id)).generation).to.include({ status: "processing", creditsCharged: 10 });
    expect(asked).to.equal(1);
    harness.provider.pollBehaviour = () => Promise.resolve({ state: "completed", tracks: [SCRIPTED_TRACK] });
    await harness.pass(11 * MINUTE);
    await harness.expectCompleted(id);
    const { outcome, generation } = await cancel(worker, id, 0);
    expect([outcome, generation.status, generation.tracks.length]).to.deep.equal(["ended", "completed", 1]);
  });

  it("runs on where the provider cannot cancel: the result says so without a wait", async () => {
    const { id, worker } = await rendering({});
    const { outcome, generation } = await worker.operate.cancel(id);
    expect([outcome, generation.status, asked]).to.deep.equal(["running", "processing", 0]);
    harness.provider.pollBehaviour = () => Promise.resolve({ state: "completed", tracks: [SCRIPTED_TRACK] });
    await harness.pass(11 * MINUTE);
    await harness.expectCompleted(id);
  });

  it("is refunded as cancelled when a provider that only took the request reports its end", async () => {
    reply = () => Promise.resolve("requested");
    const { id, worker } = await rendering();
    harness.provider.pollBehaviour = () => Promise.resolve({ state: "running", nextPollMs: 2_000 });
    expect(await cancel(worker, id)).to.have.property("outcome", "running");
    harness.provider.pollBehaviour = () => Promise.reject(new ProviderFailure("cancelled", "stopped"));
    await harness.pass(5_000);
    await expectCancelled(id);
    expect((await harness.storage.jobs.listAttempts(id))[0]).to.include({ state: "failed", loss: "cancelled" });
    expect(asked).to.equal(1);
  });

  it("is asked about again while the provider is unavailable, and refunded once it confirms", async () => {
    reply = () => Promise.reject(new ProviderFailure("unavailable", "busy"));
    const { id, worker } = await rendering();
    expect(await cancel(worker, id)).to.have.property("outcome", "running");
    reply = () => Promise.resolve("cancelled");
    await harness.pass(MINUTE + 1_000);
    await expectCancelled(id);
    expect(asked).to.equal(2);
  });

  it("runs on when the provider does not know it, or its plugin fails", async () => {
    reply = () => Promise.reject(new ProviderFailure("gone", "no such task"));
    const { id, worker } = await rendering();
    expect(await cancel(worker, id)).to.have.property("outcome", "running");
    expect((await harness.storage.jobs.listAttempts(id))[0]).to.include({ state: "accepted", cancelDueAt: null });
  });

  it("during its submission is cancelled as soon as the provider has accepted it", async () => {
    const { behaviour, release } = submitHolds(submitAccepts(10 * MINUTE));
    harness.provider.behaviour = behaviour;
    const id = await harness.acceptOne();
    const worker = await harness.start({ capabilities: CANCELS });
    await harness.provider.submitted();
    expect(await worker.operate.cancel(id)).to.have.property("outcome", "running");
    expect(asked).to.equal(0);
    release();
    await harness.pass(2_000);
    await expectCancelled(id);
    expect(asked).to.equal(1);
  });

  it("during its submission completes and is paid when the provider delivers at once", async () => {
    const { behaviour, release } = submitHolds(submitCompletes);
    harness.provider.behaviour = behaviour;
    const id = await harness.acceptOne();
    const worker = await harness.start({ capabilities: CANCELS });
    await harness.provider.submitted();
    expect(await worker.operate.cancel(id)).to.have.property("outcome", "running");
    release();
    await harness.quiet();
    await harness.expectCompleted(id);
  });

  it("during a submission that the provider refuses for now is refunded in place of another attempt", async () => {
    const { behaviour, release } = submitHolds(submitFails("unavailable"));
    harness.provider.behaviour = behaviour;
    const id = await harness.acceptOne();
    const worker = await harness.start({ withFallback: true });
    await harness.provider.submitted();
    await worker.operate.cancel(id);
    release();
    await harness.pass(10 * MINUTE);
    await expectCancelled(id);
    expect([harness.provider.submissions.length, harness.fallback.submissions.length]).to.deep.equal([1, 0]);
  });

  it("after it failed is reported as ended, and keeps its reason", async () => {
    harness.provider.behaviour = submitFails("content_rejected");
    const id = await harness.acceptOne();
    const worker = await harness.start();
    await harness.quiet();
    const { outcome, generation } = await worker.operate.cancel(id);
    expect([outcome, generation.error?.code]).to.deep.equal(["ended", "invalid_request"]);
  });

  it("can be ended by force after that: refunded, whatever the provider delivers", async () => {
    const { id, worker } = await rendering({});
    await worker.operate.cancel(id);
    expect(await worker.operate.cancel(id, { force: true })).to.have.property("outcome", "cancelled");
    harness.provider.pollBehaviour = () => Promise.resolve({ state: "completed", tracks: [SCRIPTED_TRACK] });
    await harness.pass(11 * MINUTE);
    await expectCancelled(id);
  });

  it("is none where it is another account's, or unknown", async () => {
    const id = await harness.acceptOne();
    const { operate } = harness.prepare();
    for (const refused of [
      operate.cancel(id, { accountId: anId("acct") }),
      operate.cancel(anId("job")),
      operate.cancel("job_x"),
    ]) {
      expect(await refused.catch((error: unknown) => error)).to.be.instanceOf(OperationRefusedError);
    }
    expect((await harness.job(id)).status).to.equal("queued");
    expect(await operate.cancel(id, { accountId: harness.accountId })).to.have.property("outcome", "cancelled");
  });

  it("returns at once when the wait is aborted; what was requested stays so", async () => {
    reply = () => new Promise<never>(() => undefined);
    const { id, worker } = await rendering();
    const waiting = new AbortController();
    const cancelling = worker.operate.cancel(id, { signal: waiting.signal });
    waiting.abort();
    expect(await cancelling).to.have.property("outcome", "running");
    expect((await harness.job(id)).cancelRequestedAt).to.be.a("number");
  });
});
