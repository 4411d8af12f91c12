import { expect } from "chai";
import { ServiceUnavailableError } from "../../../../core/errors.js";
import type { JobId } from "../../../../core/ids.js";
import { Leases } from "../../../../core/jobs/leases.js";
import type { JobStore } from "../../../../core/ports/job-store.js";
import { anId, NOON } from "../../../support/builders.js";
import { ManualClock } from "../../../support/doubles/manual-clock.js";
import { RecordingLogger } from "../../../support/doubles/recording-logger.js";

const LEASE_MS = 30_000;
const ME = anId("prc");

/** Leases over a storage that only knows what this process still holds. */
function setUp(): {
  readonly leases: Leases;
  readonly clock: ManualClock;
  readonly stored: Map<JobId, number>;
  readonly renewals: number[];
  fail(error: Error | null): void;
  beat(): { stop(): Promise<void> };
} {
  const clock = new ManualClock(NOON);
  const stored = new Map<JobId, number>();
  const renewals: number[] = [];
  let failure: Error | null = null;
  const jobs: Pick<JobStore, "renewLeases"> = {
    async renewLeases(owner, _jobIds, leaseUntil) {
      expect(owner).to.equal(ME);
      if (failure !== null) throw failure;
      renewals.push(leaseUntil);
      return new Map(stored);
    },
  };
  const leases = new Leases(ME, LEASE_MS, jobs as JobStore, clock, new RecordingLogger());
  return {
    leases,
    clock,
    stored,
    renewals,
    fail: (error) => void (failure = error),
    beat() {
      const stopping = new AbortController();
      const beating = leases.beat(stopping.signal);
      return {
        async stop() {
          stopping.abort();
          await beating;
        },
      };
    },
  };
}

describe("Leases", () => {
  it("are renewed three times in their life, each time for a whole one", async () => {
    const { leases, clock, stored, renewals, beat } = setUp();
    const jobId = anId("job");
    stored.set(jobId, 1);
    const signal = leases.hold(jobId, 1);
    const beating = beat();
    await clock.advance(LEASE_MS);
    await beating.stop();
    expect(renewals).to.deep.equal([10_000, 20_000, 30_000].map((ms) => NOON + ms + LEASE_MS));
    expect(signal.aborted).to.equal(false);
  });

  it("cost no look at the storage while nothing is held", async () => {
    const { leases, clock, stored, renewals, beat } = setUp();
    const jobId = anId("job");
    stored.set(jobId, 1);
    leases.hold(jobId, 1);
    leases.release(jobId, 1);
    const beating = beat();
    await clock.advance(LEASE_MS);
    await beating.stop();
    expect(renewals).to.deep.equal([]);
    expect(leases.count).to.equal(0);
  });

  it("that another process took break off the work on that job, and on no other", async () => {
    const { leases, clock, stored, beat } = setUp();
    const [kept, taken] = [anId("job"), anId("job")];
    const [keptSignal, takenSignal] = [leases.hold(kept, 1), leases.hold(taken, 1)];
    stored.set(kept, 1);
    const beating = beat();
    await clock.advance(LEASE_MS / 3);
    await beating.stop();
    expect(keptSignal.aborted).to.equal(false);
    expect(takenSignal.reason).to.equal("lease_lost");
  });

  it("break off the work under an older fence of the same job", async () => {
    const { leases, clock, stored, beat } = setUp();
    const jobId = anId("job");
    const signal = leases.hold(jobId, 1);
    stored.set(jobId, 2);
    const beating = beat();
    await clock.advance(LEASE_MS / 3);
    await beating.stop();
    expect(signal.reason).to.equal("lease_lost");
  });

  it("stay while the storage is out of reach: the fence guards every write anyway", async () => {
    const { leases, clock, stored, renewals, fail, beat } = setUp();
    const jobId = anId("job");
    stored.set(jobId, 1);
    const signal = leases.hold(jobId, 1);
    const beating = beat();
    fail(new ServiceUnavailableError());
    await clock.advance(LEASE_MS);
    expect(signal.aborted).to.equal(false);
    fail(null);
    await clock.advance(LEASE_MS / 3);
    await beating.stop();
    expect(renewals).to.have.length(1);
    expect(signal.aborted).to.equal(false);
  });

  it("break off older work of this process on a job that it claims again", () => {
    const { leases } = setUp();
    const jobId = anId("job");
    const [older, newer] = [leases.hold(jobId, 1), leases.hold(jobId, 2)];
    expect(older.reason).to.equal("lease_lost");
    expect(newer.aborted).to.equal(false);
  });

  it("are not given up by older work on a job that was claimed again", () => {
    const { leases } = setUp();
    const jobId = anId("job");
    leases.hold(jobId, 1);
    const newer = leases.hold(jobId, 2);
    leases.release(jobId, 1);
    expect(leases.count).to.equal(1);
    leases.abortAll("stopping");
    expect(newer.reason).to.equal("stopping");
    leases.release(jobId, 2);
    expect(leases.count).to.equal(0);
  });
});
