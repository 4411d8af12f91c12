import type { JobId, ProcessId } from "../ids.js";
import type { LeaseRenewal } from "../ports/lease-renewal.js";
import type { LogFields, Logger } from "../ports/logger.js";
import { Lease, type UnrepeatableWork } from "./lease.js";

/** The phase of a stop: jobs that are claimed later are treated like the earlier ones. */
type Stage = "working" | "stopping" | "aborting";

export interface HeldJob {
  readonly jobId: JobId;
  readonly fence: number;
  /** When its lease ends unless it is renewed; where left out, it may have ended already. */
  readonly leaseUntil?: number;
  /** What a log line about the job carries; its id where left out. */
  readonly logIds?: LogFields;
}

export interface LeasesDeps {
  readonly owner: ProcessId;
  readonly leaseMs: number;
  readonly renewal: LeaseRenewal;
  readonly logger: Logger;
}

/** The leases of this process, each from the claim of a job until its step ends. Work on a lost lease is aborted. */
export class Leases {
  private readonly held = new Map<JobId, Lease>();
  private readonly listeners = new Set<() => void>();
  private stage: Stage = "working";

  constructor(private readonly deps: LeasesDeps) {
    deps.renewal.onLost((jobId, fence) => this.lose(jobId, fence));
  }

  get owner(): ProcessId {
    return this.deps.owner;
  }

  get leaseMs(): number {
    return this.deps.leaseMs;
  }

  /** Jobs at work, those whose lease is lost included. */
  get count(): number {
    return this.held.size;
  }

  /** The jobs at work whose lease, as far as is known, was not lost. */
  get kept(): JobId[] {
    return [...this.held].filter(([, { isLost }]) => !isLost).map(([jobId]) => jobId);
  }

  /** Those of {@link kept} whose lease may have ended by now if it was not renewed: no other of them is due. */
  mayHaveEnded(now: number): JobId[] {
    return [...this.held].filter(([, lease]) => lease.leaseUntil <= now && !lease.isLost).map(([jobId]) => jobId);
  }

  /** What is under way and cannot be repeated: at most one for each job. */
  get unrepeatable(): UnrepeatableWork[] {
    return [...this.held.values()].flatMap(({ underWay }) => underWay ?? []);
  }

  /** Calls `listener` whenever {@link unrepeatable} may have changed. @returns ends that */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Resolves when nothing is under way that cannot be repeated: at once when there is nothing now. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (this.unrepeatable.length > 0) return;
        forget();
        resolve();
      };
      const forget = this.onChange(check);
      check();
    });
  }

  /**
   * Takes note of jobs that were claimed together. Work under an older lease of one of them, which ran out unnoticed,
   * is aborted.
   *
   * @returns a lease for each, in their order
   */
  hold(claimed: readonly HeldJob[]): Lease[] {
    const leases = claimed.map(({ jobId, fence, leaseUntil = -Infinity, logIds = { job_id: jobId } }) => {
      this.held.get(jobId)?.lose();
      const lease = new Lease(fence, leaseUntil, logIds, () => this.changed());
      if (this.stage === "stopping") lease.beginStop();
      if (this.stage === "aborting") lease.abortRepeatable();
      this.held.set(jobId, lease);
      return lease;
    });
    this.deps.renewal.keep(claimed.map(({ jobId, fence }) => [jobId, fence]));
    return leases;
  }

  /** Forgets a lease, unless the job was claimed again meanwhile. */
  release(jobId: JobId, fence: number): void {
    if (this.held.get(jobId)?.fence !== fence) return;
    this.held.delete(jobId);
    this.deps.renewal.forget(jobId, fence);
  }

  /** From now on nothing begins that cannot be repeated; what is under way goes on. */
  beginStop(): void {
    if (this.stage === "working") this.stage = "stopping";
    for (const lease of this.held.values()) lease.beginStop();
  }

  /** Aborts at once what can be repeated, and the rest at the end of its section or by {@link abandonAll}. */
  abortAll(): void {
    this.stage = "aborting";
    for (const lease of this.held.values()) lease.abortRepeatable();
  }

  /** Aborts everything. @returns what could not be repeated and was under way */
  abandonAll(): UnrepeatableWork[] {
    const abandoned = this.unrepeatable;
    this.stage = "aborting";
    for (const lease of this.held.values()) lease.abort("stopping");
    this.changed();
    return abandoned;
  }

  /** Renews nothing more: after a stop, what could not be released is left to its lease. */
  close(): Promise<void> {
    return this.deps.renewal.close();
  }

  private lose(jobId: JobId, fence: number): void {
    const lease = this.held.get(jobId);
    if (lease?.fence !== fence) return;
    this.deps.logger.warn("The lease on a job is lost: another worker has it, or it has ended", lease.logIds);
    lease.lose();
    this.changed();
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }
}
