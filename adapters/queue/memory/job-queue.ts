import type { NotificationListener, JobNotification, JobQueue } from "../../../core/ports/job-queue.js";
import type { Logger } from "../../../core/ports/logger.js";

/**
 * Bells within one process. They are passed on in the next turn of the event loop, so that whoever rings has answered first; a bell
 * that nobody listens for is dropped.
 */
export class MemoryJobQueue implements JobQueue {
  private readonly listeners = new Map<string, NotificationListener[]>();
  private pending: JobNotification[] = [];
  private isClosed = false;

  constructor(private readonly logger: Logger) {}

  notify(bells: readonly JobNotification[]): void {
    if (this.isClosed || bells.length === 0) return;
    if (this.pending.length === 0) setImmediate(() => this.deliver());
    for (const bell of bells) this.pending.push(bell);
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
    this.listeners.clear(); // bells on their way reach nobody
  }

  private deliver(): void {
    const bells = this.pending;
    this.pending = [];
    for (const bell of bells) {
      for (const listener of this.listeners.get(bell.providerId) ?? []) void this.call(listener, bell);
    }
  }

  private async call(listener: NotificationListener, bell: JobNotification): Promise<void> {
    try {
      await listener(bell);
    } catch (error) {
      this.logger.error("A listener of the job queue failed", {
        jobId: bell.jobId,
        providerId: bell.providerId,
        error,
      });
    }
  }
}
