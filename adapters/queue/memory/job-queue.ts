import type { Doorbell, JobQueue } from "../../../core/ports/job-queue.js";
import type { Logger } from "../../../core/ports/logger.js";

type Listener = (bell: Doorbell) => void;

/**
 * Bells within one process. They are passed on in the next turn of the event loop, so that whoever rings has answered first; a bell
 * that nobody listens for is dropped.
 */
export class MemoryJobQueue implements JobQueue {
  private readonly listeners = new Map<string, Listener[]>();
  private pending: Doorbell[] = [];
  private turn: NodeJS.Immediate | null = null;
  private isClosed = false;

  constructor(private readonly logger: Logger) {}

  ring(bells: readonly Doorbell[]): void {
    if (this.isClosed || bells.length === 0) return;
    for (const bell of bells) this.pending.push(bell);
    this.turn ??= setImmediate(() => this.deliver());
  }

  async listen(providerId: string, listener: Listener): Promise<void> {
    if (this.isClosed) throw new Error("The job queue is closed.");
    this.listeners.set(providerId, [...(this.listeners.get(providerId) ?? []), listener]);
  }

  async check(): Promise<void> {
    if (this.isClosed) throw new Error("The job queue is closed.");
  }

  async close(): Promise<void> {
    this.isClosed = true;
    if (this.turn !== null) clearImmediate(this.turn);
    this.turn = null;
    this.pending = [];
    this.listeners.clear();
  }

  private deliver(): void {
    const bells = this.pending;
    this.pending = [];
    this.turn = null;
    for (const bell of bells) {
      for (const listener of this.listeners.get(bell.providerId) ?? []) this.call(listener, bell);
    }
  }

  private call(listener: Listener, bell: Doorbell): void {
    try {
      listener(bell);
    } catch (error) {
      this.logger.error("A listener of the job queue failed", { jobId: bell.jobId, providerId: bell.providerId, error });
    }
  }
}
