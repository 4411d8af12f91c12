import { expect } from "chai";
import type { JobId } from "../../../core/ids.js";
import {
  type CancelOutcome,
  type MusicProvider,
  ProviderFailure,
  type ProviderHandle,
} from "../../../core/ports/music-provider.js";
import { submitAccepts, submitHolds } from "../../support/doubles/scripted-provider.js";
import { type Worker, type WorkerOptions, WorkerHarness } from "./worker-harness.js";

const CANCELS = { cancel: true } as const;
const MINUTE = 60_000;

describe("Abandoned work", () => {
  let harness: WorkerHarness;
  let notified: ProviderHandle[];
  let response: () => Promise<CancelOutcome>;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
    notified = [];
    response = () => Promise.resolve("cancelled");
    const cancel: MusicProvider["cancel"] = (handle) => {
      notified.push(handle);
      return response();
    };
    Object.assign(harness.provider, { cancel });
    harness.provider.behaviour = submitAccepts(10 * MINUTE);
  });
  afterEach(() => harness.close());

  /** When each attempt is to be cancelled at the provider, for those that are. */
  const cancelsDue = async (id: JobId): Promise<number[]> =>
    (await harness.storage.jobs.listAttempts(id)).flatMap(({ cancelDueAt }) => cancelDueAt ?? []);

  async function rendering(options: WorkerOptions = {}): Promise<{ readonly id: JobId; readonly worker: Worker }> {
    const id = await harness.acceptOne();
    const worker = await harness.start({ capabilities: CANCELS, ...options });
    await harness.quiet();
    return { id, worker };
  }

  it("is cancelled at the provider when an operator cancelled its job", async () => {
    const { id, worker } = await rendering();
    await worker.operate.cancel(id, { force: true });
    await harness.pass(2_000);
    expect(notified.map(({ data }) => data)).to.deep.equal([{ task: id }]);
    expect(await cancelsDue(id)).to.deep.equal([]);
    await harness.pass(5 * MINUTE);
    expect(notified).to.have.length(1);
    await harness.expectFailed(id, "generation_failed");
  });

  it("is cancelled at the provider when its job passed the deadline", async () => {
    harness.provider.pollBehaviour = () => Promise.resolve({ state: "running", nextPollMs: 10 * MINUTE });
    const { id } = await rendering({ deadlineMs: MINUTE });
    await harness.pass(MINUTE + 10_000);
    await harness.expectFailed(id, "provider_timeout");
    expect(notified).to.have.length(1);
  });

  it("is cancelled again while the provider is unavailable, for a quarter of an hour", async () => {
    response = () => Promise.reject(new ProviderFailure("unavailable", "busy"));
    const { id, worker } = await rendering();
    await worker.operate.cancel(id, { force: true });
    await harness.pass(3 * MINUTE + 2_000);
    expect(notified.length).to.be.within(3, 4);
    response = () => Promise.resolve("too_late");
    await harness.pass(MINUTE + 1_000);
    const times = notified.length;
    expect(await cancelsDue(id)).to.deep.equal([]);
    await harness.pass(3 * MINUTE);
    expect(notified).to.have.length(times);
  });

  it("is no longer cancelled when the provider does not know it, or after a quarter of an hour", async () => {
    response = () => Promise.reject(new ProviderFailure("gone", "no such task"));
    const { id, worker } = await rendering();
    await worker.operate.cancel(id, { force: true });
    await harness.pass(2_000);
    expect(await cancelsDue(id)).to.deep.equal([]);
    response = () => Promise.reject(new ProviderFailure("unavailable", "busy"));
    const next = await harness.acceptOne();
    await harness.quiet();
    await worker.operate.cancel(next, { force: true });
    await harness.pass(20 * MINUTE);
    expect(await cancelsDue(next)).to.deep.equal([]);
  });

  it("does not exist for a job that was only waiting, or that ended by itself", async () => {
    const worker = await harness.start({ capabilities: CANCELS });
    await worker.availability.recordBroken("scripted");
    const waiting = await harness.acceptOne();
    await worker.operate.cancel(waiting, { force: true });
    await harness.pass(5_000);
    expect(notified).to.deep.equal([]);
    expect(await cancelsDue(waiting)).to.deep.equal([]);
  });

  it("is cancelled at the provider when its job was cancelled during the submission", async () => {
    const { behaviour, release } = submitHolds(submitAccepts(10 * MINUTE));
    harness.provider.behaviour = behaviour;
    const id = await harness.acceptOne();
    const worker = await harness.start({ capabilities: CANCELS, expectedCost: { amount: 1, unit: "USD" } });
    await harness.provider.submitted();
    await worker.operate.cancel(id, { force: true });
    release();
    await harness.pass(5_000);
    expect(notified.map(({ data }) => data)).to.deep.equal([{ task: id }]);
    await harness.expectFailed(id, "generation_failed");
    expect((await harness.storage.jobs.listAttempts(id))[0]).to.deep.include({
      outcome: "accepted",
      cost: { amount: 1, unit: "USD" },
      billable: "unknown",
    });
  });

  it("is cancelled by a worker whose plugin can cancel", async () => {
    const { id, worker } = await rendering({ capabilities: {} });
    await harness.prepare({ capabilities: CANCELS }).operate.cancel(id, { force: true });
    await harness.pass(5_000);
    expect(notified).to.deep.equal([]);
    await worker.stop();
    await harness.start({ capabilities: CANCELS });
    await harness.pass(2_000);
    expect(notified).to.have.length(1);
  });
});
