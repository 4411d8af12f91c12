import type { JobId, ProcessId } from "../ids.js";
import type { Clock } from "../ports/clock.js";
import type { JobStore } from "../ports/job-store.js";
import type { Logger } from "../ports/logger.js";

/** Why the work on a job is broken off. */
export type AbortReason = "lease_lost" | "stopping";

interface Held {
  readonly fence: number;
  readonly controller: AbortController;
}

/** The leases of this process: keeps them alive, and breaks off work whose lease another process took. */
export class Leases {
  private readonly held = new Map<JobId, Held>();

  constructor(
    readonly owner: ProcessId,
    readonly leaseMs: number,
    private readonly jobs: JobStore,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  get count(): number {
    return this.held.size;
  }

  /**
   * Takes note of a claimed job. Work under an older lease of the same job, which ran out unnoticed, is broken off.
   *
   * @returns aborts with an {@link AbortReason}
   */
  hold(jobId: JobId, fence: number): AbortSignal {
    this.held.get(jobId)?.controller.abort("lease_lost" satisfies AbortReason);
    const controller = new AbortController();
    this.held.set(jobId, { fence, controller });
    return controller.signal;
  }

  /** Forgets a lease, unless the job was claimed again meanwhile. */
  release(jobId: JobId, fence: number): void {
    if (this.held.get(jobId)?.fence === fence) this.held.delete(jobId);
  }

  /** Breaks off everything, for a stop. */
  abortAll(reason: AbortReason): void {
    for (const { controller } of this.held.values()) controller.abort(reason);
  }

  /** Renews the leases three times in their life, until `signal` aborts. */
  async beat(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.clock.sleep(this.leaseMs / 3, signal);
      // After a stop, what could not be handed back is left to its lease.
      if (!signal.aborted && this.held.size > 0) await this.renew();
    }
  }

  private async renew(): Promise<void> {
    const before = new Map(this.held);
    try {
      const kept = await this.jobs.renewLeases(this.owner, [...before.keys()], this.clock.now() + this.leaseMs);
      for (const [jobId, held] of before) {
        if (kept.get(jobId) === held.fence || this.held.get(jobId) !== held) continue;
        this.logger.warn("Another worker took over a job", { job_id: jobId });
        held.controller.abort("lease_lost" satisfies AbortReason);
      }
    } catch (error) {
      this.logger.error("Leases could not be renewed", { error, leases: before.size });
    }
  }
}
