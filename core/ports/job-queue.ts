import type { JobId } from "../ids.js";

/** Says that a job may have work to do. It carries ids only: the job's row is the truth. */
export interface JobNotification {
  readonly jobId: JobId;
  readonly providerId: string;
}

/**
 * Processes a notification. It has ended when its promise resolves, or when it returns without one; by then its effects
 * are committed, for the notification may not come again.
 */
export type NotificationListener =
  ((notification: JobNotification) => void) | ((notification: JobNotification) => Promise<void>);

/**
 * Wakes workers. It carries ids of jobs, not jobs: a lost notification costs latency (the sweep finds the row), a
 * repeated one costs a read. Nothing may depend on delivery, order or number.
 */
export interface JobQueue {
  /** Never throws: a queue that is down changes nothing for the caller. */
  notify(notifications: readonly JobNotification[]): void;
  /**
   * Prepares the queue for notifications of these providers before a listener is added, so that the first one is not
   * lost; earlier providers stay prepared. Whether a notification is kept until there is a listener depends on the
   * adapter. While its server is unavailable this resolves all the same, and the queue is prepared once the server is
   * back.
   */
  prepare(providerIds: readonly string[]): Promise<void>;
  /**
   * Calls `listener` for notifications of this provider until the queue is closed. An error of the listener is logged;
   * the queue may deliver that notification again. While the adapter's server is unavailable this resolves all the
   * same.
   */
  listen(providerId: string, listener: NotificationListener): Promise<void>;
  /** Throws when the queue cannot be reached, naming why. */
  check(): Promise<void>;
  close(): Promise<void>;
}
