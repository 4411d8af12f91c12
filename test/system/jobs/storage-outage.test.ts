import { expect } from "chai";
import type { Stores } from "../../../adapters/storage/sql/index.js";
import { ServiceUnavailableError } from "../../../core/errors.js";
import type { UnitOfWork } from "../../../core/ports/unit-of-work.js";
import { accepts, completes, fails } from "../../support/doubles/scripted-provider.js";
import { LEASE_MS, WorkerHarness } from "./worker-harness.js";

/** A storage that a test can take out of reach. */
class OutOfReach implements UnitOfWork {
  private failures = 0;
  refused = 0;
  readonly stores: Pick<Stores, "unitOfWork" | "jobs">;

  constructor(private readonly real: Stores) {
    // Claims and heartbeats are transactions as well.
    const { jobs } = real;
    const reach: OutOfReach["reach"] = (work) => this.reach(work);
    const guarded: Stores["jobs"] = Object.assign(Object.create(jobs) as Stores["jobs"], {
      claimJobs: (...request: Parameters<typeof jobs.claimJobs>) => reach(() => jobs.claimJobs(...request)),
      renewLeases: (...request: Parameters<typeof jobs.renewLeases>) => reach(() => jobs.renewLeases(...request)),
    });
    this.stores = { unitOfWork: this, jobs: guarded };
  }

  get concurrentWriters(): number {
    return this.real.unitOfWork.concurrentWriters;
  }

  /** The next transactions fail. */
  fail(times: number): void {
    this.failures = times;
  }

  inTransaction: UnitOfWork["inTransaction"] = (work) => this.reach(() => this.real.unitOfWork.inTransaction(work));

  private async reach<T>(work: () => Promise<T>): Promise<T> {
    if (this.failures <= 0) return work();
    this.failures--;
    this.refused++;
    throw new ServiceUnavailableError("The storage is out of reach.");
  }
}

/** A storage whose every commit is answered by a lost connection, so that all work runs a second time. */
function losesReplies(real: UnitOfWork, loses: () => boolean): UnitOfWork {
  return {
    concurrentWriters: real.concurrentWriters,
    async inTransaction(work) {
      const first = await real.inTransaction(work);
      return loses() ? real.inTransaction(work) : first;
    },
  };
}

