import { expect } from "chai";
import type { ProviderCapabilities } from "../../../core/ports/music-provider.js";
import { accepts, completes, fails, SCRIPTED_TRACK } from "../../support/doubles/scripted-provider.js";
import { GRACE_MS, WorkerHarness } from "./worker-harness.js";

/** How soon every process has heard of a change: what it knows is a second old at most, and it looks every second. */
const HEARD_MS = 2_000;
const RENDER_MS = 10_000;

describe("While submissions are paused", () => {
  let shop: WorkerHarness;
  beforeEach(async () => {
    shop = await WorkerHarness.open();
  });
  afterEach(() => shop.close());

  /** What an operator's command does: a process of its own, without workers. */
  const pause = (): Promise<unknown> => shop.prepare().submissions.pause();
  const resume = (): Promise<unknown> => shop.prepare().submissions.resume();

  it("a waiting job stays where it is, a rendering one completes, and both go on when they are resumed", async () => {
    shop.provider.behaviour = accepts(RENDER_MS);
    shop.provider.pollBehaviour = () => Promise.resolve({ state: "completed", tracks: [SCRIPTED_TRACK] });
    const rendering = await shop.acceptOne();
    await shop.start();
    await shop.quiet();
    await pause();
    await shop.pass(HEARD_MS);
    const waiting = await shop.acceptOne();
    await shop.pass(RENDER_MS * 2);
    await shop.expectCompleted(rendering);
    expect(await shop.job(waiting)).to.include({ status: "queued", phase: "waiting", attempt: 0, leaseOwner: null });
    expect(shop.provider.submissions).to.have.length(1);
    expect(await shop.attempts(waiting)).to.deep.equal([]);

    await resume();
    await shop.pass(HEARD_MS + RENDER_MS);
    await shop.expectCompleted(waiting);
    expect(shop.provider.submissions).to.have.length(2);
  });

  it("no process buys anything, also one that starts meanwhile, and a fallback does not either", async () => {
    await pause();
    const jobs = await shop.accept(3);
    const first = await shop.start({ withFallback: true });
    await first.availability.recordBroken("scripted");
    await shop.start({ withFallback: true, maxInFlight: 5 });
    await shop.pass(60_000);
    for (const { id } of jobs)
      expect(await shop.job(id)).to.include({ status: "queued", phase: "waiting", providerId: "scripted" });
    expect(shop.provider.submissions.length + shop.fallback.submissions.length).to.equal(0);
  });

  it("a lost submission is not repeated at a provider whose submit is idempotent; after they are resumed it is", async () => {
    shop.provider.behaviour = (request, context) =>
      (request.attempt === 1 ? fails("outcome_unknown") : completes)(request, context);
    const id = await shop.acceptOne();
    const beginner = await shop.start({ capabilities: { idempotentSubmit: true } });
    await shop.quiet();
    await beginner.stop();
    await pause();
    await shop.start({ capabilities: { idempotentSubmit: true } });
    await shop.pass(60_000);
    expect(await shop.job(id)).to.include({ status: "processing", phase: "submitting", attempt: 1 });
    expect(shop.provider.submissions).to.have.length(1);
    await resume();
    await shop.pass(HEARD_MS);
    await shop.expectCompleted(id);
  });

  it("a lost submission is looked up and adopted, or refunded when its grace is over: neither buys anything", async () => {
    const ends = async (capabilities: Partial<ProviderCapabilities>): Promise<void> => {
      const worker = await shop.start({ capabilities });
      await shop.pass(HEARD_MS + GRACE_MS);
      await worker.stop();
    };
    shop.provider.behaviour = fails("outcome_unknown");
    shop.provider.lookupBehaviour = () => Promise.resolve({ state: "completed", tracks: [SCRIPTED_TRACK] });
    const found = await shop.acceptOne();
    const beginner = await shop.start({ capabilities: { lookup: true } });
    await shop.quiet();
    await beginner.stop();
    await pause();
    await ends({ lookup: true });
    await shop.expectCompleted(found);

    await resume();
    const lost = await shop.acceptOne();
    const other = await shop.start();
    await shop.pass(HEARD_MS);
    await pause();
    await other.stop();
    await ends({});
    await shop.expectFailed(lost, "provider_timeout");
    expect(shop.provider.submissions).to.have.length(2);
  });

  it("deadlines go on: a job that waited too long is refunded", async () => {
    await pause();
    const id = await shop.acceptOne();
    await shop.start({ deadlineMs: 60_000 });
    await shop.pass(66_000);
    await shop.expectFailed(id, "provider_unavailable");
  });

  it("pausing once more changes nothing, and says since when they are", async () => {
    const { submissions } = shop.prepare();
    expect(await submissions.find()).to.deep.equal({ state: "active", changedAt: null });
    const paused = await submissions.pause();
    expect(paused).to.deep.equal({ state: "paused", changedAt: shop.clock.now() });
    shop.clock.set(shop.clock.now() + 5_000);
    expect(await submissions.pause()).to.deep.equal(paused);
    expect(await shop.prepare().submissions.find()).to.deep.equal(paused);
    expect(await submissions.resume()).to.deep.equal({ state: "active", changedAt: shop.clock.now() });
  });
});

describe("A process that its settings start with submissions paused", () => {
  let shop: WorkerHarness;
  beforeEach(async () => {
    shop = await WorkerHarness.open();
  });
  afterEach(() => shop.close());

  it("buys nothing, whatever the restored storage says, until they are resumed; the next start is paused again", async () => {
    await shop.prepare().submissions.pause();
    await shop.prepare().submissions.resume();
    shop.clock.set(shop.clock.now() + 60_000);
    const first = await shop.acceptOne();
    const worker = await shop.start({ submissions: "paused" });
    await shop.pass(60_000);
    expect(await shop.job(first)).to.include({ status: "queued", attempt: 0 });
    await shop.prepare().submissions.resume();
    await shop.pass(HEARD_MS);
    await shop.expectCompleted(first);

    await worker.stop();
    const second = await shop.acceptOne();
    await shop.start({ submissions: "paused" });
    await shop.pass(60_000);
    expect(await shop.job(second)).to.include({ status: "queued", attempt: 0 });
    expect(shop.provider.submissions).to.have.length(1);
  });

  it("leaves processes alone whose settings say otherwise", async () => {
    await shop.start({ submissions: "paused" });
    await shop.pass(HEARD_MS);
    const id = await shop.acceptOne();
    await shop.start();
    await shop.pass(HEARD_MS);
    await shop.expectCompleted(id);
  });
});
