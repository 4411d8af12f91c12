import { expect } from "chai";
import { RowsLockedError, ServiceUnavailableError } from "../../../../core/errors.js";
import { Leases } from "../../../../core/leases/leases.js";
import { OutageRecovery } from "../../../../core/leases/outage-recovery.js";
import type { JobId, ProcessId } from "../../../../core/ids.js";
import type { LeaseRenewal } from "../../../../core/ports/lease-renewal.js";
import { anId } from "../../../support/builders.js";
import { ManualClock } from "../../../support/doubles/manual-clock.js";
import { RecordingLogger } from "../../../support/doubles/recording-logger.js";

const LEASE_MS = 30_000;

const NO_RENEWAL: LeaseRenewal = {
  keep: () => undefined,
  forget: () => undefined,
  onLost: () => undefined,
  close: () => Promise.resolve(),
};

describe("OutageRecovery", () => {
  const owner = anId("prc");
  let clock: ManualClock;
  let leases: Leases;
  let renewed: { readonly owner: ProcessId; readonly jobIds: readonly JobId[]; readonly inMs: number }[];
  let isAway: boolean;
  let recovery: OutageRecovery;
  beforeEach(() => {
    clock = new ManualClock();
    const logger = new RecordingLogger();
    leases = new Leases({ owner, leaseMs: LEASE_MS, renewal: NO_RENEWAL, logger });
    renewed = [];
    isAway = false;
    const jobs = {
      renewLeases: (by: ProcessId, jobIds: readonly JobId[], leaseUntil: number): Promise<Map<JobId, number>> => {
        if (isAway) return Promise.reject(new ServiceUnavailableError());
        renewed.push({ owner: by, jobIds, inMs: leaseUntil - clock.now() });
        return Promise.resolve(new Map<JobId, number>());
      },
    };
    recovery = new OutageRecovery({ jobs, leases, clock, logger });
  });

  it("renews nothing and leaves nothing while claims succeed", async () => {
    expect(await recovery.beforeClaim()).to.deep.equal({ leaveOwned: false });
    expect(renewed).to.deep.equal([]);
  });

  it("takes rows that others hold for no outage", async () => {
    recovery.failed(new RowsLockedError());
    expect(await recovery.beforeClaim()).to.deep.equal({ leaveOwned: false });
    expect(renewed).to.deep.equal([]);
  });

  it("renews the leases of its process once, before the first claim after an outage", async () => {
    const jobId = anId("job");
    leases.hold([{ jobId, fence: 1 }]);
    recovery.failed(new ServiceUnavailableError());
    await recovery.beforeClaim();
    await recovery.beforeClaim();
    expect(renewed).to.deep.equal([{ owner, jobIds: [jobId], inMs: LEASE_MS }]);
  });

  it("leaves jobs to their owners for the time of a lease from the renewal on", async () => {
    recovery.failed(new ServiceUnavailableError());
    clock.set(clock.now() + 10 * LEASE_MS);
    expect(await recovery.beforeClaim()).to.deep.equal({ leaveOwned: true });
    clock.set(clock.now() + LEASE_MS - 1);
    expect(await recovery.beforeClaim()).to.deep.equal({ leaveOwned: true });
    clock.set(clock.now() + 1);
    expect(await recovery.beforeClaim()).to.deep.equal({ leaveOwned: false });
  });

  it("claims nothing while the renewal fails, and renews as soon as the storage is back", async () => {
    recovery.failed(new ServiceUnavailableError());
    isAway = true;
    const error: unknown = await recovery.beforeClaim().catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(ServiceUnavailableError);
    isAway = false;
    expect(await recovery.beforeClaim()).to.deep.equal({ leaveOwned: true });
    expect(renewed).to.have.length(1);
  });

  it("takes other errors of a claim for no outage", async () => {
    recovery.failed(new Error("a row that cannot be read"));
    expect(await recovery.beforeClaim()).to.deep.equal({ leaveOwned: false });
    expect(renewed).to.deep.equal([]);
  });
});
