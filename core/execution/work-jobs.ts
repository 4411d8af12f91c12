import type { Slots } from "../figures/show-figures.js";
import type { JobQueue } from "../ports/job-queue.js";
import type { UnrepeatableWork } from "../leases/lease.js";
import { OutageRecovery } from "../leases/outage-recovery.js";
import { ProviderWorker, type ProviderWorkerDeps } from "./provider-worker.js";
import type { Maintenance } from "../maintenance/maintenance.js";
import type { Leases } from "../leases/leases.js";
import type { WorkingProvider } from "./working-provider.js";

export interface WorkJobsDeps extends Omit<ProviderWorkerDeps, "working" | "recovery"> {
  readonly providers: readonly WorkingProvider[];
  readonly queue: JobQueue;
  readonly maintenance: Maintenance;
}

export interface StopOptions {
  /** How long calls that cannot be repeated may take from the beginning of the stop; 0, the default: the grace. */
  readonly drainMs?: number;
  /** Ends every wait of the stop when it aborts. */
  readonly now?: AbortSignal | undefined;
  /**
   * Called with what the stop waits for, at once and whenever there is more or less of it, and with how long it waits
   * at most; with nothing and 0 when all of it has ended by itself.
   */
  onWaiting?(work: readonly UnrepeatableWork[], leftMs: number): void;
  /** Called with the calls that are aborted although they cannot be repeated. */
  onAbandoned?(work: readonly UnrepeatableWork[]): void;
}

/** What a stop could not finish or release. */
export interface StoppedWork {
  /** Calls that were aborted although they cannot be repeated. */
  readonly abandoned: readonly UnrepeatableWork[];
  /** Jobs whose step did not end: other workers take them over when their leases end. */
  readonly leftToLeases: number;
}

/** How long aborted work gets to release its jobs. */
const RELEASE_MS = 2_000;

/** All work of one process: a worker for each provider, their leases, and the maintenance. */
export class WorkJobs {
  private readonly workers: ReadonlyMap<string, ProviderWorker>;

  constructor(private readonly deps: WorkJobsDeps) {
    const recovery = new OutageRecovery(deps);
    this.workers = new Map(
      deps.providers.map((working) => [working.id, new ProviderWorker({ ...deps, working, recovery })]),
    );
  }

  async start(): Promise<void> {
    const { queue, maintenance } = this.deps;
    for (const [providerId, worker] of this.workers) await queue.listen(providerId, () => worker.notified());
    for (const worker of this.workers.values()) worker.start();
    maintenance.start();
  }

  get slots(): readonly Slots[] {
    return [...this.workers.values()].flatMap((worker) => worker.slots);
  }

  /** Of the jobs that this process works on. */
  get leases(): Leases {
    return this.deps.leases;
  }

  /** Resolves when no call is under way that cannot be repeated. */
  drained(): Promise<void> {
    return this.deps.leases.drained();
  }

  /**
   * Claims nothing more and lets what runs finish for `graceMs`. Then aborts and releases what can be repeated, and
   * waits for the rest until `drainMs` are over, while leases are renewed and results are stored. A job that could not
   * be released is taken over when its lease ends.
   */
  async stop(graceMs: number, options: StopOptions = {}): Promise<StoppedWork> {
    const { leases, maintenance } = this.deps;
    const drainMs = Math.max(options.drainMs ?? 0, graceMs);
    const workers = [...this.workers.values()];
    leases.beginStop();
    for (const worker of workers) worker.stop();
    const endReports = this.reportWaiting(drainMs, options);
    const idle = Promise.all(workers.map((worker) => worker.idle()));
    let stopped: StoppedWork = { abandoned: [], leftToLeases: 0 };
    if (!(await this.isWithin(graceMs, idle, options.now))) {
      leases.abortAll();
      await this.isWithin(drainMs - graceMs, leases.drained(), options.now);
      endReports();
      stopped = await this.abandon(idle, options);
    }
    await Promise.all([maintenance.stop(), leases.close()]);
    return stopped;
  }

  /** Aborts the remaining jobs and waits for their release. */
  private async abandon(idle: Promise<unknown>, { onAbandoned }: StopOptions): Promise<StoppedWork> {
    const { leases, logger } = this.deps;
    const abandoned = leases.abandonAll();
    if (abandoned.length > 0) onAbandoned?.(abandoned);
    const leftToLeases = (await this.isWithin(RELEASE_MS, idle)) ? 0 : leases.count;
    if (leftToLeases > 0) logger.warn("Jobs were left to their leases", { jobs: leftToLeases });
    return { abandoned, leftToLeases };
  }

  private reportWaiting(drainMs: number, { onWaiting }: StopOptions): () => void {
    const { leases, clock } = this.deps;
    const endsAt = clock.now() + drainMs;
    let reported = 0;
    const report = (): void => {
      const work = leases.unrepeatable;
      if (work.length === reported) return;
      reported = work.length;
      onWaiting?.(work, work.length === 0 ? 0 : Math.min(Math.max(0, endsAt - clock.now()), drainMs));
    };
    report();
    return leases.onChange(report);
  }

  /** @returns whether `promise` resolved within `ms`, and before `now` aborted */
  private async isWithin(ms: number, promise: Promise<unknown>, now?: AbortSignal): Promise<boolean> {
    const done = new AbortController();
    const wait = now === undefined ? done.signal : AbortSignal.any([done.signal, now]);
    try {
      return await Promise.race([promise.then(() => true), this.deps.clock.sleep(ms, wait).then(() => false)]);
    } finally {
      done.abort();
    }
  }
}
