import { expect } from "chai";
import type { Stores } from "../../../adapters/storage/sql/index.js";
import { ServiceUnavailableError } from "../../../core/errors.js";
import type { UnitOfWork } from "../../../core/ports/unit-of-work.js";
import { submitAccepts, submitCompletes, submitFails } from "../../support/doubles/scripted-provider.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { LEASE_MS, WorkerHarness } from "./worker-harness.js";

/** A storage whose next transactions a test can make fail. */
class FaultyStorage {
  refused = 0;
  readonly stores: Pick<Stores, "unitOfWork" | "jobs">;
  private failures = 0;

  constructor(real: Stores) {
    const [unitOfWork, jobs] = [new FaultyPort(real.unitOfWork), new FaultyPort(real.jobs)];
    const error = (): Error => new ServiceUnavailableError("The storage is unavailable.");
    const isFaulty = (): boolean => this.isFaulty();
    unitOfWork.failOn("inTransaction", error, isFaulty);
    // Claims and lease renewals are transactions as well.
    for (const method of ["claimJobs", "renewLeases"] as const) jobs.failOn(method, error, isFaulty);
    this.stores = { unitOfWork: unitOfWork.port, jobs: jobs.port };
  }

  /** The next transactions fail. */
  fail(times: number): void {
    this.failures = times;
  }

  private isFaulty(): boolean {
    if (this.failures <= 0) return false;
    this.failures--;
    this.refused++;
    return true;
  }
}

/** A storage whose every commit reply is lost, so that all work runs a second time. */
function losesReplies(real: UnitOfWork, loses: () => boolean): UnitOfWork {
  return {
    concurrentWriters: real.concurrentWriters,
    async inTransaction(work) {
      const first = await real.inTransaction(work);
      return loses() ? real.inTransaction(work) : first;
    },
  };
}

