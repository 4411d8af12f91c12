import type { ChildProcess } from "node:child_process";
import { type SandboxLimits, START_TIMEOUT_MS, TASKS_PER_PROCESS } from "./limits.js";
import { READY } from "./messages.js";
import type { ProcessUsage, UsageReader } from "./usage.js";

/** The process of a task ended before the task did. */
export class SandboxError extends Error {
  override readonly name = "SandboxError";
}

/** The process never became ready: the task is not to blame. */
export class SandboxStartError extends SandboxError {}

/** The process was killed for what it used, which the task is to blame for. */
export class SandboxLimitError extends SandboxError {}

export interface SandboxProcessOptions {
  readonly limits: SandboxLimits;
  readonly usage: UsageReader;
  /** Called with each measurement of a busy process. */
  readonly onUsage?: ((usage: ProcessUsage) => void) | undefined;
}

const MIB = 1024 * 1024;

/** A child process, which replies to one request at a time, and is killed when it uses more than it may. */
export class SandboxProcess {
  tasks = 0;
  private isReady = false;
  private failure: Error | null = null;
  private pending: { resolve(reply: object): void; reject(error: Error): void } | null = null;
  private watchdog: NodeJS.Timeout | undefined;
  private cpuBeforeMs: number | null = null;
  private cpuMs = 0;
  private readonly ready: Promise<void>;
  private readonly gone: Promise<unknown>;

  constructor(
    private readonly child: ChildProcess,
    private readonly options: SandboxProcessOptions,
  ) {
    const timer = setTimeout(
      () => this.killWith(new SandboxStartError(`its process was not ready within ${START_TIMEOUT_MS} ms`)),
      START_TIMEOUT_MS,
    ).unref();
    let hasStarted = false;
    this.ready = new Promise((resolve) => {
      child.on("message", (message) => {
        hasStarted = true;
        if (message === READY) resolve();
        else this.pending?.resolve(message as object);
      });
      child.once("exit", () => resolve());
      child.once("error", () => resolve());
    });
    void this.ready.then(() => {
      clearTimeout(timer);
      this.isReady = true;
    });
    this.gone = new Promise<void>((resolve) => {
      child.once("exit", (code, signal) => {
        const Failure = hasStarted ? SandboxError : SandboxStartError;
        this.fail(new Failure(`its process ended (${signal ?? `exit code ${code}`})`));
        resolve();
      });
      child.once("error", (cause) => {
        const Failure = child.pid === undefined ? SandboxStartError : SandboxError;
        this.fail(new Failure("its process cannot be reached", { cause }));
        if (child.pid === undefined) resolve();
      });
    });
  }

  get isAlive(): boolean {
    return this.failure === null;
  }

  /** Whether it has done its share: what leaks in a decoder never adds up, and the kernel's limit is never near. */
  get isSpent(): boolean {
    return this.tasks >= TASKS_PER_PROCESS || this.cpuMs > this.options.limits.cpuMs;
  }

  /** Starts the watch over one task. */
  begin(): this {
    this.tasks += 1;
    this.cpuBeforeMs = null;
    this.child.ref();
    this.child.channel?.ref();
    this.watchdog = setInterval(() => void this.measure(), this.options.usage.intervalMs);
    void this.measure();
    return this;
  }

  /** Ends the watch; an idle process does not keep its parent alive. */
  end(): void {
    clearInterval(this.watchdog);
    this.child.unref();
    this.child.channel?.unref();
  }

  /** @throws {SandboxError} the process died, or was killed for what it used */
  async ask(request: object): Promise<object> {
    await this.ready;
    if (this.failure !== null) throw this.failure;
    const { replyMs } = this.options.limits;
    const timer = setTimeout(() => this.exceed(`it did not reply within ${replyMs} ms`), replyMs);
    try {
      return await new Promise<object>((resolve, reject) => {
        this.pending = { resolve, reject };
        this.child.send(request, (error) => {
          if (error !== null) this.kill("its process cannot be reached", error);
        });
      });
    } finally {
      clearTimeout(timer);
      this.pending = null;
    }
  }

  /** Ends the process, and rejects its pending requests. */
  kill(why: string, cause?: unknown): void {
    this.killWith(new SandboxError(why, { cause }));
  }

  /** Resolves when the process is no more; until then this process stays alive, also with nothing else to do. */
  async ended(): Promise<void> {
    this.child.ref();
    await this.gone;
  }

  private async measure(): Promise<void> {
    const { usage, limits, onUsage } = this.options;
    const measured = this.child.pid === undefined ? null : await usage.read(this.child.pid);
    if (measured === null || !this.isAlive) return;
    onUsage?.(measured);
    this.cpuMs = measured.cpuMs;
    // What it takes to start is not the task's.
    if (!this.isReady) this.cpuBeforeMs = measured.cpuMs;
    this.cpuBeforeMs ??= measured.cpuMs;
    if (measured.residentBytes > limits.memoryBytes)
      this.exceed(`it took more than ${Math.floor(limits.memoryBytes / MIB)} MiB of memory`);
    else if (measured.cpuMs - this.cpuBeforeMs > limits.cpuMs)
      this.exceed(`it took more than ${limits.cpuMs} ms of processor time`);
  }

  private exceed(why: string): void {
    this.killWith(new SandboxLimitError(why));
  }

  private killWith(error: SandboxError): void {
    this.fail(error);
    this.child.kill("SIGKILL");
  }

  private fail(error: Error): void {
    this.failure ??= error;
    this.pending?.reject(this.failure);
    clearInterval(this.watchdog);
  }
}
