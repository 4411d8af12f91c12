import type { JobId } from "../ids.js";

/** Hears of a lease that was kept and is gone: another worker has the job, or it has ended. */
export type LostLeaseListener = (jobId: JobId, fence: number) => void;

/**
 * Keeps the leases of one process alive. Each lease that is kept is renewed three times in its life, for a whole one each time. A storage
 * that is out of reach is tried again and again, more often than that; whatever the outage lasts, the leases stay kept, and those that
 * were lost meanwhile are told when it is over. While nothing is kept, nothing is read or written.
 */
export interface LeaseRenewal {
  /**
   * Renews the lease on this job, claimed under this fence, until it is forgotten or lost. What was kept of the same job under another
   * fence is forgotten. After {@link close} it does nothing.
   */
  keep(jobId: JobId, fence: number): void;

  /** Renews the lease no more: one renewal that is under way may still be written. A lease that is not kept, or under another fence, is left as it is. */
  forget(jobId: JobId, fence: number): void;

  /** Tells `listener`, in place of the one before, of each lease that is lost; once, and it is forgotten by then. */
  onLost(listener: LostLeaseListener): void;

  /** Forgets everything. Once it has resolved, nothing is renewed any more; it never rejects. A second time does nothing. */
  close(): Promise<void>;
}
