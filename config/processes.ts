import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { argv } from "node:process";
import type { RunMode } from "../adapters/cli/host.js";
import type { Logger } from "../core/ports/logger.js";
import { loadAdapters } from "./adapters/load.js";
import { SettingsError } from "./settings/issues.js";
import type { Settings } from "./settings.js";
import { nextStopSignal, type SignalledProcess } from "./stop-signal.js";

/** Between the end of a process and its successor: this at first, twice as long each time. */
const RESTART_MIN_MS = 100;
const RESTART_MAX_MS = 10_000;
/** A process that served for so long did not fail at its start. */
const STEADY_MS = 30_000;

/** How many processes serve the API at one port. */
export function processesOf({ http }: Pick<Settings, "http">): number {
  return http.processes === "cores" ? availableParallelism() : http.processes;
}

/** Whether this process is to start the others, and serves nothing itself. */
export function startsProcesses(mode: RunMode, settings: Settings): boolean {
  return cluster.isPrimary && mode !== "work" && processesOf(settings) > 1;
}

/**
 * What several processes cannot share.
 *
 * @throws {SettingsError} with a line for each
 */
export async function checkShared(settings: Settings): Promise<void> {
  const adapters = await loadAdapters(settings);
  const needs = "http.processes above 1 needs";
  const lines: string[] = [];
  if (!adapters.get("storage").isShared) lines.push(`storage.url: ${needs} a database server, such as mysql:`);
  if (adapters.get("queue").scheme === "memory") lines.push(`queue.url: ${needs} a broker, such as amqp:`);
  if (settings.rateLimits.store !== "shared") lines.push(`rateLimits.store: ${needs} shared`);
  if (settings.metrics.enabled && settings.metrics.port === null)
    lines.push(`metrics.port: ${needs} a port, as each process has figures of its own`);
  if (lines.length > 0) throw new SettingsError(lines);
}

/**
 * Starts `http.processes` processes behind one port, until a signal stops them all. The first one runs the command as
 * it was given; the others, once that one listens, serve the API alone: so one process migrates and works on jobs. A
 * process that ends is started again.
 *
 * @returns whether all of them finished what they had begun
 */
export async function runProcesses(
  mode: RunMode,
  settings: Settings,
  logger: Logger,
  process: SignalledProcess,
): Promise<boolean> {
  await checkShared(settings);
  return new Processes(mode, processesOf(settings), logger).run(process, settings.jobs.drainSeconds * 1000);
}

class Processes {
  private readonly workers = new Map<number, Worker>();
  private readonly ends = new Set<Promise<void>>();
  private readonly restarts = new Set<NodeJS.Timeout>();
  private isStopping = false;
  private isFinished = true;
  private hasListened = false;
  private failed = (): void => undefined;

  constructor(
    private readonly mode: RunMode,
    private readonly count: number,
    private readonly logger: Logger,
  ) {}

  async run(process: SignalledProcess, drainMs: number): Promise<boolean> {
    const late = (): void => this.logger.warn("The stop took too long: processes are ended by force");
    const signal = nextStopSignal(process, drainMs, () => {
      late();
      this.kill("SIGKILL");
    });
    // Each process has the whole time for its own stop, and reports it.
    void signal.received.then(() => signal.limit(drainMs));
    signal.again.addEventListener("abort", () => this.kill("SIGTERM"));
    const failed = new Promise<null>((resolve) => (this.failed = () => resolve(null)));
    try {
      this.start(0, RESTART_MIN_MS);
      const name = await Promise.race([signal.received, failed]);
      this.isStopping = true;
      for (const restart of this.restarts) clearTimeout(restart);
      if (name !== null) this.logger.info("Stopping all processes", { signal: name, processes: this.workers.size });
      this.kill("SIGTERM");
      while (this.ends.size > 0) await Promise.all(this.ends);
      return this.isFinished;
    } finally {
      signal.forget();
    }
  }

  private kill(signal: NodeJS.Signals): void {
    for (const worker of this.workers.values()) worker.process.kill(signal);
  }

  private start(index: number, pauseMs: number): void {
    if (this.isStopping) return;
    const isFirst = index === 0;
    // The first one says on the standard output where the API is, and once.
    const isToSay = isFirst && !this.hasListened;
    cluster.setupPrimary({
      args: isFirst ? argv.slice(2) : ["serve"],
      stdio: ["inherit", isToSay ? "inherit" : "ignore", "inherit", "ipc"],
    });
    const worker = cluster.fork();
    worker.on("error", (error) => this.logger.error("A process could not be started", { error }));
    this.workers.set(index, worker);
    if (isFirst) worker.once("listening", () => this.startOthers());
    const startedAt = performance.now();
    const end = this.ended(worker).then(({ code, signal }) => {
      this.ends.delete(end);
      this.workers.delete(index);
      if (this.isStopping) {
        if (code !== 0) this.isFinished = false;
        return;
      }
      if (isFirst && !this.hasListened) {
        this.isFinished = false;
        this.failed();
        return;
      }
      const isSteady = performance.now() - startedAt >= STEADY_MS;
      const waitMs = isSteady ? RESTART_MIN_MS : pauseMs;
      this.logger.warn("A process ended and is started again", { pid: worker.process.pid, code, signal, ms: waitMs });
      const restart = setTimeout(() => {
        this.restarts.delete(restart);
        this.start(index, Math.min(2 * waitMs, RESTART_MAX_MS));
      }, waitMs);
      this.restarts.add(restart);
    });
    this.ends.add(end);
  }

  private startOthers(): void {
    if (this.hasListened) return;
    this.hasListened = true;
    for (let index = 1; index < this.count; index++) this.start(index, RESTART_MIN_MS);
    this.logger.info("The API is served by several processes", { processes: this.count, command: this.mode });
  }

  private async ended(worker: Worker): Promise<{ readonly code: number | null; readonly signal: string | null }> {
    const [code, signal] = (await once(worker.process, "exit")) as [number | null, string | null];
    return { code, signal };
  }
}
