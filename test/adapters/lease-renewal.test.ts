import { ClockLeaseRenewal } from "../../core/leases/clock-lease-renewal.js";
import { TABLE_PREFIX, ThreadLeaseRenewal } from "../../adapters/storage/sql/index.js";
import type { JobId } from "../../core/ids.js";
import { leaseRenewalContract, type LeaseRenewalUnderTest } from "../contract/lease-renewal.contract.js";
import { sqliteStorage } from "../support/databases.js";
import type { StorageUnderTest } from "../support/storage-under-test.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { RecordingLogger } from "../support/doubles/recording-logger.js";
import { mysqlStorage } from "../support/mysql.js";
import { eventually } from "../support/process.js";

/** With a clock that advances whenever the renewal waits. */
async function onTheClock(): Promise<LeaseRenewalUnderTest> {
  const leaseMs = 30_000;
  const storage = await sqliteStorage.open();
  const [clock, logger] = [new ManualClock(), new RecordingLogger()];
  let isBroken = false;
  const renewLeases: typeof storage.jobs.renewLeases = async (...request) => {
    if (isBroken) throw new Error("The storage is unavailable.");
    return storage.jobs.renewLeases(...request);
  };
  return {
    storage,
    leaseMs,
    logger,
    now: () => clock.now(),
    open: (owner) => new ClockLeaseRenewal({ owner, leaseMs, clock, logger, jobs: { renewLeases } }),
    async eventually<T>(what: string, ask: () => T | Promise<T>) {
      for (let turn = 0; turn < 1_000; turn++) {
        const response = await ask();
        if (response !== null && response !== undefined && response !== false)
          return response as Exclude<T, null | undefined | false>;
        await clock.advance(leaseMs / 15);
      }
      throw new Error(`It never came to pass that ${what}.`);
    },
    async breakStorage() {
      isBroken = true;
      return async () => void (isBroken = false);
    },
    close: () => storage.close(),
  };
}

/** In a thread, in real time. */
async function inAThread(storage: StorageUnderTest & { readonly url: string }): Promise<LeaseRenewalUnderTest> {
  const leaseMs = 300;
  const logger = new RecordingLogger();
  return {
    storage,
    leaseMs,
    logger,
    now: () => Date.now(),
    open: (owner) =>
      new ThreadLeaseRenewal({ storage: { url: storage.url, tablePrefix: TABLE_PREFIX }, owner, leaseMs, logger }),
    eventually,
    breakStorage: (jobId) => lockedJob(storage, jobId),
    close: () => storage.close(),
  };
}

/** Locks a job's row, and on SQLite all rows. @returns a function that releases the lock */
async function lockedJob(storage: StorageUnderTest, jobId: JobId): Promise<() => Promise<void>> {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let over: Promise<void> = Promise.resolve();
  await new Promise<void>((locked) => {
    over = storage.inTransaction(async (tx) => {
      await storage.jobs.lockJobs(tx, [jobId]);
      locked();
      await released;
    });
  });
  return () => {
    release();
    return over;
  };
}

leaseRenewalContract("ClockLeaseRenewal", onTheClock);
leaseRenewalContract("ThreadLeaseRenewal on SQLite", async () => inAThread(await sqliteStorage.open()));
leaseRenewalContract("ThreadLeaseRenewal on MySQL", async () => inAThread(await mysqlStorage.open()));
