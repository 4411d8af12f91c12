import type { JobAttempt, JobRequest, JobState } from "../../../../core/jobs/job.js";
import type { ClaimedJob, ClaimRequest } from "../../../../core/ports/job-claims.js";
import type { Dialect } from "../dialect.js";
import { columnsOf } from "../session.js";
import { JOB_STATES, type JobRow, JOBS, type JobStateRow, toJobState, toRequest } from "./job-tables.js";

/**
 * What may be claimed of a phase. The index is named, or MariaDB reads the phase from its beginning, past the entries
 * of all jobs that were claimed of late.
 */
export function findDue({ useIndex }: Pick<Dialect, "useIndex">, withRequests: boolean): string {
  return (
    `SELECT ${columnsOf(withRequests ? JOBS : JOB_STATES)} FROM {jobs}${useIndex("jobs_due")} ` +
    "WHERE provider_id = ? AND phase = ? AND due_at BETWEEN ? AND ?"
  );
}

export function claim(dialect: Pick<Dialect, "keepsSize" | "usePrimaryKey">, marks: string): string {
  const set = "status = 'processing', fence = ?, lease_owner = ?, due_at = ?, crashes = ?";
  const where = `fence = ? AND id IN (${marks})`;
  return `UPDATE {jobs}${dialect.usePrimaryKey} SET ${set}${dialect.keepsSize("jobs")} WHERE ${where}`;
}

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
  return { job, request: "request" in row ? readableRequest(row) : null, attempts: tried, wasLost };
}

/**
 * null where it cannot be read: its worker then reads it in a step of its own, which fails alone, is logged and counts
 * as a crash. A claim that failed would take none of its jobs, again and again.
 */
function readableRequest(row: JobRow): JobRequest | null {
  try {
    return toRequest(row);
  } catch {
    return null;
  }
}
