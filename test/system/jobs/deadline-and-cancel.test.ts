import { expect } from "chai";
import { OperationRefusedError } from "../../../core/errors.js";
import { accepts, fails, holds } from "../../support/doubles/scripted-provider.js";
import { LEASE_MS, until, WorkerHarness } from "./worker-harness.js";

const HOUR_MS = 3_600_000;

describe("A job past its deadline", () => {
  let shop: WorkerHarness;
  beforeEach(async () => {
    shop = await WorkerHarness.open();
  });
  afterEach(() => shop.close());

  it("that still waits is refunded for want of the provider", async () => {
    shop.provider.behaviour = fails("unavailable");
    const id = await shop.acceptOne();
    await shop.start({ maxAttempts: 1_000, deadlineMs: 60_000 });
    await shop.pass(60_000);
    expect((await shop.job(id)).status).to.equal("queued");
    await shop.pass(5_000);
    await shop.expectFailed(id, "provider_unavailable");
  });

  it("that the provider still renders is refunded, and never asked after again", async () => {
    shop.provider.behaviour = accepts(1_000);
    shop.provider.pollBehaviour = async () => ({ state: "running", nextPollMs: 20_000 });
    const id = await shop.acceptOne();
    await shop.start({ deadlineMs: 60_000 });
    await shop.pass(65_000);
    await shop.expectFailed(id, "provider_timeout");
    const polls = shop.provider.polls.length;
    await shop.pass(60_000);
    expect(shop.provider.polls).to.have.length(polls);
  });

  it("that a worker has begun to submit is delivered: from then on it has the time of a render", async () => {
    const { behaviour, release } = holds();
    shop.provider.behaviour = behaviour;
    const id = await shop.acceptOne();
    // Two processes: one whose provider takes for ever, one that does the maintenance.
    await shop.start({ deadlineMs: HOUR_MS });
    await shop.provider.submitted();
    const other = shop.prepare({ deadlineMs: 1_000 });
    await shop.pass(1_250);
    await other.maintenance.runOnce();
    expect((await shop.job(id)).status).to.equal("processing");
    release();
    await shop.quiet();
    await shop.expectCompleted(id);
  });

  it("is refunded once, however many processes do the maintenance", async () => {
    await shop.accept(20);
    const processes = [1, 2, 3].map(() => shop.prepare({ deadlineMs: 1_000 }).maintenance);
    shop.clock.set(shop.clock.now() + 1_001);
    await Promise.all(processes.map((maintenance) => maintenance.runOnce()));
    expect(shop.ended).to.have.length(20);
    expect(await shop.storage.balanceOf(shop.accountId)).to.include({
      runningJobs: 0,
      spent: 0,
      reservedMonthly: 0,
      reservedPack: 0,
      monthly: 5,
    });
  });
});

describe("A job that an operator cancels", () => {
  let shop: WorkerHarness;
  beforeEach(async () => {
    shop = await WorkerHarness.open();
  });
  afterEach(() => shop.close());

  it("while it waits is refunded and never submitted", async () => {
    const id = await shop.acceptOne();
    const { operate } = shop.prepare();
    expect(await operate.cancel(id)).to.include({ id, status: "failed" });
    await shop.start();
    await shop.pass(60_000);
    const job = await shop.expectFailed(id, "generation_failed");
    expect(job.error?.details).to.deep.equal({ reason: "cancelled" });
    expect(shop.provider.submissions).to.have.length(0);
  });

  it("is cancelled once", async () => {
    const id = await shop.acceptOne();
    const { operate } = shop.prepare();
    const both = await Promise.allSettled([operate.cancel(id), operate.cancel(id)]);
    expect(both.map(({ status }) => status).sort()).to.deep.equal(["fulfilled", "rejected"]);
    const refused = both.find((one) => one.status === "rejected");
    expect(refused?.reason).to.be.instanceOf(OperationRefusedError);
    await shop.expectFailed(id, "generation_failed");
  });

  it("while its worker waits for the provider stays cancelled, and the piece is thrown away", async () => {
    const { behaviour, release } = holds();
    shop.provider.behaviour = behaviour;
    const id = await shop.acceptOne();
    const worker = await shop.start();
    await shop.provider.submitted();
    const cancelled = await worker.operate.cancel(id);
    release();
    await shop.quiet();
    expect(await shop.expectFailed(id, "generation_failed")).to.deep.equal(cancelled);
    expect((await shop.storage.jobs.listAttempts(id))[0]).to.include({
      outcome: "completed",
      state: "abandoned",
      loss: "cancelled",
      billable: "yes",
    });
  });

  it("is aborted in the worker with its next heartbeat, where the call can be repeated", async () => {
    const { behaviour } = holds();
    shop.provider.behaviour = behaviour;
    const id = await shop.acceptOne();
    const worker = await shop.start({ capabilities: { idempotentSubmit: true } });
    await shop.provider.submitted();
    await worker.operate.cancel(id);
    await shop.pass(LEASE_MS / 3);
    expect(worker.calls()).to.equal(0);
    await shop.expectFailed(id, "generation_failed");
  });

  it("while the provider renders it is not asked after again", async () => {
    shop.provider.behaviour = accepts(1_000);
    const id = await shop.acceptOne();
    const worker = await shop.start();
    await shop.quiet();
    await worker.operate.cancel(id);
    await shop.pass(10_000);
    await shop.expectFailed(id, "generation_failed");
    expect(shop.provider.polls).to.have.length(0);
  });

  it("has ended already is refused, and keeps what it has", async () => {
    const id = await shop.acceptOne();
    const worker = await shop.start();
    await shop.quiet();
    const refused = await worker.operate.cancel(id).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(OperationRefusedError);
    await shop.expectCompleted(id);
  });

  it("in the moment it completes ends one way, and with that one's credits", async () => {
    const outcomes = new Set<string>();
    const worker = await shop.start();
    for (let round = 0; round < 12; round++) {
      const { behaviour, release } = holds();
      shop.provider.behaviour = behaviour;
      const id = await shop.acceptOne();
      await shop.provider.submitted(round + 1);
      release();
      // Each round the operator comes a little later.
      let turns = round * 4;
      await until("the operator comes", () => turns-- <= 0);
      const cancelled = await worker.operate.cancel(id).then(
        () => true,
        () => false,
      );
      await shop.quiet();
      outcomes.add((await shop.job(id)).status);
      if (cancelled) await shop.expectFailed(id, "generation_failed");
      else await shop.expectCompleted(id);
    }
    expect([...outcomes]).to.include("failed");
  });
});
