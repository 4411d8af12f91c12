import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { ProviderFailure } from "../sdk/index.js";
import type { ProviderFailureKind } from "../sdk/index.js";
import type { JobSpec, Results } from "./job-spec.js";

/** An idle worker is stopped after this time, to free its memory. */
const IDLE_MS = 60_000;

/** Report of a worker about its running job. */
export type WorkerReport =
  | { readonly result: Results[JobSpec["kind"]] }
  | { readonly kind: ProviderFailureKind; readonly error: string };

interface Job {
  readonly spec: JobSpec;
  readonly signal: AbortSignal;
  readonly onAbort: () => void;
  resolve(result: Results[JobSpec["kind"]]): void;
  reject(failure: ProviderFailure): void;
}

interface Seat {
  readonly worker: Worker;
  job: Job | null;
  idleTimer: NodeJS.Timeout | null;
}

/** Worker threads that run one job each; further jobs wait in order of arrival. */
export class RenderPool {
  private readonly seats = new Set<Seat>();
  private readonly waiting: Job[] = [];
  private isClosed = false;

  constructor(
    private readonly threads: number,
    private readonly startWorker: () => Worker = startRenderWorker,
  ) {}

  /**
   * Runs a job in a worker, which is started on demand.
   *
   * @throws {ProviderFailure} `unavailable` when aborted, closed or the thread died; the error of the work, as `failed`
   *   if it has no kind
   */
  run<O extends JobSpec>(jobSpec: O, signal: AbortSignal): Promise<Results[O["kind"]]> {
    return new Promise<Results[JobSpec["kind"]]>((resolve, reject) => {
      if (this.isClosed) return reject(new ProviderFailure("unavailable", "the synth has been closed"));
      if (signal.aborted) return reject(new ProviderFailure("unavailable", "the work was stopped"));
      const job: Job = { spec: jobSpec, signal, resolve, reject, onAbort: () => this.abort(job) };
      signal.addEventListener("abort", job.onAbort, { once: true });
      this.waiting.push(job);
      this.assign();
    }) as Promise<Results[O["kind"]]>;
  }

  /** Stops every thread. Running and waiting jobs are rejected as `unavailable`. */
  async close(): Promise<void> {
    this.isClosed = true;
    const failure = new ProviderFailure("unavailable", "the synth was closed");
    for (const job of this.waiting.splice(0)) finish(job, () => job.reject(failure));
    await Promise.all([...this.seats].map((seat) => this.remove(seat, failure)));
  }

  private assign(): void {
    while (this.waiting.length > 0) {
      const seat = [...this.seats].find(({ job }) => job === null) ?? this.open();
      const job = seat === null ? undefined : this.waiting.shift();
      if (seat === null || job === undefined) return;
      if (seat.idleTimer !== null) clearTimeout(seat.idleTimer);
      seat.idleTimer = null;
      seat.job = job;
      seat.worker.ref();
      seat.worker.postMessage(job.spec);
    }
  }

  private open(): Seat | null {
    if (this.seats.size >= this.threads) return null;
    const seat: Seat = { worker: this.startWorker(), job: null, idleTimer: null };
    seat.worker.unref();
    seat.worker.on("message", (report: WorkerReport) => this.settle(seat, report));
    seat.worker.on(
      "error",
      (cause) => void this.remove(seat, new ProviderFailure("unavailable", "a render thread crashed", { cause })),
    );
    seat.worker.on(
      "exit",
      (code) => void this.remove(seat, new ProviderFailure("unavailable", `a render thread ended with code ${code}`)),
    );
    this.seats.add(seat);
    return seat;
  }

  private settle(seat: Seat, report: WorkerReport): void {
    const { job } = seat;
    seat.job = null;
    seat.worker.unref();
    if (job !== null) {
      finish(job, () =>
        "result" in report ? job.resolve(report.result) : job.reject(new ProviderFailure(report.kind, report.error)),
      );
    }
    seat.idleTimer = setTimeout(() => void this.remove(seat, null), IDLE_MS).unref();
    this.assign();
  }

  private abort(job: Job): void {
    const failure = new ProviderFailure("unavailable", "the work was stopped");
    const index = this.waiting.indexOf(job);
    if (index >= 0) {
      this.waiting.splice(index, 1);
      finish(job, () => job.reject(failure));
      return;
    }
    const seat = [...this.seats].find((candidate) => candidate.job === job);
    if (seat !== undefined) void this.remove(seat, failure);
  }

  /** Removes a seat first, so that its slot is free at once, then stops its thread. */
  private async remove(seat: Seat, failure: ProviderFailure | null): Promise<void> {
    if (!this.seats.delete(seat)) return;
    if (seat.idleTimer !== null) clearTimeout(seat.idleTimer);
    const { job } = seat;
    seat.job = null;
    if (job !== null && failure !== null) finish(job, () => job.reject(failure));
    if (!this.isClosed) this.assign();
    await seat.worker.terminate();
  }
}

function finish(job: Job, report: () => void): void {
  job.signal.removeEventListener("abort", job.onAbort);
  report();
}

/** Starts the worker module next to this file: compiled, or the source when this file itself runs under tsx. */
function startRenderWorker(): Worker {
  return import.meta.url.endsWith(".ts") ? startSource() : new Worker(new URL("./render-worker.js", import.meta.url));
}

function startSource(): Worker {
  // A thread on Node 20 does not inherit tsx, and its first file must be one that Node can read without it. Resolved
  // relative to "tsx/esm": as "tsx/esm/api" a require gets tsx's CommonJS copy, which cannot register in a thread.
  const api = new URL("./api/index.mjs", pathToFileURL(createRequire(import.meta.url).resolve("tsx/esm"))).href;
  const entry = new URL("./render-worker.ts", import.meta.url).href;
  const code =
    `import(${JSON.stringify(api)}).then(({ register }) => { register(); return ` +
    `import(${JSON.stringify(entry)}); });`;
  return new Worker(code, { eval: true, execArgv: [] });
}
