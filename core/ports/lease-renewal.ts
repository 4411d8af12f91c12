import type { JobId } from "../ids.js";

/** A claimed job, and the fence of its claim. */
export type ClaimedLease = readonly [jobId: JobId, fence: number];

/** Is called for a renewed lease that was lost: another worker holds the job, or it has ended. */
export type LostLeaseListener = (jobId: JobId, fence: number) => void;

/**
 * Renews the leases of one process. Each lease is renewed three times in its life, each time for its whole length.
 * While the storage is unavailable, renewals are retried more often; the leases stay registered for the whole outage,
 * and lost ones are reported when it ends. Without registered leases nothing is read or written. Selected by
 * `storage.url`; where `compose` is given a `clock`, leases are renewed by that clock. Replaced through the override
 * `renewLeases` of `compose`.
 */
export interface LeaseRenewal {
  /**
   * Renews the leases on these jobs, which were claimed together, each until it is forgotten or lost. What was kept of
   * the same job under another fence is forgotten. After {@link close} it does nothing.
   */
  keep(leases: readonly ClaimedLease[]): void;

  /**
   * Renews the lease no more: one renewal that is under way may still be written. A lease that is not kept, or under
   * another fence, is left as it is.
   */
  forget(jobId: JobId, fence: number): void;

  /** Sets the one `listener` that is called for each lost lease: once, after the lease is forgotten. */
  onLost(listener: LostLeaseListener): void;

  /**
   * Forgets everything. Once it has resolved, nothing is renewed any more; it never rejects. A second time does
   * nothing.
   */
  close(): Promise<void>;
}
