import { expect } from "chai";
import type { JobId } from "../../../../core/ids.js";
import { Leases } from "../../../../core/execution/leases.js";
import type { LeaseRenewal, LostLeaseListener } from "../../../../core/ports/lease-renewal.js";
import { anId } from "../../../support/builders.js";
import { RecordingLogger } from "../../../support/doubles/recording-logger.js";

const LEASE_MS = 30_000;

/** A renewal that notes what is kept, and loses what a test says. */
class NotedRenewal implements LeaseRenewal {
  readonly kept = new Map<JobId, number>();
  isClosed = false;
  lose: LostLeaseListener = () => undefined;

  keep(jobId: JobId, fence: number): void {
    this.kept.set(jobId, fence);
  }

  forget(jobId: JobId, fence: number): void {
    if (this.kept.get(jobId) === fence) this.kept.delete(jobId);
  }

  onLost(listener: LostLeaseListener): void {
    this.lose = listener;
  }

  close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }
}

describe("Leases", () => {
  let renewal: NotedRenewal;
  let logger: RecordingLogger;
  let leases: Leases;
  beforeEach(() => {
    renewal = new NotedRenewal();
    logger = new RecordingLogger();
    leases = new Leases(anId("prc"), LEASE_MS, renewal, logger);
  });

  it("are kept alive from the claim until the work is put down", async () => {
    const [one, other] = [anId("job"), anId("job")];
    leases.hold(one, 1);
    leases.hold(other, 7);
    expect([...renewal.kept]).to.deep.equal([[one, 1], [other, 7]]);
    expect([leases.count, leases.kept]).to.deep.equal([2, [one, other]]);
    leases.release(one, 1);
    expect([...renewal.kept]).to.deep.equal([[other, 7]]);
    expect([leases.count, leases.kept]).to.deep.equal([1, [other]]);
    await leases.close();
    expect(renewal.isClosed).to.equal(true);
  });

  it("that are lost break off the work on that job, and on no other", () => {
    const [kept, taken] = [anId("job"), anId("job")];
    const [keptSignal, takenSignal] = [leases.hold(kept, 1), leases.hold(taken, 1)];
    renewal.lose(taken, 1);
    expect(keptSignal.aborted).to.equal(false);
    expect(takenSignal.reason).to.equal("lease_lost");
    expect(logger.lines.map(({ level, fields }) => [level, fields])).to.deep.equal([["warn", { job_id: taken }]]);
  });

  it("that are lost count until the work is put down, but the job may be claimed again", () => {
    const jobId = anId("job");
    leases.hold(jobId, 1);
    renewal.lose(jobId, 1);
    expect([leases.count, leases.kept]).to.deep.equal([1, []]);
    leases.release(jobId, 1);
    expect(leases.count).to.equal(0);
  });

  it("under a newer fence outlive the loss of an older one", () => {
    const jobId = anId("job");
    leases.hold(jobId, 1);
    const newer = leases.hold(jobId, 2);
    renewal.lose(jobId, 1);
    expect(newer.aborted).to.equal(false);
    expect(leases.kept).to.deep.equal([jobId]);
  });

  it("whose loss becomes known after the work was put down change nothing", () => {
    const jobId = anId("job");
    const signal = leases.hold(jobId, 1);
    leases.release(jobId, 1);
    renewal.lose(jobId, 1);
    expect(signal.aborted).to.equal(false);
    expect(logger.lines).to.deep.equal([]);
  });

  it("break off older work of this process on a job that it claims again", () => {
    const jobId = anId("job");
    const [older, newer] = [leases.hold(jobId, 1), leases.hold(jobId, 2)];
    expect(older.reason).to.equal("lease_lost");
    expect(newer.aborted).to.equal(false);
  });

  it("are not given up by older work on a job that was claimed again", () => {
    const jobId = anId("job");
    leases.hold(jobId, 1);
    const newer = leases.hold(jobId, 2);
    leases.release(jobId, 1);
    expect([leases.count, [...renewal.kept]]).to.deep.equal([1, [[jobId, 2]]]);
    leases.abortAll("stopping");
    expect(newer.reason).to.equal("stopping");
    // Until it is handed back.
    expect(leases.kept).to.deep.equal([jobId]);
    leases.release(jobId, 2);
    expect(leases.count).to.equal(0);
  });
});
