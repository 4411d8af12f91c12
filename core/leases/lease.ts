import type { LogFields } from "../ports/logger.js";

/** Why the work on a job is aborted. */
export type AbortReason = "lease_lost" | "stopping";

/** A section of a step that a stop must not abort, because its work would be bought twice or lost. */
export interface UnrepeatableWork {
  /**
   * `submission`: a call that makes a provider begin, until its outcome is written. `result`: audio that only this
   * process has, until it is stored and the job has ended.
   */
  readonly kind: "submission" | "result";
  readonly providerId: string;
}

/** The lease on one claimed job, as the step that works on the job sees it. */
export class Lease {
  private readonly controller = new AbortController();
  private outermost: UnrepeatableWork | null = null;
  private isStopping = false;
  /** Why the step is aborted once its unrepeatable section is over; null while it is not. */
  private abortsAtEnd: AbortReason | null = null;

  /**
   * @param leaseUntil when it ends unless it is renewed
   * @param onChange called when an unrepeatable section begins and when it ends
   */
  constructor(
    readonly fence: number,
    readonly leaseUntil: number,
    readonly logIds: LogFields,
    private readonly onChange: () => void,
  ) {}

  /** Aborts with an {@link AbortReason}. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Whether another worker has the job, as far as is known, or it has ended. */
  get isLost(): boolean {
    return this.abortsAtEnd === "lease_lost" || this.signal.reason === "lease_lost";
  }

  /** Whether a call that cannot be repeated may begin: not once the process stops, nor without the lease. */
  get mayBeginUnrepeatable(): boolean {
    return !this.isStopping;
  }

  /** The section that a stop waits for; null when there is none, or it is aborted already. */
  get underWay(): UnrepeatableWork | null {
    return this.signal.aborted ? null : this.outermost;
  }

  /**
   * Runs a section that neither {@link abortRepeatable} nor {@link lose} aborts before its end: what is bought in it
   * counts by its attempt, whichever worker has the lease. A section within a section belongs to the outer one.
   */
  async unrepeatable<T>(work: UnrepeatableWork, run: () => Promise<T>): Promise<T> {
    if (this.outermost !== null) return run();
    this.outermost = work;
    this.onChange();
    try {
      return await run();
    } finally {
      this.outermost = null;
      if (this.abortsAtEnd !== null) this.controller.abort(this.abortsAtEnd);
      this.onChange();
    }
  }

  /** From now on nothing begins that cannot be repeated. */
  beginStop(): void {
    this.isStopping = true;
  }

  /** Aborts the work for a stop: at once, or at the end of its unrepeatable section. */
  abortRepeatable(): void {
    this.isStopping = true;
    this.abortOutside("stopping");
  }

  /**
   * Another worker has the job, or it has ended: aborts the work at once, or at the end of its unrepeatable section.
   */
  lose(): void {
    this.isStopping = true;
    this.abortOutside("lease_lost");
  }

  private abortOutside(reason: AbortReason): void {
    this.abortsAtEnd ??= reason;
    if (this.outermost === null) this.controller.abort(reason);
  }

  /** Aborts the work at once, unrepeatable sections included. */
  abort(reason: AbortReason): void {
    this.controller.abort(reason);
  }
}
