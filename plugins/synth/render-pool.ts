import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { ProviderFailure } from "../sdk/index.js";
import type { ProviderFailureKind } from "../sdk/index.js";
import type { Order, Results } from "./order.js";

/** A worker without work is stopped after this long, so that an idle process is small again. */
const IDLE_MS = 60_000;

/** What a worker reports for its one running order. */
export type WorkerReport =
  { readonly result: Results[Order["kind"]] } | { readonly kind: ProviderFailureKind; readonly error: string };

interface Job {
  readonly order: Order;
  readonly signal: AbortSignal;
  readonly onAbort: () => void;
  resolve(result: Results[Order["kind"]]): void;
  reject(failure: ProviderFailure): void;
}

interface Seat {
  readonly worker: Worker;
  job: Job | null;
  idleTimer: NodeJS.Timeout | null;
}

/** Worker threads that carry out one order each; what does not fit waits in order of arrival. */
export class RenderPool {
  private readonly seats = new Set<Seat>();
  private readonly waiting: Job[] = [];
  private isClosed = false;

  constructor(
    private readonly threads: number,
    private readonly startWorker: () => Worker = startRenderWorker,
  ) {}

  /**
   * Carries out an order in a worker that is started on demand.
   *
   * @throws {ProviderFailure} `unavailable` when aborted, closed or the thread died; what the work threw, as `failed` if it is of no kind
   */
  run<O extends Order>(order: O, signal: AbortSignal): Promise<Results[O["kind"]]> {
    return new Promise<Results[Order["kind"]]>((resolve, reject) => {
      if (this.isClosed) return reject(new ProviderFailure("unavailable", "the synth has been closed"));
      if (signal.aborted) return reject(new ProviderFailure("unavailable", "the work was stopped"));
      const job: Job = { order, signal, resolve, reject, onAbort: () => this.abort(job) };
      signal.addEventListener("abort", job.onAbort, { once: true });
      this.waiting.push(job);
      this.assign();
    }) as Promise<Results[O["kind"]]>;
  }

  /** Stops every thread. What was running or waiting is rejected as `unavailable`. */
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
      seat.worker.postMessage(job.order);
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

  /** Forgets a seat at once, so that its place can be taken, and then stops its thread. */
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

/** Starts the worker beside this file: the compiled one, or the source one when this file itself runs under tsx. */
function startRenderWorker(): Worker {
  return import.meta.url.endsWith(".ts") ? startSource() : new Worker(new URL("./render-worker.js", import.meta.url));
}

function startSource(): Worker {
  // A thread on Node 20 does not inherit tsx, and its first file must be one that Node can read without it.
  // Resolved beside "tsx/esm": as "tsx/esm/api" a require gets tsx's CommonJS copy, which cannot register in a thread.
  const api = new URL("./api/index.mjs", pathToFileURL(createRequire(import.meta.url).resolve("tsx/esm"))).href;
  const entry = new URL("./render-worker.ts", import.meta.url).href;
  const code = `import(${JSON.stringify(api)}).then(({ register }) => { register(); return import(${JSON.stringify(entry)}); });`;
  return new Worker(code, { eval: true, execArgv: [] });
}
