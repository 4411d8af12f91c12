import type { JobId, ProcessId } from "../ids.js";
import type { LeaseRenewal } from "../ports/lease-renewal.js";
import type { Logger } from "../ports/logger.js";

/** Why the work on a job is broken off. */
export type AbortReason = "lease_lost" | "stopping";

const LOST: AbortReason = "lease_lost";

interface Held {
  readonly fence: number;
  readonly controller: AbortController;
}

/** The leases of this process, each from the claim of a job until its work is put down. Work whose lease is lost is broken off. */
export class Leases {
  private readonly held = new Map<JobId, Held>();

  constructor(
    readonly owner: ProcessId,
    readonly leaseMs: number,
    private readonly renewal: LeaseRenewal,
    private readonly logger: Logger,
  ) {
    renewal.onLost((jobId, fence) => this.lose(jobId, fence));
  }

  /** Jobs at work, those whose lease is lost included. */
  get count(): number {
    return this.held.size;
  }

  /** The jobs at work whose lease, as far as is known, was not lost. */
  get kept(): JobId[] {
    return [...this.held].filter(([, { controller }]) => controller.signal.reason !== LOST).map(([jobId]) => jobId);
  }

  /**
   * Takes note of a claimed job. Work under an older lease of the same job, which ran out unnoticed, is broken off.
   *
   * @returns aborts with an {@link AbortReason}
   */
  hold(jobId: JobId, fence: number): AbortSignal {
    this.held.get(jobId)?.controller.abort(LOST);
    const controller = new AbortController();
    this.held.set(jobId, { fence, controller });
    this.renewal.keep(jobId, fence);
    return controller.signal;
  }

  /** Forgets a lease, unless the job was claimed again meanwhile. */
  release(jobId: JobId, fence: number): void {
    if (this.held.get(jobId)?.fence !== fence) return;
    this.held.delete(jobId);
    this.renewal.forget(jobId, fence);
  }

  /** Breaks off everything, for a stop. */
  abortAll(reason: AbortReason): void {
    for (const { controller } of this.held.values()) controller.abort(reason);
  }

  /** Renews nothing more: after a stop, what could not be handed back is left to its lease. */
  close(): Promise<void> {
    return this.renewal.close();
  }

  private lose(jobId: JobId, fence: number): void {
    const held = this.held.get(jobId);
    if (held?.fence !== fence) return;
    this.logger.warn("The lease on a job is lost: another worker has it, or it has ended", { job_id: jobId });
    held.controller.abort(LOST);
  }
}
