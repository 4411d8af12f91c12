import type { StoppedWork, StopOptions, WorkJobs } from "./execution/work-jobs.js";
import type { Slots } from "./figures/show-figures.js";
import type { EndedJobs } from "./jobs/ended-jobs.js";
import type { DeliverWebhooks } from "./webhooks/deliver-webhooks.js";

export interface WorkersDeps {
  readonly jobs: WorkJobs;
  readonly deliveries: DeliverWebhooks;
  readonly endedJobs: EndedJobs;
}

/** The workers of one process: jobs, webhook deliveries and maintenance. */
export class Workers {
  constructor(private readonly deps: WorkersDeps) {}

  /** Slots for calls of providers, free ones included. */
  get slots(): readonly Slots[] {
    return this.deps.jobs.slots;
  }

  async start(): Promise<void> {
    const { jobs, deliveries, endedJobs } = this.deps;
    await jobs.start();
    endedJobs.onEnded(({ isDelivered = true }) => void (isDelivered && deliveries.wake()));
    deliveries.start();
  }

  /**
   * Stops claiming, finishes or releases what is under way, and waits for calls that cannot be repeated.
   *
   * @param graceMs how long work may take that can be repeated
   */
  async stop(graceMs: number, options: StopOptions = {}): Promise<StoppedWork> {
    const { jobs, deliveries } = this.deps;
    const { drainMs = 0, now } = options;
    const jobsStopped = jobs.stop(graceMs, options);
    // Deliveries go on for as long as a drain takes.
    const drained = drainMs > graceMs ? jobs.drained() : Promise.resolve();
    const [stopped] = await Promise.all([jobsStopped, drained.then(() => deliveries.stop(graceMs, now))]);
    return stopped;
  }
}
