import type { ChildProcess } from "node:child_process";
import { assert } from "../../core/assert.js";
import { DEFAULT_LIMITS, type SandboxLimits } from "./limits.js";
import { SandboxProcess } from "./sandbox-process.js";
import { Slots } from "./slots.js";
import { startProcess } from "./start-process.js";
import { type ProcessUsage, SYSTEM_USAGE, type UsageReader } from "./usage.js";

export interface SandboxOptions {
  /** The module that replies, a {@link SandboxModule}. */
  readonly handler: URL;
  /** Processes that work at a time; further tasks wait. */
  readonly processes: number;
  readonly limits?: Partial<SandboxLimits>;
  readonly usage?: UsageReader;
  readonly onUsage?: (usage: ProcessUsage) => void;
  readonly start?: (handler: URL, limits: SandboxLimits) => ChildProcess;
}

/** A process that belongs to one task. */
export interface SandboxTask {
  /** @throws {SandboxError} its process died, or was killed for what it used; the task is lost */
  ask(request: object): Promise<object>;
  /** Ends the task; its process may take the next. */
  release(): void;
  /** Ends the task and its process, for one that bytes may have broken; resolves when it is gone. */
  discard(): Promise<void>;
}

/** A process without work is ended after this time, so that an idle installation is small. */
const IDLE_MS = 10_000;

/**
 * Child processes with hard limits of memory and time and without network, for work on bytes that are not trusted. They
 * start with the first task, are used again for a bounded number of tasks, and end when idle.
 */
export class Sandbox {
  private readonly slots: Slots;
  private readonly limits: SandboxLimits;
  private readonly idle = new Map<SandboxProcess, NodeJS.Timeout>();
  private readonly busy = new Set<SandboxProcess>();
  private readonly ending = new Set<Promise<void>>();
  private readonly closing = new AbortController();

  constructor(private readonly options: SandboxOptions) {
    this.slots = new Slots(options.processes);
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
  }

  get isClosed(): boolean {
    return this.closing.signal.aborted;
  }

  /**
   * Waits until a process may work on this; it starts with the first request.
   * @throws the signal's reason, and an error once closed
   */
  async open(signal?: AbortSignal): Promise<SandboxTask> {
    const { closing } = this;
    const free = await this.slots.take(
      signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]),
    );
    let worker: SandboxProcess | null = null;
    let isOver = false;
    const leave = (): SandboxProcess | null => {
      isOver = true;
      worker?.end();
      if (worker !== null) this.busy.delete(worker);
      return worker;
    };
    return {
      ask: async (request) => {
        assert(!isOver, "a task that has ended asks nothing");
        if (worker === null) this.busy.add((worker = this.take()));
        return worker.ask(request);
      },
      release: () => {
        if (isOver) return;
        const left = leave();
        if (left !== null) this.giveBack(left);
        free();
      },
      discard: async () => {
        if (isOver) return;
        const left = leave();
        if (left !== null) await this.end(left);
        free();
      },
    };
  }

  /** Ends every process: what its tasks ask is rejected, and further tasks are refused. */
  async close(): Promise<void> {
    this.closing.abort(new Error("The sandbox has been closed."));
    for (const worker of [...this.busy, ...this.idle.keys()]) void this.end(worker);
    await Promise.all(this.ending);
  }

  private take(): SandboxProcess {
    this.closing.signal.throwIfAborted();
    for (const [worker, timer] of this.idle) {
      clearTimeout(timer);
      this.idle.delete(worker);
      // It may have died while it waited.
      if (worker.isAlive) return worker.begin();
    }
    const { handler, start = startProcess, usage = SYSTEM_USAGE, onUsage } = this.options;
    return new SandboxProcess(start(handler, this.limits), { limits: this.limits, usage, onUsage }).begin();
  }

  private giveBack(worker: SandboxProcess): void {
    if (worker.isSpent || !worker.isAlive || this.closing.signal.aborted) return void this.end(worker);
    this.idle.set(worker, setTimeout(() => void this.end(worker), IDLE_MS).unref());
  }

  private end(worker: SandboxProcess): Promise<void> {
    clearTimeout(this.idle.get(worker));
    this.idle.delete(worker);
    worker.kill("its process was ended");
    const ended = worker.ended().finally(() => this.ending.delete(ended));
    this.ending.add(ended);
    return ended;
  }
}