describe("While the storage is out of reach", () => {
  let shop: WorkerHarness;
  let outage: OutOfReach;
  beforeEach(async () => {
    shop = await WorkerHarness.open();
    outage = new OutOfReach(shop.storage);
  });
  afterEach(() => shop.close());

  it("a finished piece is kept until it can be settled", async () => {
    shop.provider.behaviour = (request, context) => {
      outage.fail(6);
      return completes(request, context);
    };
    const id = await shop.acceptOne();
    await shop.start({ stores: outage.stores });
    await shop.pass(20_000);
    expect(outage.refused).to.equal(6);
    expect(await shop.expectCompleted(id)).to.include({ crashes: 0, attempt: 1 });
    expect(shop.provider.submissions).to.have.length(1);
    expect(await shop.attempts(id)).to.deep.equal([[1, "completed"]]);
  });

  it("a finished piece outlives an outage longer than its lease", async () => {
    shop.provider.behaviour = (request, context) => {
      outage.fail(40);
      return completes(request, context);
    };
    const id = await shop.acceptOne();
    await shop.start({ stores: outage.stores });
    await shop.pass(4 * LEASE_MS);
    expect(outage.refused).to.equal(40);
    await shop.expectCompleted(id);
    expect(shop.provider.submissions).to.have.length(1);
  });

  it("the handle of accepted work is kept until it can be written", async () => {
    shop.provider.behaviour = (request, context) => {
      outage.fail(4);
      return accepts(60_000)(request, context);
    };
    const id = await shop.acceptOne();
    await shop.start({ stores: outage.stores });
    await shop.pass(5_000);
    expect(await shop.job(id)).to.include({ phase: "rendering", crashes: 0, leaseOwner: null });
    const [attempt] = await shop.storage.jobs.listAttempts(id);
    expect(attempt).to.deep.include({ outcome: "accepted", handle: { version: 1, data: { task: id } } });
    await shop.pass(60_000);
    await shop.expectCompleted(id);
  });

  it("no provider is called before the intent is written", async () => {
    const id = await shop.acceptOne();
    const { jobs } = shop.storage;
    const claims: Stores["jobs"] = Object.assign(Object.create(jobs) as Stores["jobs"], {
      async claimJobs(...request: Parameters<typeof jobs.claimJobs>) {
        const claimed = await jobs.claimJobs(...request);
        if (claimed.length > 0) outage.fail(3);
        return claimed;
      },
    });
    let refusedBefore = -1;
    shop.provider.behaviour = (request, context) => {
      refusedBefore = outage.refused;
      return completes(request, context);
    };
    await shop.start({ stores: { ...outage.stores, jobs: claims } });
    await shop.pass(10_000);
    expect(refusedBefore).to.equal(3);
    await shop.expectCompleted(id);
  });

  it("a refusal for now stays one, although the breaker's count is lost", async () => {
    shop.provider.behaviour = (request, context) => {
      if (request.attempt > 1) return completes(request, context);
      outage.fail(2);
      return fails("unavailable")(request, context);
    };
    const id = await shop.acceptOne();
    await shop.start({ stores: outage.stores });
    await shop.pass(10_000);
    expect(await shop.expectCompleted(id)).to.include({ crashes: 0, refusals: 1 });
    expect(await shop.attempts(id)).to.deep.equal([
      [1, "unavailable"],
      [2, "completed"],
    ]);
  });

  it("an answer after failures is kept, although the breaker cannot be told of it", async () => {
    shop.provider.behaviour = (request, context) => {
      if (request.attempt === 1) return fails("unavailable")(request, context);
      outage.fail(3);
      return completes(request, context);
    };
    const id = await shop.acceptOne();
    await shop.start({ stores: outage.stores });
    await shop.pass(10_000);
    expect(await shop.expectCompleted(id)).to.include({ crashes: 0, attempt: 2 });
    expect(await shop.attempts(id)).to.deep.equal([
      [1, "unavailable"],
      [2, "completed"],
    ]);
  });

  it("a worker goes on looking, and finds the work afterwards", async () => {
    outage.fail(3);
    const id = await shop.acceptOne();
    await shop.start({ stores: outage.stores });
    await shop.pass(5_000);
    await shop.expectCompleted(id);
  });

  it("a worker that must stop leaves its jobs to their leases, and another one takes them up", async () => {
    shop.provider.behaviour = (request, context) => {
      if (request.attempt > 1) return completes(request, context);
      outage.fail(1_000);
      return accepts(1_000)(request, context);
    };
    const id = await shop.acceptOne();
    const worker = await shop.start({ stores: outage.stores, capabilities: { idempotentSubmit: true } });
    await shop.pass(1_000);
    await worker.stop(1_000);
    expect((await shop.job(id)).leaseOwner).to.equal(worker.leases.owner);
    await shop.start({ capabilities: { idempotentSubmit: true } });
    await shop.pass(LEASE_MS + 5_000);
    expect((await shop.expectCompleted(id)).crashes).to.equal(1);
  });
});

describe("When a commit's reply is lost and the work runs again", () => {
  let shop: WorkerHarness;
  beforeEach(async () => {
    shop = await WorkerHarness.open();
  });
  afterEach(() => shop.close());

  it("a completed job keeps its files, is charged once and is announced once", async () => {
    let isLossy = false;
    const unitOfWork = losesReplies(shop.storage.unitOfWork, () => isLossy);
    shop.provider.behaviour = (request, context) => {
      isLossy = true;
      return completes(request, context);
    };
    const id = await shop.acceptOne();
    await shop.start({ stores: { unitOfWork } });
    await shop.quiet();
    await shop.expectCompleted(id);
    expect(await shop.attempts(id)).to.deep.equal([[1, "completed"]]);
  });

  it("an accepted job is polled as if nothing had happened", async () => {
    let isLossy = false;
    const unitOfWork = losesReplies(shop.storage.unitOfWork, () => isLossy);
    shop.provider.behaviour = (request, context) => {
      isLossy = true;
      return accepts(1_000)(request, context);
    };
    const id = await shop.acceptOne();
    await shop.start({ stores: { unitOfWork } });
    await shop.pass(1_000);
    await shop.expectCompleted(id);
  });
});
