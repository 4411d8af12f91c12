/** What child processes of a plugin may use before they are ended. */
export interface ProviderSandboxLimits {
  /** Resident memory of one process, in bytes, Node itself (some 50 MiB) included. */
  readonly memoryBytes: number;
  /** Processor time that one task may take, in milliseconds. */
  readonly cpuMs: number;
  /** How long the process may take for one reply, in milliseconds. */
  readonly replyMs: number;
  /** Tasks at a time, each in a process of its own; further tasks wait in order of arrival. */
  readonly processes: number;
}

/**
 * Sends one request to the task's process and returns its reply. Both are copied: values of the structured clone
 * algorithm, at best some megabytes each.
 */
export type AskSandbox = (request: object) => Promise<object>;

/**
 * Child processes with hard limits, without environment and network, for work on bytes that are not trusted. No setting
 * selects it: it is part of the host that starts a plugin, and `compose` brings its own.
 */
export interface ProviderSandbox {
  /**
   * Waits for a free process and runs a task in it: as many requests as `task` sends, one after another. The next task
   * may get the same process, unless this one failed: then the process is ended.
   *
   * @returns what `task` returns
   * @throws {ProviderFailure} `failed`, naming the limits, when the process died or used more than it may;
   *   `unavailable` when it could not be started, the signal aborted or the sandbox was closed
   * @throws any other error of `task`
   */
  run<Result>(task: (ask: AskSandbox) => Promise<Result>, signal: AbortSignal): Promise<Result>;
  /** Ends every process: tasks that run or wait are `unavailable`, and so is every later one. */
  close(): Promise<void>;
}

/**
 * Opens a sandbox whose processes load the module at `handler`, which exports `handle(request: object):
 * Promise<object>`; what that throws ends the process. No process is started before the first request.
 */
export type OpenSandbox = (handler: URL, limits: ProviderSandboxLimits) => ProviderSandbox;
