import type { JobId } from "../ids.js";
import type { Clock } from "../ports/clock.js";
import type { JobStore } from "../ports/job-store.js";
import type { EndedJobs } from "./ended-jobs.js";
import { isFinal, type Job, type JobAttempt } from "./job.js";

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
const LOOK_MS = 500;

/**
 * Reads jobs again and again, all that are watched in this process with the same two queries: what a watcher costs does
 * not grow with their number.
 */
export class WatchJobs {
  private readonly watched = new Map<JobId, number>();
  private next: Reading | null = null;
  private pause = new AbortController();

  constructor(private readonly deps: WatchJobsDeps) {}

  /**
   * The job about twice a second, and at once when it ends in this process; ends when `signal` aborts or the job is not
   * there.
   *
   * @throws {ServiceUnavailableError} the storage cannot be read
   */
  async *watch(id: JobId, signal: AbortSignal): AsyncGenerator<WatchedJob, void, undefined> {
    const [ended, aborted] = [newMoment(), newMoment()];
    const unlisten = this.deps.endedJobs.onEnded(({ job }) => {
      if (job.id === id) ended.come();
    });
    signal.addEventListener("abort", aborted.come);
    this.watched.set(id, (this.watched.get(id) ?? 0) + 1);
    try {
      let found = (await this.read([id])).get(id);
      while (found !== undefined && !signal.aborted) {
        yield found;
        const changes = isFinal(found.job.status) ? [aborted.came] : [aborted.came, ended.came];
        const reading = await Promise.race([...changes, this.soon()]);
        if (signal.aborted) return;
        found = (reading ?? (await this.read([id]))).get(id);
      }
    } finally {
      unlisten();
      signal.removeEventListener("abort", aborted.come);
      this.leave(id);
    }
  }

  private leave(id: JobId): void {
    const left = (this.watched.get(id) ?? 1) - 1;
    if (left > 0) this.watched.set(id, left);
    else this.watched.delete(id);
    // No watcher waits for the next reading.
    if (this.watched.size === 0) this.pause.abort("left");
  }

  /** The next reading of all jobs that are watched, which everyone who waits shares. */
  private soon(): Reading {
    this.next ??= this.readLater();
    return this.next;
  }

  private async readLater(): Reading {
    this.pause = new AbortController();
    await this.deps.clock.sleep(LOOK_MS, this.pause.signal);
    this.next = null;
    return this.read([...this.watched.keys()]);
  }

  private async read(ids: readonly JobId[]): Reading {
    const [jobs, attempts] = await Promise.all([this.deps.jobs.findJobs(ids), this.deps.jobs.attemptsOf(ids)]);
    return new Map([...jobs].map(([id, job]) => [id, { job, attempts: attempts.get(id) ?? [] }]));
  }
}

/** Something that comes once, or never. */
function newMoment(): { readonly came: Promise<null>; readonly come: () => void } {
  let come = (): void => undefined;
  const came = new Promise<null>((resolve) => (come = () => resolve(null)));
  return { came, come };
}
