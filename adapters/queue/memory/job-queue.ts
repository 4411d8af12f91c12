import type { NotificationListener, JobNotification, JobQueue } from "../../../core/ports/job-queue.js";
import type { Logger } from "../../../core/ports/logger.js";

/**
 * Notifications within one process. They are delivered in the next turn of the event loop, so that the caller of
 * `notify` continues first; a notification without a listener is dropped.
 */
export class MemoryJobQueue implements JobQueue {
  private readonly listeners = new Map<string, NotificationListener[]>();
  private pending: JobNotification[] = [];
  private isClosed = false;

  constructor(private readonly logger: Logger) {}

  notify(notifications: readonly JobNotification[]): void {
    if (this.isClosed || notifications.length === 0) return;
    if (this.pending.length === 0) setImmediate(() => this.deliver());
    for (const notification of notifications) this.pending.push(notification);
  }

  async prepare(): Promise<void> {
    if (this.isClosed) throw new Error("The job queue is closed.");
  }

  async listen(providerId: string, listener: NotificationListener): Promise<void> {
    if (this.isClosed) throw new Error("The job queue is closed.");
    this.listeners.set(providerId, [...(this.listeners.get(providerId) ?? []), listener]);
  }

  async check(): Promise<void> {
    if (this.isClosed) throw new Error("The job queue is closed.");
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.listeners.clear(); // pending notifications reach no listener
  }

  private deliver(): void {
    const notifications = this.pending;
    this.pending = [];
    for (const notification of notifications) {
      for (const listener of this.listeners.get(notification.providerId) ?? []) void this.call(listener, notification);
    }
  }

  private async call(listener: NotificationListener, notification: JobNotification): Promise<void> {
    try {
      await listener(notification);
    } catch (error) {
      this.logger.error("A listener of the job queue failed", {
        jobId: notification.jobId,
        providerId: notification.providerId,
        error,
      });
    }
  }
}
