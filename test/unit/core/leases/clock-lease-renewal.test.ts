import { expect } from "chai";
import { ServiceUnavailableError } from "../../../../core/errors.js";
import type { JobId } from "../../../../core/ids.js";
import { ClockLeaseRenewal } from "../../../../core/leases/clock-lease-renewal.js";
import { anId, NOON } from "../../../support/builders.js";
import { ManualClock } from "../../../support/doubles/manual-clock.js";
import { RecordingLogger } from "../../../support/doubles/recording-logger.js";

const LEASE_MS = 30_000;
const ME = anId("prc");

/** A renewal over a storage that only knows which fences are held. */
function setUp() {
  const clock = new ManualClock(NOON);
  const logger = new RecordingLogger();
  const stored = new Map<JobId, number>();
  const renewals: { readonly atMs: number; readonly forMs: number; readonly jobIds: readonly JobId[] }[] = [];
  const lost: (readonly [JobId, number])[] = [];
  const storage: { failure: Error | null; gate: Promise<void> } = { failure: null, gate: Promise.resolve() };
  const renewal = new ClockLeaseRenewal({
    owner: ME,
    leaseMs: LEASE_MS,
    clock,
    logger,
    jobs: {
      async renewLeases(owner, jobIds, leaseUntil) {
        expect(owner).to.equal(ME);
        renewals.push({ atMs: clock.now() - NOON, forMs: leaseUntil - clock.now(), jobIds });
        if (storage.failure !== null) throw storage.failure;
        await storage.gate;
        return new Map(stored);
      },
    },
  });
  renewal.onLost((jobId, fence) => lost.push([jobId, fence]));
  const keep = (fence = 1): JobId => {
    const jobId = anId("job");
    stored.set(jobId, fence);
    renewal.keep([[jobId, fence]]);
    return jobId;
  };
  return { renewal, clock, logger, stored, storage, renewals, lost, keep };
}

describe("Leases renewed on the clock", () => {
  it("are renewed three times in their life, each time for a whole one", async () => {
    const { clock, renewals, lost, keep } = setUp();
    const jobId = keep();
    await clock.advance(LEASE_MS);
    expect(renewals).to.deep.equal(
      [10_000, 20_000, 30_000].map((atMs) => ({ atMs, forMs: LEASE_MS, jobIds: [jobId] })),
    );
    expect(lost).to.deep.equal([]);
  });

  it("are renewed together, each within a third of its life", async () => {
    const { clock, renewals, keep } = setUp();
    const first = keep();
    await clock.advance(4_000);
    const second = keep();
    await clock.advance(16_000);
    expect(renewals.map(({ atMs, jobIds }) => [atMs, jobIds])).to.deep.equal([
      [10_000, [first, second]],
      [20_000, [first, second]],
    ]);
  });

  it("cost no storage access and no timer while nothing is kept", async () => {
    const { renewal, clock, renewals, keep } = setUp();
    renewal.forget(keep(), 1);
    await clock.advance(LEASE_MS);
    expect([renewals, clock.sleeping]).to.deep.equal([[], 0]);
  });

  it("are renewed a third of their life after the first one is kept again", async () => {
    const { renewal, clock, renewals, keep } = setUp();
    const before = keep();
    await clock.advance(9_000);
    renewal.forget(before, 1);
    keep();
    await clock.advance(9_999);
    expect(renewals).to.deep.equal([]);
    await clock.advance(1);
    expect(renewals).to.have.length(1);
  });

  it("are renewed at once when no process has renewed them for a while, and then as usual", async () => {
    const { renewal, clock, stored, renewals, lost } = setUp();
    const [kept, gone] = [anId("job"), anId("job")];
    stored.set(kept, 4);
    renewal.resume([
      [kept, 4],
      [gone, 1],
    ]);
    await clock.advance(LEASE_MS / 3);
    expect(renewals.map(({ atMs, jobIds }) => [atMs, jobIds])).to.deep.equal([
      [0, [kept, gone]],
      [10_000, [kept]],
    ]);
    expect(lost).to.deep.equal([[gone, 1]]);
  });

  it("are retried ten times in their life while the storage is unavailable, and stay kept", async () => {
    const { clock, logger, storage, renewals, lost, keep } = setUp();
    keep();
    storage.failure = new ServiceUnavailableError();
    await clock.advance(19_000);
    storage.failure = null;
    await clock.advance(12_000);
    expect(renewals.map(({ atMs }) => atMs)).to.deep.equal([10_000, 13_000, 16_000, 19_000, 22_000]);
    expect(lost).to.deep.equal([]);
    expect(logger.lines.map(({ level, message }) => [level, message])).to.deep.equal(
      Array(4).fill(["error", "Leases could not be renewed"]),
    );
  });

  it("are reported as lost once, and renewed no more", async () => {
    const { clock, stored, renewals, lost, keep } = setUp();
    const [taken, kept] = [keep(), keep()];
    stored.delete(taken);
    await clock.advance(2 * LEASE_MS);
    expect(lost).to.deep.equal([[taken, 1]]);
    expect(renewals.slice(1).map(({ jobIds }) => jobIds)).to.deep.equal(Array(5).fill([kept]));
  });

  it("are lost under their fence only", async () => {
    const { renewal, clock, stored, lost, keep } = setUp();
    const jobId = keep(1);
    stored.set(jobId, 2);
    await clock.advance(LEASE_MS / 3);
    expect(lost).to.deep.equal([[jobId, 1]]);
    renewal.keep([[jobId, 2]]);
    await clock.advance(LEASE_MS);
    expect(lost).to.have.length(1);
  });

  it("that are forgotten or claimed again while they are renewed are not lost", async () => {
    const { renewal, clock, stored, storage, lost, keep } = setUp();
    const [forgotten, again] = [keep(), keep()];
    let response: () => void = () => undefined;
    storage.gate = new Promise((resolve) => (response = resolve));
    await clock.advance(LEASE_MS / 3);
    renewal.forget(forgotten, 1);
    renewal.keep([[again, 2]]);
    stored.clear();
    response();
    await clock.advance(0);
    expect(lost).to.deep.equal([]);
  });

  it("are renewed no more once it is closed; a renewal under way is over by then", async () => {
    const { renewal, clock, stored, storage, renewals, lost, keep } = setUp();
    keep();
    let response: () => void = () => undefined;
    storage.gate = new Promise((resolve) => (response = resolve));
    await clock.advance(LEASE_MS / 3);
    let isClosed = false;
    const closed = renewal.close().then(() => (isClosed = true));
    await clock.advance(LEASE_MS);
    expect(isClosed).to.equal(false);
    stored.clear();
    response();
    await closed;
    renewal.keep([[anId("job"), 1]]);
    await clock.advance(LEASE_MS);
    expect([renewals.length, lost, clock.sleeping]).to.deep.equal([1, [], 0]);
    await renewal.close();
  });
});
