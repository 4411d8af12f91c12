import { RowsLockedError, ServiceUnavailableError } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { JobStore } from "../ports/job-store.js";
import type { Logger } from "../ports/logger.js";
import type { Leases } from "./leases.js";

export interface OutageRecoveryDeps {
  readonly jobs: Pick<JobStore, "renewLeases">;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * What a process does after it could not reach the storage: it renews its own leases before it claims anything, and for
 * the time of a lease it takes no job that has an owner, who may have been cut off as well and be at work on it.
 */
export class OutageRecovery {
  private isCutOff = false;
  private leavesOwnedUntil = 0;

  constructor(private readonly deps: OutageRecoveryDeps) {}

  /** A claim failed. Rows that others hold are no outage: the storage is there, and leases are renewed in it. */
  failed(error: unknown): void {
    if (error instanceof ServiceUnavailableError && !(error instanceof RowsLockedError)) this.isCutOff = true;
  }

  /**
   * To be called before each claim. @returns whether jobs are left to their owners. @throws as the storage does, while
   * it is away
   */
  async beforeClaim(): Promise<{ readonly leaveOwned: boolean }> {
    const { jobs, leases, clock, logger } = this.deps;
    if (this.isCutOff) {
      const now = clock.now();
      await jobs.renewLeases(leases.owner, leases.kept, now + leases.leaseMs);
      this.isCutOff = false;
      this.leavesOwnedUntil = clock.now() + leases.leaseMs;
      logger.info("The storage is back; jobs of other workers are left to them for the time of a lease", {
        leases: leases.kept.length,
      });
    }
    return { leaveOwned: clock.now() < this.leavesOwnedUntil };
  }
}
