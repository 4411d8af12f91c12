import type { JobId, ProcessId } from "../ids.js";
import type { Clock } from "../ports/clock.js";
import type { JobStore } from "../ports/job-store.js";
import type { LeaseRenewal, LostLeaseListener } from "../ports/lease-renewal.js";
import type { Logger } from "../ports/logger.js";

const RENEWALS_PER_LEASE = 3;
/** After a failure: a server that is restarted is back before the lease ends. */
const TRIES_PER_LEASE = 10;

export interface ClockLeaseRenewalParts {
  readonly owner: ProcessId;
  readonly leaseMs: number;
  readonly jobs: Pick<JobStore, "renewLeases">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Renews whenever the clock says so, on the event loop it is called on: if that is busy for longer than a lease, leases run out. */
export class ClockLeaseRenewal implements LeaseRenewal {
  private readonly kept = new Map<JobId, number>();
  private listener: LostLeaseListener = () => undefined;
  private pause = new AbortController();
  private beating: Promise<void> | null = null;
  private isClosed = false;

  constructor(private readonly parts: ClockLeaseRenewalParts) {}

  keep(jobId: JobId, fence: number): void {
    if (this.isClosed) return;
    this.kept.set(jobId, fence);
    this.beating ??= this.beat();
  }

  /** Keeps all of these, and renews them at once: nobody has done so for a while. */
  resume(leases: readonly (readonly [jobId: JobId, fence: number])[]): void {
    for (const [jobId, fence] of leases) this.kept.set(jobId, fence);
    this.beating ??= this.beat(0);
  }

  forget(jobId: JobId, fence: number): void {
    if (this.kept.get(jobId) !== fence) return;
    this.kept.delete(jobId);
    if (this.kept.size === 0) this.pause.abort();
  }

  onLost(listener: LostLeaseListener): void {
    this.listener = listener;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.kept.clear();
    this.pause.abort();
    await this.beating;
  }

  private async beat(firstInMs = this.parts.leaseMs / RENEWALS_PER_LEASE): Promise<void> {
    const { leaseMs, clock } = this.parts;
    let waitMs = firstInMs;
    while (this.kept.size > 0) {
      this.pause = new AbortController();
      await clock.sleep(waitMs, this.pause.signal);
      // Cut short because nothing was kept any more: what is kept by now is new.
      const isRenewed = this.pause.signal.aborted || (await this.renew());
      waitMs = leaseMs / (isRenewed ? RENEWALS_PER_LEASE : TRIES_PER_LEASE);
    }
    this.beating = null;
  }

  /** @returns false when the storage was out of reach */
  private async renew(): Promise<boolean> {
    const { owner, leaseMs, jobs, clock, logger } = this.parts;
    const before = new Map(this.kept);
    try {
      const held = await jobs.renewLeases(owner, [...before.keys()], clock.now() + leaseMs);
      for (const [jobId, fence] of before) {
        // Meanwhile it may have been forgotten, or claimed again.
        if (held.get(jobId) === fence || this.kept.get(jobId) !== fence) continue;
        this.kept.delete(jobId);
        this.listener(jobId, fence);
      }
      return true;
    } catch (error) {
      logger.error("Leases could not be renewed", { error, leases: before.size });
      return false;
    }
  }
}
