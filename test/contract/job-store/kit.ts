import type { JobId } from "../../../core/ids.js";
import type { Job, JobStatus } from "../../../core/jobs/job.js";
import type { ClaimedJob, ClaimRequest } from "../../../core/ports/job-claims.js";
import type { JobUpdate } from "../../../core/ports/job-store.js";
import { anId, NOON } from "../../support/builders.js";
import type { StorageWith } from "../../support/storage-under-test.js";

/** The storage of the suite, once it is open. */
export type OpenedJobs = () => StorageWith<"jobs" | "library" | "erasures">;

export interface JobStoreKit {
  add(...jobs: readonly Job[]): Promise<void>;
  find(id: JobId): Promise<Job | undefined>;
  update(...updates: readonly JobUpdate[]): Promise<number>;
  claim(request: Partial<ClaimRequest> & Pick<ClaimRequest, "providerId">): Promise<ClaimedJob[]>;
  /** A provider whose jobs no other test claims. */
  aProviderId(): string;
}

let providers = 0;

export function jobStoreKit(opened: OpenedJobs): JobStoreKit {
  return {
    add: (...jobs) => opened().inTransaction((tx) => opened().jobs.insertJobs(tx, jobs)),
    find: async (id) => (await opened().jobs.findJobs([id])).get(id),
    update: (...updates) => opened().inTransaction((tx) => opened().jobs.updateJobs(tx, updates)),
    claim: (request) =>
      opened().jobs.claimJobs({
        phases: ["waiting", "submitting"],
        limit: 10,
        now: NOON,
        owner: anId("prc"),
        leaseUntil: NOON + 30_000,
        ...request,
      }),
    aProviderId: () => `provider-${++providers}`,
  };
}

/** The members of a job of this status, so that only an unfinished one is due. */
export function ended(status: JobStatus): Pick<Job, "status" | "phase" | "dueAt" | "completedAt"> {
  if (status === "queued" || status === "processing")
    return { status, phase: "waiting", dueAt: NOON, completedAt: null };
  return { status, phase: "ended", dueAt: null, completedAt: NOON };
}