describe("While the storage is unavailable", () => {
  let harness: WorkerHarness;
  let outage: FaultyStorage;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
    outage = new FaultyStorage(harness.storage);
  });
  afterEach(() => harness.close());

  it("a finished track is kept until it can be settled", async () => {
    harness.provider.behaviour = (request, context) => {
      outage.fail(6);
      return submitCompletes(request, context);
    };
    const id = await harness.acceptOne();
    await harness.start({ stores: outage.stores });
    await harness.pass(20_000);
    expect(outage.refused).to.equal(6);
    expect(await harness.expectCompleted(id)).to.include({ crashes: 0, attempt: 1 });
    expect(harness.provider.submissions).to.have.length(1);
    expect(await harness.attempts(id)).to.deep.equal([[1, "completed"]]);
  });

  it("a finished track survives an outage longer than its lease", async () => {
    harness.provider.behaviour = (request, context) => {
      outage.fail(40);
      return submitCompletes(request, context);
    };
    const id = await harness.acceptOne();
    await harness.start({ stores: outage.stores });
    await harness.pass(4 * LEASE_MS);
    expect(outage.refused).to.equal(40);
    await harness.expectCompleted(id);
    expect(harness.provider.submissions).to.have.length(1);
  });

  it("the handle of accepted work is kept until it can be stored", async () => {
    harness.provider.behaviour = (request, context) => {
      outage.fail(4);
      return submitAccepts(60_000)(request, context);
    };
    const id = await harness.acceptOne();
    await harness.start({ stores: outage.stores });
    await harness.pass(5_000);
    expect(await harness.job(id)).to.include({ phase: "rendering", crashes: 0, leaseOwner: null });
    const [attempt] = await harness.storage.jobs.listAttempts(id);
    expect(attempt).to.deep.include({ outcome: "accepted", handle: { version: 1, data: { task: id } } });
    await harness.pass(60_000);
    await harness.expectCompleted(id);
  });

  it("no provider is called before the intent is stored", async () => {
    const id = await harness.acceptOne();
    const claims = new FaultyPort(harness.storage.jobs).on("claimJobs", async (claim, request) => {
      const claimed = await claim(request);
      if (claimed.length > 0) outage.fail(3);
      return claimed;
    });
    let refusedBefore = -1;
    harness.provider.behaviour = (request, context) => {
      refusedBefore = outage.refused;
      return submitCompletes(request, context);
    };
    await harness.start({ stores: { ...outage.stores, jobs: claims } });
    await harness.pass(10_000);
    expect(refusedBefore).to.equal(3);
    await harness.expectCompleted(id);
  });

  it("a temporary refusal stays one, although the breaker's count is lost", async () => {
    harness.provider.behaviour = (request, context) => {
      if (request.attempt > 1) return submitCompletes(request, context);
      outage.fail(2);
      return submitFails("unavailable")(request, context);
    };
    const id = await harness.acceptOne();
    await harness.start({ stores: outage.stores });
    await harness.pass(10_000);
    expect(await harness.expectCompleted(id)).to.include({ crashes: 0, refusals: 1 });
    expect(await harness.attempts(id)).to.deep.equal([
      [1, "unavailable"],
      [2, "completed"],
    ]);
  });

  it("a response after failures is kept, although the breaker cannot record it", async () => {
    harness.provider.behaviour = (request, context) => {
      if (request.attempt === 1) return submitFails("unavailable")(request, context);
      outage.fail(3);
      return submitCompletes(request, context);
    };
    const id = await harness.acceptOne();
    await harness.start({ stores: outage.stores });
    await harness.pass(10_000);
    expect(await harness.expectCompleted(id)).to.include({ crashes: 0, attempt: 2 });
    expect(await harness.attempts(id)).to.deep.equal([
      [1, "unavailable"],
      [2, "completed"],
    ]);
  });

  it("a worker keeps polling for jobs, and claims them afterwards", async () => {
    outage.fail(3);
    const id = await harness.acceptOne();
    await harness.start({ stores: outage.stores });
    await harness.pass(5_000);
    await harness.expectCompleted(id);
  });

  it("a stopping worker leaves its jobs until their leases end, and another one claims them", async () => {
    harness.provider.behaviour = (request, context) => {
      if (request.attempt > 1) return submitCompletes(request, context);
      outage.fail(1_000);
      return submitAccepts(1_000)(request, context);
    };
    const id = await harness.acceptOne();
    const worker = await harness.start({ stores: outage.stores, capabilities: { idempotentSubmit: true } });
    await harness.pass(1_000);
    await worker.stop(1_000);
    expect((await harness.job(id)).leaseOwner).to.equal(worker.leases.owner);
    await harness.start({ capabilities: { idempotentSubmit: true } });
    await harness.pass(LEASE_MS + 5_000);
    expect((await harness.expectCompleted(id)).crashes).to.equal(1);
  });
});

describe("When a commit's reply is lost and the transaction runs again", () => {
  let harness: WorkerHarness;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
  });
  afterEach(() => harness.close());

  it("a completed job keeps its files, is charged once and notified once", async () => {
    let isLossy = false;
    const unitOfWork = losesReplies(harness.storage.unitOfWork, () => isLossy);
    harness.provider.behaviour = (request, context) => {
      isLossy = true;
      return submitCompletes(request, context);
    };
    const id = await harness.acceptOne();
    await harness.start({ stores: { unitOfWork } });
    await harness.quiet();
    await harness.expectCompleted(id);
    expect(await harness.attempts(id)).to.deep.equal([[1, "completed"]]);
  });

  it("an accepted job is polled as usual", async () => {
    let isLossy = false;
    const unitOfWork = losesReplies(harness.storage.unitOfWork, () => isLossy);
    harness.provider.behaviour = (request, context) => {
      isLossy = true;
      return submitAccepts(1_000)(request, context);
    };
    const id = await harness.acceptOne();
    await harness.start({ stores: { unitOfWork } });
    await harness.pass(1_000);
    await harness.expectCompleted(id);
  });
});
