import { BackgroundLoop } from "../background-loop.js";
import type { JobId, ProcessId } from "../ids.js";
import type { Clock } from "../ports/clock.js";
import type { JobStore } from "../ports/job-store.js";
import type { ClaimedLease, LeaseRenewal, LostLeaseListener } from "../ports/lease-renewal.js";
import type { Logger } from "../ports/logger.js";

const RENEWALS_PER_LEASE = 3;
/** After a failure: a server that is restarted is back before the lease ends. */
const TRIES_PER_LEASE = 10;

export interface ClockLeaseRenewalDeps {
  readonly owner: ProcessId;
  readonly leaseMs: number;
  readonly jobs: Pick<JobStore, "renewLeases">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Renews on a timer of the event loop it is called on: if that is busy for longer than a lease, leases run out. */
export class ClockLeaseRenewal implements LeaseRenewal {
  private readonly kept = new Map<JobId, number>();
  private listener: LostLeaseListener = () => undefined;
  private readonly loop: BackgroundLoop;
  /** Whether the next step renews. Else the first lease is kept since the last step, and its first third begins. */
  private isDue = false;

  constructor(private readonly deps: ClockLeaseRenewalDeps) {
    const { clock, logger, leaseMs } = deps;
    const errorPauseMs = leaseMs / TRIES_PER_LEASE;
    this.loop = new BackgroundLoop({
      step: () => this.step(),
      errorPauseMs,
      clock,
      logger,
      errorMessage: "The lease renewal failed",
    });
    this.loop.start(null);
  }

  keep(leases: readonly ClaimedLease[]): void {
    if (this.loop.isStopped || leases.length === 0) return;
    const isFirst = this.kept.size === 0;
    for (const [jobId, fence] of leases) this.kept.set(jobId, fence);
    if (isFirst) this.restart();
  }

  /** Keeps all of these, and renews them at once: no process has done so for a while. */
  resume(leases: readonly ClaimedLease[]): void {
    for (const [jobId, fence] of leases) this.kept.set(jobId, fence);
    this.isDue = true;
    this.loop.wake();
  }

  forget(jobId: JobId, fence: number): void {
    if (this.kept.get(jobId) !== fence) return;
    this.kept.delete(jobId);
    if (this.kept.size === 0) this.restart();
  }

  onLost(listener: LostLeaseListener): void {
    this.listener = listener;
  }

  async close(): Promise<void> {
    this.kept.clear();
    await this.loop.stop();
  }

  private restart(): void {
    this.isDue = false;
    this.loop.wake();
  }

  /** @returns the pause before the next renewal; null while nothing is kept */
  private async step(): Promise<number | null> {
    const { leaseMs } = this.deps;
    const isRenewed = !this.isDue || (await this.renew());
    this.isDue = this.kept.size > 0;
    return this.isDue ? leaseMs / (isRenewed ? RENEWALS_PER_LEASE : TRIES_PER_LEASE) : null;
  }

  /** @returns false when the storage was not available */
  private async renew(): Promise<boolean> {
    const { owner, leaseMs, jobs, clock, logger } = this.deps;
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
