import type { Clock } from "../ports/clock.js";
import type { JobQueue } from "../ports/job-queue.js";
import { ProviderWorker, type ProviderWorkerParts } from "./provider-worker.js";
import type { Maintenance } from "../maintenance/maintenance.js";
import type { WorkingProvider } from "./working-provider.js";

export interface WorkJobsParts extends ProviderWorkerParts {
  readonly queue: JobQueue;
  readonly maintenance: Maintenance;
}

/** How long aborted work gets to hand its jobs back. */
const HAND_BACK_MS = 2_000;

/** All work of one process: a worker for each provider, their leases, and the maintenance. */
export class WorkJobs {
  private readonly workers: ReadonlyMap<string, ProviderWorker>;
  private running: Promise<unknown> = Promise.resolve();

  constructor(
    providers: readonly WorkingProvider[],
    private readonly parts: WorkJobsParts,
  ) {
    this.workers = new Map(providers.map((working) => [working.id, new ProviderWorker(working, parts)]));
  }

  async start(): Promise<void> {
    const { queue, maintenance } = this.parts;
    for (const [providerId, worker] of this.workers) await queue.listen(providerId, () => worker.heard());
    const loops = [...this.workers.values()].map((worker) => worker.work());
    this.running = Promise.all(loops);
    maintenance.start();
  }

  /**
   * Claims nothing more, lets what runs finish for `graceMs`, breaks off the rest and hands it back.
   * A job that could not be handed back is taken over when its lease ends.
   */
  async stop(graceMs: number): Promise<void> {
    const { clock, leases, maintenance } = this.parts;
    const workers = [...this.workers.values()];
    for (const worker of workers) worker.stop();
    const idle = Promise.all(workers.map((worker) => worker.idle())).then(() => "idle" as const);
    if ((await within(clock, graceMs, idle)) !== "idle") {
      leases.abortAll("stopping");
      if ((await within(clock, HAND_BACK_MS, idle)) !== "idle") {
        this.parts.logger.warn("Jobs were left to their leases", { jobs: leases.count });
      }
    }
    await Promise.all([this.running, maintenance.stop(), leases.close()]);
  }
}

async function within<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T | "late"> {
  const done = new AbortController();
  const timer = clock.sleep(ms, done.signal).then(() => "late" as const);
  try {
    return await Promise.race([promise, timer]);
  } finally {
    done.abort();
  }
}

