import { expect } from "chai";
import type { JobId } from "../../core/ids.js";
import type { Job } from "../../core/jobs/job.js";
import type { ClaimedJob } from "../../core/ports/job-claims.js";
import { aJob, anId, NOON } from "../support/builders.js";
import type { StorageWith } from "../support/storage-under-test.js";

type Storage = StorageWith<"jobs">;

const LEASE_MS = 30_000;

/**
 * The number of a provider's jobs in flight across all processes: part of the promise of `JobStore.claimJobs`.
 *
 * @param open opens a storage without rows, once for the suite; {@link storageUnderTest} creates it
 */
export function providerLimitsContract(name: string, open: () => Promise<Storage>): void {
  describe(`JobStore contract, limits of a provider: ${name}`, () => {
    let storage: Storage;
    let providerId: string;
    let providers = 0;
    before(async () => {
      storage = await open();
    });
    beforeEach(() => {
      providerId = `limited-${++providers}`;
    });
    after(() => storage.close());

    async function add(count: number, changes: Partial<Job> = {}): Promise<JobId[]> {
      const jobs = Array.from({ length: count }, () => aJob({ providerId, dueAt: NOON - 1_000, ...changes }));
      await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, jobs));
      return jobs.map(({ id }) => id);
    }
    const claim = (maxInFlight: number | null, now = NOON): Promise<ClaimedJob[]> =>
      storage.jobs.claimJobs({
        providerId,
        phases: ["waiting", "submitting"],
        limit: 10,
        now,
        owner: anId("prc"),
        leaseUntil: now + LEASE_MS,
        maxInFlight,
      });

    it("leaves jobs over the limit waiting", async () => {
      await add(5);
      expect(await claim(3)).to.have.length(3);
      expect(await claim(3)).to.deep.equal([]);
      expect(await claim(4)).to.have.length(1);
      expect(await claim(null)).to.have.length(1);
    });

    it("counts rendering and submitting jobs, leased or not", async () => {
      await add(1, { status: "processing", phase: "rendering", dueAt: NOON + 60_000 });
      await add(1, { status: "processing", phase: "submitting", dueAt: NOON + 60_000 });
      await add(1, { status: "processing", phase: "submitting", dueAt: NOON + 60_000, leaseOwner: anId("prc") });
      await add(3);
      expect(await claim(4)).to.have.length(1);
    });

    it("does not count jobs that wait for another attempt, ended ones, or another provider's", async () => {
      await add(2, { dueAt: NOON + 60_000 });
      await add(2, { status: "failed", phase: "ended", dueAt: null, completedAt: NOON });
      await add(2, { providerId: `${providerId}-other`, status: "processing", phase: "rendering", dueAt: NOON });
      await add(3);
      expect(await claim(2)).to.have.length(2);
    });

    it("claims a submitting job even at the limit, since it is already counted", async () => {
      const [lost] = await add(1, { status: "processing", phase: "submitting" });
      await add(2);
      expect((await claim(1)).map(({ job }) => job.id)).to.deep.equal([lost]);
    });

    it("gives a lost worker's slot to the next worker", async () => {
      await add(1);
      expect(await claim(1)).to.have.length(1);
      expect(await claim(1, NOON + LEASE_MS)).to.have.length(1);
    });

    it("holds however many claim at once", async () => {
      await add(20);
      const claims = await Promise.all(Array.from({ length: 8 }, () => claim(5)));
      const ids = claims.flat().map(({ job }) => job.id);
      expect(ids).to.have.length(5);
      expect(new Set(ids).size).to.equal(5);
    });
  });
}
