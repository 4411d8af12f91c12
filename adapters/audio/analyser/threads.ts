import type { Worker } from "node:worker_threads";
import { startAnalysisThread } from "./start-thread.js";

/** A thread without work is ended after so long, so that an idle process is small again. */
const IDLE_MS = 10_000;

/** Threads that wait for a file, and new ones where none does. */
export class Threads {
  private readonly idle = new Map<Worker, NodeJS.Timeout>();

  constructor(private readonly start: () => Worker = startAnalysisThread) {}

  take(): Worker {
    const [thread] = this.idle.keys();
    if (thread === undefined) return this.start();
    this.forget(thread);
    thread.ref();
    return thread;
  }

  /** For a thread that has done well: what a file may have broken is never used again. */
  giveBack(thread: Worker): void {
    // A thread may die while it waits, and nobody minds.
    thread.once("error", () => undefined);
    thread.once("exit", () => this.forget(thread));
    thread.unref();
    this.idle.set(thread, setTimeout(() => void this.end(thread), IDLE_MS).unref());
  }

  async end(thread: Worker): Promise<void> {
    this.forget(thread);
    // It may still have died on its own, and that would be nobody's error to handle.
    thread.on("error", () => undefined);
    await thread.terminate();
  }

  async endIdle(): Promise<void> {
    await Promise.all([...this.idle.keys()].map((thread) => this.end(thread)));
  }

  private forget(thread: Worker): void {
    clearTimeout(this.idle.get(thread));
    this.idle.delete(thread);
    thread.removeAllListeners("error");
    thread.removeAllListeners("exit");
  }
}
