import type { Worker } from "node:worker_threads";
import type { JobId, ProcessId } from "../../../../core/ids.js";
import type { ClaimedLease, LeaseRenewal, LostLeaseListener } from "../../../../core/ports/lease-renewal.js";
import type { Logger } from "../../../../core/ports/logger.js";
import { startThread } from "../start-thread.js";
import type { FromThread, HeartbeatOrder, StorageAddress, ToThread } from "./messages.js";

export interface ThreadLeaseRenewalOptions {
  readonly storage: StorageAddress;
  readonly owner: ProcessId;
  readonly leaseMs: number;
  readonly logger: Logger;
  /** A thread that keeps nothing is ended after so long, so that an idle process is small again. */
  readonly idleMs?: number;
  readonly startThread?: (order: HeartbeatOrder) => Worker;
}

const IDLE_MS = 60_000;
/** The wait before a thread is started again, as a share of the lease. */
const RESTARTS_PER_LEASE = 10;
/** The wait before it hears of a lease to forget, as a share of the lease: one that is renewed in vain does no harm. */
const FORGETS_PER_LEASE = 300;
/** How long a thread gets to finish what it is writing. */
const CLOSE_MS = 2_000;

/**
 * Renews in a thread with a connection of its own, so that leases live on while the event loop is blocked. The thread
 * starts with the first lease that is kept, is started again when it dies, and never keeps the process alive. When the
 * event loop shows no sign of life for ten leases, it stops renewing until the loop is back.
 */
export class ThreadLeaseRenewal implements LeaseRenewal {
  private readonly kept = new Map<JobId, number>();
  /** What the thread is to forget, and when it hears of that at the latest. */
  private forgotten: ClaimedLease[] = [];
  private forgetting: NodeJS.Timeout | undefined;
  private readonly logger: Logger;
  private listener: LostLeaseListener = () => undefined;
  private thread: Worker | null = null;
  /** The thread has said something: it may be writing. */
  private hasBegun = false;
  private idle: NodeJS.Timeout | undefined;
  private restart: NodeJS.Timeout | undefined;
  private closing: Promise<void> | null = null;

  constructor(private readonly options: ThreadLeaseRenewalOptions) {
    this.logger = options.logger.child({ component: "heartbeat" });
  }

  keep(leases: readonly ClaimedLease[]): void {
    if (this.closing !== null || leases.length === 0) return;
    for (const [jobId, fence] of leases) this.kept.set(jobId, fence);
    clearTimeout(this.idle);
    // Sent now: whatever blocks the event loop next, the thread renews them.
    if (this.thread !== null) this.sendChanges(leases);
    else if (this.restart === undefined) this.start(Date.now());
  }

  forget(jobId: JobId, fence: number): void {
    if (this.kept.get(jobId) !== fence) return;
    this.kept.delete(jobId);
    if (this.thread !== null) this.forgotten.push([jobId, fence]);
    this.forgetting ??= setTimeout(() => this.sendChanges([]), this.options.leaseMs / FORGETS_PER_LEASE).unref();
    this.endWhenIdle();
  }

  onLost(listener: LostLeaseListener): void {
    this.listener = listener;
  }

  close(): Promise<void> {
    this.closing ??= this.stop();
    return this.closing;
  }

  private async stop(): Promise<void> {
    this.kept.clear();
    clearTimeout(this.idle);
    clearTimeout(this.restart);
    clearTimeout(this.forgetting);
    const { thread } = this;
    this.thread = null;
    if (thread === null) return;
    thread.ref();
    await (this.hasBegun ? ended(thread) : thread.terminate());
  }

  private start(since: number): void {
    const { storage, owner, leaseMs, startThread = startHeartbeatThread } = this.options;
    try {
      const thread = startThread({ storage, owner, leaseMs, leases: [...this.kept], since });
      let error: unknown;
      thread.on("message", (message: FromThread) => this.hear(thread, message));
      thread.on("error", (cause) => (error = cause));
      thread.on("exit", (code) => {
        if (this.thread === thread) this.died(error ?? new Error(`It ended with code ${code}.`));
      });
      // After the listeners, which would hold the process again.
      thread.unref();
      this.thread = thread;
      this.hasBegun = false;
    } catch (error) {
      this.died(error);
    }
  }

  private died(error: unknown): void {
    this.thread = null;
    this.logger.error("The thread that renews leases has died; another one is started", {
      error,
      leases: this.kept.size,
    });
    const begin = (): void => {
      this.restart = undefined;
      if (this.kept.size > 0) this.start(0);
    };
    this.restart = setTimeout(begin, this.options.leaseMs / RESTARTS_PER_LEASE).unref();
  }

  private hear(thread: Worker, message: FromThread): void {
    if (message.kind === "log") return this.logger[message.level](message.message, message.fields);
    if (thread !== this.thread) return;
    if (message.kind === "beat") {
      this.hasBegun = true;
      this.tell({ kind: "alive" });
    } else if (this.kept.get(message.jobId) === message.fence) {
      this.kept.delete(message.jobId);
      this.endWhenIdle();
      this.listener(message.jobId, message.fence);
    }
  }

  private endWhenIdle(): void {
    if (this.kept.size > 0) return;
    clearTimeout(this.idle);
    const end = (): void => {
      this.tell({ kind: "close" });
      this.thread = null;
    };
    this.idle = setTimeout(end, this.options.idleMs ?? IDLE_MS).unref();
  }

  /** With what is to be forgotten, since a message may wake a thread that shares its core with others. */
  private sendChanges(kept: readonly ClaimedLease[]): void {
    const { forgotten } = this;
    this.forgotten = [];
    clearTimeout(this.forgetting);
    this.forgetting = undefined;
    this.tell({ kind: "leases", forgotten, kept });
  }

  private tell(message: ToThread): void {
    this.thread?.postMessage(message);
  }
}

/** Asks a thread to end, and waits until it has. */
async function ended(thread: Worker): Promise<void> {
  const gone = new Promise((resolve) => thread.once("exit", resolve));
  thread.postMessage({ kind: "close" } satisfies ToThread);
  const late = setTimeout(() => void thread.terminate(), CLOSE_MS);
  await gone;
  clearTimeout(late);
}

export function startHeartbeatThread(order: HeartbeatOrder): Worker {
  return startThread(new URL("./thread.js", import.meta.url), { workerData: order, name: "heartbeat" });
}
