import type { JobAttempt, JobState } from "../../../../core/jobs/job.js";
import type { ClaimedJob, ClaimRequest } from "../../../../core/ports/job-store.js";
import { type JobRow, type JobStateRow, toJobState, toRequest } from "./job-tables.js";

/** A due job as the one that claims it has it. @param tried its attempts */
export function claimOf(row: JobStateRow | JobRow, tried: readonly JobAttempt[], request: ClaimRequest): ClaimedJob {
  const before = toJobState(row);
  const wasLost = before.leaseOwner !== null;
  const job: JobState = {
    ...before,
    status: "processing",
    fence: before.fence + 1,
    leaseOwner: request.owner,
    dueAt: request.leaseUntil,
    crashes: before.crashes + (wasLost ? 1 : 0),
  };
  return { job, request: "request" in row ? toRequest(row) : null, attempts: tried, wasLost };
}
