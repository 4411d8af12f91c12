import { expect } from "chai";
import type { ProviderCapabilities } from "../../../core/ports/music-provider.js";
import {
  submitAccepts,
  submitCompletes,
  submitFails,
  SCRIPTED_TRACK,
} from "../../support/doubles/scripted-provider.js";
import { GRACE_MS, WorkerHarness } from "./worker-harness.js";

/** The time until every process has noticed a change: its state is a second old at most, and it polls every second. */
const HEARD_MS = 2_000;
const RENDER_MS = 10_000;

describe("While submissions are paused", () => {
  let harness: WorkerHarness;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
  });
  afterEach(() => harness.close());

  /** An operator's command: a separate process, without workers. */
  const pause = (): Promise<unknown> => harness.prepare().submissions.pause();
  const resume = (): Promise<unknown> => harness.prepare().submissions.resume();

  it("a waiting job stays queued until they are resumed, and a rendering one completes", async () => {
    harness.provider.behaviour = submitAccepts(RENDER_MS);
    harness.provider.pollBehaviour = () => Promise.resolve({ state: "completed", tracks: [SCRIPTED_TRACK] });
    const rendering = await harness.acceptOne();
    await harness.start();
    await harness.quiet();
    await pause();
    await harness.pass(HEARD_MS);
    const waiting = await harness.acceptOne();
    await harness.pass(RENDER_MS * 2);
    await harness.expectCompleted(rendering);
    expect(await harness.job(waiting)).to.include({ status: "queued", phase: "waiting", attempt: 0, leaseOwner: null });
    expect(harness.provider.submissions).to.have.length(1);
    expect(await harness.attempts(waiting)).to.deep.equal([]);

    await resume();
    await harness.pass(HEARD_MS + RENDER_MS);
    await harness.expectCompleted(waiting);
    expect(harness.provider.submissions).to.have.length(2);
  });

  it("no process buys anything, not even one that starts meanwhile, nor through a fallback", async () => {
    await pause();
    const jobs = await harness.accept(3);
    const first = await harness.start({ withFallback: true });
    await first.availability.recordBroken("scripted");
    await harness.start({ withFallback: true, maxInFlight: 5 });
    await harness.pass(60_000);
    for (const { id } of jobs)
      expect(await harness.job(id)).to.include({ status: "queued", phase: "waiting", providerId: "scripted" });
    expect(harness.provider.submissions.length + harness.fallback.submissions.length).to.equal(0);
  });

  it("a lost submission at a provider with idempotent submit is repeated only after they are resumed", async () => {
    harness.provider.behaviour = (request, context) =>
      (request.attempt === 1 ? submitFails("outcome_unknown") : submitCompletes)(request, context);
    const id = await harness.acceptOne();
    const beginner = await harness.start({ capabilities: { idempotentSubmit: true } });
    await harness.quiet();
    await beginner.stop();
    await pause();
    await harness.start({ capabilities: { idempotentSubmit: true } });
    await harness.pass(60_000);
    expect(await harness.job(id)).to.include({ status: "processing", phase: "submitting", attempt: 1 });
    expect(harness.provider.submissions).to.have.length(1);
    await resume();
    await harness.pass(HEARD_MS);
    await harness.expectCompleted(id);
  });

  it("a lost submission is looked up and adopted, or refunded after its grace time, without buying", async () => {
    const ends = async (capabilities: Partial<ProviderCapabilities>): Promise<void> => {
      const worker = await harness.start({ capabilities });
      await harness.pass(HEARD_MS + GRACE_MS);
      await worker.stop();
    };
    harness.provider.behaviour = submitFails("outcome_unknown");
    harness.provider.lookupBehaviour = () => Promise.resolve({ state: "completed", tracks: [SCRIPTED_TRACK] });
    const found = await harness.acceptOne();
    const beginner = await harness.start({ capabilities: { lookup: true } });
    await harness.quiet();
    await beginner.stop();
    await pause();
    await ends({ lookup: true });
    await harness.expectCompleted(found);

    await resume();
    const lost = await harness.acceptOne();
    const other = await harness.start();
    await harness.pass(HEARD_MS);
    await pause();
    await other.stop();
    await ends({});
    await harness.expectFailed(lost, "provider_timeout");
    expect(harness.provider.submissions).to.have.length(2);
  });

  it("deadlines still apply: a job that waited too long is refunded", async () => {
    await pause();
    const id = await harness.acceptOne();
    await harness.start({ deadlineMs: 60_000 });
    await harness.pass(66_000);
    await harness.expectFailed(id, "provider_unavailable");
  });

  it("pausing again changes nothing, and returns the start of the pause", async () => {
    const { submissions } = harness.prepare();
    expect(await submissions.find()).to.deep.equal({ state: "active", changedAt: null });
    const paused = await submissions.pause();
    expect(paused).to.deep.equal({ state: "paused", changedAt: harness.clock.now() });
    harness.clock.set(harness.clock.now() + 5_000);
    expect(await submissions.pause()).to.deep.equal(paused);
    expect(await harness.prepare().submissions.find()).to.deep.equal(paused);
    expect(await submissions.resume()).to.deep.equal({ state: "active", changedAt: harness.clock.now() });
  });
});

describe("A process whose settings pause submissions at its start", () => {
  let harness: WorkerHarness;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
  });
  afterEach(() => harness.close());

  it("buys nothing until they are resumed, whatever the storage says; its next start is paused again", async () => {
    await harness.prepare().submissions.pause();
    await harness.prepare().submissions.resume();
    harness.clock.set(harness.clock.now() + 60_000);
    const first = await harness.acceptOne();
    const worker = await harness.start({ submissions: "paused" });
    await harness.pass(60_000);
    expect(await harness.job(first)).to.include({ status: "queued", attempt: 0 });
    await harness.prepare().submissions.resume();
    await harness.pass(HEARD_MS);
    await harness.expectCompleted(first);

    await worker.stop();
    const second = await harness.acceptOne();
    await harness.start({ submissions: "paused" });
    await harness.pass(60_000);
    expect(await harness.job(second)).to.include({ status: "queued", attempt: 0 });
    expect(harness.provider.submissions).to.have.length(1);
  });

  it("does not affect processes with other settings", async () => {
    await harness.start({ submissions: "paused" });
    await harness.pass(HEARD_MS);
    const id = await harness.acceptOne();
    await harness.start();
    await harness.pass(HEARD_MS);
    await harness.expectCompleted(id);
  });
});
