import { expect } from "chai";
import type { JobId, ProcessId } from "../../core/ids.js";
import type { Job, JobState } from "../../core/jobs/job.js";
import type { LeaseRenewal } from "../../core/ports/lease-renewal.js";
import { aJob, anId } from "../support/builders.js";
import type { StorageWith } from "../support/storage-under-test.js";
import type { RecordingLogger } from "../support/doubles/recording-logger.js";

/** Renewals on one storage, with a time and a failure of the storage that a test controls. */
export interface LeaseRenewalUnderTest {
  readonly storage: StorageWith<"jobs">;
  readonly leaseMs: number;
  readonly logger: RecordingLogger;
  /** The time that determines the leases. */
  now(): number;
  /** A renewal of this process's leases, on that storage. */
  open(owner: ProcessId): LeaseRenewal;
  /** Advances time until there is a result: neither null nor undefined nor false. */
  eventually<T>(what: string, ask: () => T | Promise<T>): Promise<Exclude<T, null | undefined | false>>;
  /** Makes renewals of this job fail until the returned function is called. */
  breakStorage(jobId: JobId): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/**
 * The promises of every `LeaseRenewal`.
 *
 * @param open called once for the suite
 */
export function leaseRenewalContract(name: string, open: () => Promise<LeaseRenewalUnderTest>): void {
  describe(`LeaseRenewal contract: ${name}`, () => {
    let test: LeaseRenewalUnderTest;
    let owner: ProcessId;
    let renewal: LeaseRenewal;
    let lost: (readonly [JobId, number])[];
    const opened: LeaseRenewal[] = [];
    before(async () => {
      test = await open();
    });
    after(() => test.close());
    beforeEach(() => {
      owner = anId("prc");
      lost = [];
      renewal = openRenewal(owner);
      renewal.onLost((jobId, fence) => lost.push([jobId, fence]));
      test.logger.lines.length = 0;
    });
    afterEach(() => Promise.all(opened.splice(0).map((one) => one.close())));

    function openRenewal(of: ProcessId): LeaseRenewal {
      const one = test.open(of);
      opened.push(one);
      return one;
    }

    let providers = 0;
    /** A job that this process has claimed. */
    async function claimed(by = owner): Promise<JobState> {
      const { jobs, inTransaction } = test.storage;
      const job = aJob({ providerId: `provider-${++providers}`, dueAt: test.now() });
      await inTransaction((tx) => jobs.insertJobs(tx, [job]));
      return claim(job, by);
    }
    async function claim(job: JobState, by: ProcessId, at = test.now()): Promise<JobState> {
      const request = {
        providerId: job.providerId,
        phases: ["waiting"],
        limit: 1,
        now: at,
        owner: by,
        leaseUntil: at + test.leaseMs,
      } as const;
      const [claimed] = await test.storage.jobs.claimJobs(request);
      return claimed?.job as JobState;
    }
    async function find({ id }: JobState): Promise<JobState> {
      const { request: _request, ...state } = (await test.storage.jobs.findJobs([id])).get(id) as Job;
      return state;
    }
    const endOf = async (job: JobState): Promise<number> => (await find(job)).dueAt ?? Number.NaN;

    /** Waits until the end of a job's lease has moved so often. */
    async function renewed(job: JobState, times = 1): Promise<void> {
      for (let left = times; left > 0; left--) {
        const before = await endOf(job);
        await test.eventually(`${job.id} is renewed`, async () => (await endOf(job)) > before);
      }
    }

    it("renews a lease repeatedly to its full length, and changes nothing else of the job", async () => {
      const job = await claimed();
      renewal.keep([[job.id, job.fence]]);
      await renewed(job, 3);
      const after = await find(job);
      expect(after).to.deep.equal({ ...job, dueAt: after.dueAt });
      expect(after.dueAt).to.be.within(test.now(), test.now() + test.leaseMs);
      expect(lost).to.deep.equal([]);
    });

    it("renews all registered leases, whenever they were added", async () => {
      const [first, second] = [await claimed(), await claimed()];
      renewal.keep([[first.id, first.fence]]);
      await renewed(first);
      renewal.keep([[second.id, second.fence]]);
      await renewed(second, 2);
      await renewed(first);
    });

    it("stops renewing a removed lease, and renews the others", async () => {
      const [kept, forgotten] = [await claimed(), await claimed()];
      renewal.keep([kept, forgotten].map(({ id, fence }) => [id, fence]));
      await renewed(forgotten);
      renewal.forget(forgotten.id, forgotten.fence);
      // One renewal may have been in progress.
      await renewed(kept, 2);
      const end = await endOf(forgotten);
      await renewed(kept, 2);
      expect(await endOf(forgotten)).to.equal(end);
      expect(lost).to.deep.equal([]);
    });

    it("writes nothing without leases, and renews leases added afterwards", async () => {
      const [before, after] = [await claimed(), await claimed()];
      renewal.keep([[before.id, before.fence]]);
      await renewed(before);
      renewal.forget(before.id, before.fence);
      const ends = await Promise.all([endOf(before), endOf(after)]);
      const witness = await claimed(anId("prc"));
      openRenewal(witness.leaseOwner as ProcessId).keep([[witness.id, witness.fence]]);
      await renewed(witness, 2);
      expect(await endOf(after)).to.equal(ends[1]);
      renewal.keep([[after.id, after.fence]]);
      await renewed(after, 2);
      // One renewal may have been in progress when it was removed.
      expect((await endOf(before)) - ends[0]).to.be.below(test.leaseMs);
    });

    it("ignores removals under another fence, and repeated ones", async () => {
      const job = await claimed();
      renewal.keep([[job.id, job.fence]]);
      renewal.forget(job.id, job.fence + 1);
      renewal.forget(anId("job"), 1);
      await renewed(job, 2);
      await claim(job, anId("prc"), (await endOf(job)) + test.leaseMs * 100);
      await test.eventually("the loss is reported", () => lost.length > 0);
      expect(lost).to.deep.equal([[job.id, job.fence]]);
      renewal.forget(job.id, job.fence);
      renewal.forget(job.id, job.fence);
    });

    it("reports a lease that another worker has taken, once, and renews the others", async () => {
      const [taken, kept] = [await claimed(), await claimed()];
      renewal.keep([taken, kept].map(({ id, fence }) => [id, fence]));
      await renewed(kept);
      const successor = await claim(taken, anId("prc"), (await endOf(taken)) + test.leaseMs * 100);
      await test.eventually("the loss is reported", () => lost.length > 0);
      await renewed(kept, 3);
      expect(lost).to.deep.equal([[taken.id, taken.fence]]);
      expect(await find(taken)).to.deep.equal(successor);
    });

    it("reports a lease on a job that has ended, was released, or does not exist", async () => {
      const [ended, released] = [await claimed(), await claimed()];
      const missing = { ...ended, id: anId("job") };
      renewal.keep([ended, released, missing].map(({ id, fence }) => [id, fence]));
      await test.storage.inTransaction((tx) =>
        test.storage.jobs.updateJobs(tx, [
          {
            id: ended.id,
            fence: ended.fence,
            changes: { status: "failed", phase: "ended", fence: 2, leaseOwner: null, dueAt: null },
          },
          { id: released.id, fence: released.fence, changes: { leaseOwner: null, dueAt: 7 } },
        ]),
      );
      await test.eventually("all three are reported", () => lost.length === 3);
      expect(new Map(lost)).to.deep.equal(new Map([ended, released, missing].map(({ id }) => [id, 1])));
      expect([await endOf(released), (await find(ended)).dueAt]).to.deep.equal([7, null]);
    });

    it("reports a lease under an older fence; the newer one replaces it", async () => {
      const older = await claimed();
      const newer = await claim(older, owner, (older.dueAt ?? 0) + 1);
      renewal.keep([[older.id, older.fence]]);
      await test.eventually("the loss is reported", () => lost.length > 0);
      renewal.keep([[newer.id, newer.fence]]);
      renewal.forget(older.id, older.fence);
      await renewed(newer, 2);
      renewal.forget(newer.id, newer.fence);
      renewal.keep([older, newer].map(({ id, fence }) => [id, fence]));
      await renewed(newer, 2);
      expect(lost).to.deep.equal([[older.id, older.fence]]);
    });

    it("retries while the storage is unavailable, logs it, and loses no lease", async () => {
      const job = await claimed();
      renewal.keep([[job.id, job.fence]]);
      await renewed(job);
      const fix = await test.breakStorage(job.id);
      await test.eventually("a renewal has failed", () =>
        test.logger.lines.some(({ message }) => message === "Leases could not be renewed"),
      );
      await fix();
      await renewed(job, 2);
      expect(lost).to.deep.equal([]);
      expect(test.logger.lines.find(({ level }) => level === "error")?.fields).to.include({ leases: 1 });
    });

    it("renews nothing after it is closed; closing again does nothing", async () => {
      const job = await claimed();
      renewal.keep([[job.id, job.fence]]);
      await renewed(job);
      await renewal.close();
      const end = await endOf(job);
      renewal.keep([[job.id, job.fence]]);
      const witness = await claimed(anId("prc"));
      openRenewal(witness.leaseOwner as ProcessId).keep([[witness.id, witness.fence]]);
      await renewed(witness, 3);
      expect(await endOf(job)).to.equal(end);
      renewal.forget(job.id, job.fence);
      await renewal.close();
    });

    it("closes while the storage is unavailable, and before the first renewal", async () => {
      const [one, other] = [await claimed(), await claimed(anId("prc"))];
      renewal.keep([[one.id, one.fence]]);
      await renewed(one);
      const fix = await test.breakStorage(one.id);
      await test.eventually("a renewal has failed", () => test.logger.lines.some(({ level }) => level === "error"));
      await renewal.close();
      await fix();
      const early = openRenewal(other.leaseOwner as ProcessId);
      early.keep([[other.id, other.fence]]);
      await early.close();
      await openRenewal(anId("prc")).close();
    });
  });
}
