import { expect } from "chai";
import type { JobId } from "../../../../core/ids.js";
import type { Lease } from "../../../../core/leases/lease.js";
import { Leases } from "../../../../core/leases/leases.js";
import type { ClaimedLease, LeaseRenewal, LostLeaseListener } from "../../../../core/ports/lease-renewal.js";
import type { LogFields } from "../../../../core/ports/logger.js";
import { anId } from "../../../support/builders.js";
import { RecordingLogger } from "../../../support/doubles/recording-logger.js";

const LEASE_MS = 30_000;

/** A renewal that notes what is kept, and loses what a test says. */
class NotedRenewal implements LeaseRenewal {
  readonly kept = new Map<JobId, number>();
  isClosed = false;
  lose: LostLeaseListener = () => undefined;

  keep(leases: readonly ClaimedLease[]): void {
    for (const [jobId, fence] of leases) this.kept.set(jobId, fence);
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
    leases = new Leases({ owner: anId("prc"), leaseMs: LEASE_MS, renewal, logger });
  });

  const hold = (jobId: JobId, fence: number, logIds?: LogFields): Lease =>
    leases.hold([{ jobId, fence, ...(logIds === undefined ? {} : { logIds }) }])[0] as Lease;

  it("are kept alive from the claim until the work is put down", async () => {
    const [one, other] = [anId("job"), anId("job")];
    const held = leases.hold([
      { jobId: one, fence: 1 },
      { jobId: other, fence: 7 },
    ]);
    expect(held.map(({ fence }) => fence)).to.deep.equal([1, 7]);
    expect([...renewal.kept]).to.deep.equal([
      [one, 1],
      [other, 7],
    ]);
    expect([leases.count, leases.kept]).to.deep.equal([2, [one, other]]);
    leases.release(one, 1);
    expect([...renewal.kept]).to.deep.equal([[other, 7]]);
    expect([leases.count, leases.kept]).to.deep.equal([1, [other]]);
    await leases.close();
    expect(renewal.isClosed).to.equal(true);
  });

  it("may have ended unnoticed once the time is over for which they were taken", () => {
    const [soon, later, unknown] = [anId("job"), anId("job"), anId("job")];
    leases.hold([
      { jobId: soon, fence: 1, leaseUntil: 10 },
      { jobId: later, fence: 1, leaseUntil: 20 },
      { jobId: unknown, fence: 1 },
    ]);
    expect(leases.mayHaveEnded(9)).to.deep.equal([unknown]);
    expect(leases.mayHaveEnded(10)).to.deep.equal([soon, unknown]);
    renewal.lose(soon, 1);
    expect(leases.mayHaveEnded(20), "another worker has the first").to.deep.equal([later, unknown]);
  });

  it("that are lost abort the work on that job, and on no other", () => {
    const [kept, taken] = [anId("job"), anId("job")];
    const ids = { job_id: taken, request_id: anId("req") };
    const [keptSignal, takenSignal] = [hold(kept, 1).signal, hold(taken, 1, ids).signal];
    renewal.lose(taken, 1);
    expect(keptSignal.aborted).to.equal(false);
    expect(takenSignal.reason).to.equal("lease_lost");
    expect(logger.lines.map(({ level, fields }) => [level, fields])).to.deep.equal([["warn", ids]]);
  });

  it("that are lost count until the work is put down, but the job may be claimed again", () => {
    const jobId = anId("job");
    hold(jobId, 1);
    renewal.lose(jobId, 1);
    expect([leases.count, leases.kept]).to.deep.equal([1, []]);
    leases.release(jobId, 1);
    expect(leases.count).to.equal(0);
  });

  it("under a newer fence outlive the loss of an older one", () => {
    const jobId = anId("job");
    hold(jobId, 1);
    const newer = hold(jobId, 2).signal;
    renewal.lose(jobId, 1);
    expect(newer.aborted).to.equal(false);
    expect(leases.kept).to.deep.equal([jobId]);
  });

  it("whose loss becomes known after the work was put down change nothing", () => {
    const jobId = anId("job");
    const { signal } = hold(jobId, 1);
    leases.release(jobId, 1);
    renewal.lose(jobId, 1);
    expect(signal.aborted).to.equal(false);
    expect(logger.lines).to.deep.equal([]);
  });

  it("abort older work of this process on a job that it claims again", () => {
    const jobId = anId("job");
    const [older, newer] = [hold(jobId, 1).signal, hold(jobId, 2).signal];
    expect(older.reason).to.equal("lease_lost");
    expect(newer.aborted).to.equal(false);
  });

  it("are not given up by older work on a job that was claimed again", () => {
    const jobId = anId("job");
    hold(jobId, 1);
    const newer = hold(jobId, 2).signal;
    leases.release(jobId, 1);
    expect([leases.count, [...renewal.kept]]).to.deep.equal([1, [[jobId, 2]]]);
    leases.abortAll();
    expect(newer.reason).to.equal("stopping");
    // Until it is released.
    expect(leases.kept).to.deep.equal([jobId]);
    leases.release(jobId, 2);
    expect(leases.count).to.equal(0);
  });

  describe("while the process stops", () => {
    const SUBMISSION = { kind: "submission", providerId: "elevenlabs" } as const;

    /** A section that ends when the test says so. */
    function aSection(lease: Lease): { readonly ended: Promise<string>; end(): void } {
      let end: (word: string) => void = () => undefined;
      const ended = lease.unrepeatable(SUBMISSION, () => new Promise<string>((resolve) => (end = resolve)));
      return { ended, end: () => end("done") };
    }

    it("abort at once what can be repeated, and an unrepeatable section only at its end", async () => {
      const [one, other] = [hold(anId("job"), 1), hold(anId("job"), 1)];
      const section = aSection(one);
      leases.beginStop();
      expect([one.signal.aborted, other.signal.aborted]).to.deep.equal([false, false]);
      leases.abortAll();
      expect([one.signal.aborted, other.signal.reason]).to.deep.equal([false, "stopping"]);
      expect(leases.unrepeatable).to.deep.equal([SUBMISSION]);
      section.end();
      expect(await section.ended).to.equal("done");
      expect([one.signal.reason, leases.unrepeatable]).to.deep.equal(["stopping", []]);
    });

    it("let nothing unrepeatable begin, on leases that come later either", () => {
      const before = hold(anId("job"), 1);
      expect(before.mayBeginUnrepeatable).to.equal(true);
      leases.beginStop();
      const after = hold(anId("job"), 1);
      expect([before.mayBeginUnrepeatable, after.mayBeginUnrepeatable]).to.deep.equal([false, false]);
      expect(after.signal.aborted).to.equal(false);
      leases.abortAll();
      expect(hold(anId("job"), 1).signal.reason).to.equal("stopping");
    });

    it("count a section within a section as part of the outer one", async () => {
      const lease = hold(anId("job"), 1);
      const changes: number[] = [];
      leases.onChange(() => changes.push(leases.unrepeatable.length));
      await lease.unrepeatable(SUBMISSION, () => {
        leases.abortAll();
        return lease.unrepeatable({ kind: "result", providerId: "elevenlabs" }, async () => {
          expect(leases.unrepeatable).to.deep.equal([SUBMISSION]);
        });
      });
      expect([changes, lease.signal.reason]).to.deep.equal([[1, 0], "stopping"]);
    });

    it("are drained when the last section has ended or failed; one without its lease goes on to its end", async () => {
      await leases.drained();
      const lost = anId("job");
      const section = aSection(hold(anId("job"), 1));
      const losing = hold(lost, 1);
      const without = aSection(losing);
      const failing = hold(anId("job"), 1).unrepeatable(SUBMISSION, () => Promise.reject(new Error("refused")));
      let isDrained = false;
      const drained = leases.drained().then(() => (isDrained = true));
      await failing.catch(() => undefined);
      renewal.lose(lost, 1);
      expect([leases.unrepeatable.length, isDrained, losing.signal.aborted, losing.isLost]).to.deep.equal([
        2,
        false,
        false,
        true,
      ]);
      without.end();
      section.end();
      await drained;
      expect(losing.signal.reason).to.equal("lease_lost");
    });

    it("name what is abandoned, and abort it", () => {
      const [one, other] = [hold(anId("job"), 1), hold(anId("job"), 1)];
      void aSection(one);
      const abandoned = leases.abandonAll();
      expect(abandoned).to.deep.equal([SUBMISSION]);
      expect([one.signal.reason, other.signal.reason, leases.unrepeatable]).to.deep.equal(["stopping", "stopping", []]);
    });
  });
});
