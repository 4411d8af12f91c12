import type { JobId } from "../ids.js";

/** There may be work: carries ids only. The job's row is the truth. */
export interface JobNotification {
  readonly jobId: JobId;
  readonly providerId: string;
}

/**
 * Hears a bell. It is done with when its promise resolves, or when it returns without one; by then what follows from the bell is
 * committed, for it may not come again.
 */
export type NotificationListener =
  ((notification: JobNotification) => void) | ((notification: JobNotification) => Promise<void>);

/**
 * Wakes workers. A lost bell costs latency (the sweep finds the row), a doubled one costs a look: nothing may depend on
 * delivery, order or number.
 */
export interface JobQueue {
  /** Never throws: a queue that is down changes nothing for the caller. */
  notify(notifications: readonly JobNotification[]): void;
  /**
   * Makes the queue ready for bells of these providers before anybody listens for them, so that the first one finds everything in its
   * place; what was made ready before stays so. Whether a bell is kept until somebody listens is up to the technology. Without it this
   * resolves all the same, and everything is made ready once it is there.
   */
  prepare(providerIds: readonly string[]): Promise<void>;
  /**
   * Calls `listener` for bells of this provider until the queue is closed. What a listener throws is logged; the queue may bring that
   * bell again. Without its technology it resolves all the same, and bells come once it is there.
   */
  listen(providerId: string, listener: NotificationListener): Promise<void>;
  /** Throws when the queue cannot be reached, naming why. */
  check(): Promise<void>;
  close(): Promise<void>;
}
