import type { JobId } from "../ids.js";

/** There may be work: carries ids only. The job's row is the truth. */
export interface Doorbell {
  readonly jobId: JobId;
  readonly providerId: string;
}

/**
 * Wakes workers. A lost bell costs latency (the sweep finds the row), a doubled one costs a look: nothing may depend on
 * delivery, order or number.
 */
export interface JobQueue {
  /** Never throws: a queue that is down changes nothing for the caller. */
  ring(bells: readonly Doorbell[]): void;
  /** Calls `listener` for bells of this provider until the queue is closed. */
  listen(providerId: string, listener: (bell: Doorbell) => void): Promise<void>;
  /** Throws when the queue cannot be reached, naming why. */
  check(): Promise<void>;
  close(): Promise<void>;
}
