import type { JobId, ProcessId } from "../ids.js";
import type { JobAttempt, JobPhase, JobRequest, JobState } from "../jobs/job.js";

export interface ClaimRequest {
  readonly providerId: string;
  /** Jobs in one of these phases. */
  readonly phases: readonly Exclude<JobPhase, "ended">[];
  /** At most this many, the longest due first. */
  readonly limit: number;
  /** Jobs due at or before this moment. */
  readonly now: number;
  /**
   * As the last look found it. A job that was due before the first of its phase came later, and is left to the next
   * look: a search from the beginning passes the index entries of all that were claimed of late. null and left out:
   * from the beginning.
   */
  readonly dueFrom?: Partial<NextDueAt>;
  readonly owner: ProcessId;
  readonly leaseUntil: number;
  /**
   * How many jobs of the provider may be in flight, in all processes together: submitting, rendering, or claimed to be
   * submitted. A waiting job beyond that is left; one that is submitting is in flight already. null and left out: no
   * limit.
   */
  readonly maxInFlight?: number | null;
  /** True: with what the callers of the jobs asked for, which is long. */
  readonly withRequests?: boolean;
  /** Jobs to be left alone, due or not: the owner is at work on them. */
  readonly except?: readonly JobId[];
  /** True: jobs whose lease ran out are left to their owners, who may be back in a moment. */
  readonly leaveOwned?: boolean;
}

/** By phase; null: no job is in it. */
export type NextDueAt = Readonly<Record<Exclude<JobPhase, "ended">, number | null>>;

/** A job as it is after the claim: under a new fence, `processing`, leased. */
export interface ClaimedJob {
  readonly job: JobState;
  /** null: it was claimed without. */
  readonly request: JobRequest | null;
  /** In their order. */
  readonly attempts: readonly JobAttempt[];
  /** True when the lease before was never released: a worker was lost. `job.crashes` has counted it. */
  readonly wasLost: boolean;
}
