import {
  type AskSandbox,
  type OpenSandbox,
  ProviderFailure,
  type ProviderSandbox,
  type ProviderSandboxLimits,
} from "../../core/ports/music-provider.js";
import { Sandbox } from "./sandbox.js";
import { SandboxError, SandboxStartError } from "./sandbox-process.js";
import { raceAbort } from "./race-abort.js";

const MIB = 1024 * 1024;

/** Child processes of a plugin, started by {@link Sandbox}. */
export const openProviderSandbox: OpenSandbox = (handler, limits) => new ChildProcessSandbox(handler, limits);

class ChildProcessSandbox implements ProviderSandbox {
  private readonly sandbox: Sandbox;
  private readonly closing = new AbortController();

  constructor(
    handler: URL,
    private readonly limits: ProviderSandboxLimits,
  ) {
    const { processes, ...ofEach } = limits;
    this.sandbox = new Sandbox({ handler, processes, limits: ofEach });
  }

  async run<Result>(task: (ask: AskSandbox) => Promise<Result>, given: AbortSignal): Promise<Result> {
    const signal = AbortSignal.any([given, this.closing.signal]);
    try {
      return await this.runTask(task, signal);
    } catch (error) {
      // An aborted task proves nothing about the bytes, even if another error occurred meanwhile.
      if (signal.aborted) throw new ProviderFailure("unavailable", "the work was stopped", { cause: error });
      if (error instanceof SandboxError) throw failureOf(error, this.limits);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.closing.abort(new Error("The sandbox of a plugin has been closed."));
    await this.sandbox.close();
  }

  private async runTask<Result>(task: (ask: AskSandbox) => Promise<Result>, signal: AbortSignal): Promise<Result> {
    const process = await this.sandbox.open(signal);
    try {
      const result = await raceAbort(
        task((request) => process.ask(request)),
        signal,
      );
      process.release();
      return result;
    } catch (error) {
      await process.discard();
      throw error;
    }
  }
}

/** A process that cannot be started may start later; one that the bytes have broken would break again. */
function failureOf(error: SandboxError, { memoryBytes, cpuMs, replyMs }: ProviderSandboxLimits): ProviderFailure {
  if (error instanceof SandboxStartError) return new ProviderFailure("unavailable", error.message, { cause: error });
  const limits = [
    `${Math.floor(memoryBytes / MIB)} MiB of memory`,
    `${cpuMs} ms of processor time`,
    `${replyMs} ms for a reply`,
  ];
  const message = `the work was given up: ${error.message}; allowed: ${limits.join(", ")}`;
  return new ProviderFailure("failed", message, { cause: error });
}
