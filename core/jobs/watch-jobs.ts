import type { JobId } from "../ids.js";
import type { Clock } from "../ports/clock.js";
import type { JobStore } from "../ports/job-store.js";
import type { EndedJobs } from "./ended-jobs.js";
import type { Job, JobAttempt } from "./job.js";

export interface WatchJobsDeps {
  readonly jobs: Pick<JobStore, "findJobs" | "attemptsOf">;
  readonly endedJobs: Pick<EndedJobs, "onEnded">;
  readonly clock: Clock;
}

/** A job as it was last read. */
export interface WatchedJob {
  readonly job: Job;
  readonly attempts: readonly JobAttempt[];
}

type Reading = Promise<ReadonlyMap<JobId, WatchedJob>>;

/** How often storage is asked, for what happens in another process. */
const LOOK_MS = 1_000;

/**
 * Reads jobs again and again, all that are watched in this process with the same two queries: what a watcher costs does
 * not grow with their number.
 */
export class WatchJobs {
  private readonly watched = new Map<JobId, number>();
  private next: Reading | null = null;
  private wake = new AbortController();

  constructor(private readonly deps: WatchJobsDeps) {}

  /**
   * The job about once a second, and at once when it ends in this process; ends when `signal` aborts or the job is not
   * there.
   *
   * @throws {ServiceUnavailableError} the storage cannot be read
   */
  async *watch(id: JobId, signal: AbortSignal): AsyncGenerator<WatchedJob, void, undefined> {
    this.watched.set(id, (this.watched.get(id) ?? 0) + 1);
    const unlisten = this.deps.endedJobs.onEnded(({ job }) => {
      if (job.id === id) this.wake.abort();
    });
    const aborted = new Promise<null>((resolve) =>
      signal.addEventListener("abort", () => resolve(null), { once: true }),
    );
    try {
      let found = (await this.read([id])).get(id);
      while (found !== undefined && !signal.aborted) {
        yield found;
        if (signal.aborted) return;
        found = (await Promise.race([this.soon(), aborted]))?.get(id);
      }
    } finally {
      unlisten();
      const left = (this.watched.get(id) ?? 1) - 1;
      if (left > 0) this.watched.set(id, left);
      else this.watched.delete(id);
    }
  }

  /** The next reading of all jobs that are watched, which everyone who waits shares. */
  private soon(): Reading {
    this.next ??= this.pause().then(() => {
      this.next = null;
      return this.read([...this.watched.keys()]);
    });
    return this.next;
  }

  private async pause(): Promise<void> {
    await this.deps.clock.sleep(LOOK_MS, this.wake.signal);
    if (this.wake.signal.aborted) this.wake = new AbortController();
  }

  private async read(ids: readonly JobId[]): Reading {
    const [jobs, attempts] = await Promise.all([this.deps.jobs.findJobs(ids), this.deps.jobs.attemptsOf(ids)]);
    return new Map([...jobs].map(([id, job]) => [id, { job, attempts: attempts.get(id) ?? [] }]));
  }
}
