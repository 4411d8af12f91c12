import type { JobId } from "../ids.js";

/**
 * A notification that a job may be due, and perhaps others of its provider: it carries ids, not jobs. Workers read the
 * jobs' rows.
 */
export interface JobNotification {
  readonly jobId: JobId;
  readonly providerId: string;
}

/**
 * Receives a notification. It is handled when the promise resolves, or when the listener returns without one; by then
 * its effects are committed, because the notification may not come again.
 */
export type NotificationListener =
  | ((notification: JobNotification) => void)
  | ((notification: JobNotification) => Promise<void>);

/**
 * Wakes workers. A lost notification costs latency (the sweep finds the row), a repeated one costs a query: nothing may
 * depend on delivery, order or number. Selected by `queue.url`; the override `queue` of `compose` replaces it.
 */
export interface JobQueue {
  /** Never throws: an unavailable queue does not affect the caller. */
  notify(notifications: readonly JobNotification[]): void;
  /**
   * Prepares the queue for notifications of these providers before a worker listens for them; repeated calls change
   * nothing. The technology decides whether a notification is kept until a worker listens. While the broker is
   * unavailable the call resolves all the same, and the queue is prepared once the broker is back.
   */
  prepare(providerIds: readonly string[]): Promise<void>;
  /**
   * Calls `listener` for notifications of this provider until the queue is closed. An error of the listener is logged;
   * the queue may send that notification again. While the broker is unavailable the call resolves all the same, and
   * notifications arrive once it is back.
   */
  listen(providerId: string, listener: NotificationListener): Promise<void>;
  /** Throws when the queue cannot be reached, naming why. */
  check(): Promise<void>;
  /** Passes nothing on any more, and resolves soon: what is on its way may be lost, and listeners may still run. */
  close(): Promise<void>;
}
