import type { JobId } from "../ids.js";
import type { JobState } from "../jobs/job.js";
import type { Clock } from "../ports/clock.js";
import type { JobStore } from "../ports/job-store.js";
import type { Logger } from "../ports/logger.js";

/** Ends a job, or an attempt of it, whose time is over. */
export interface EndOverdueJob {
  /** @returns the ended job; null when it is not over yet, or had ended before */
  endOverdue(job: JobState): Promise<JobState | null>;
}

export interface EndOverdueJobsDeps {
  readonly jobs: Pick<JobStore, "findOverdue" | "findOverdueAttempts" | "findJobs">;
  readonly endJobs: EndOverdueJob;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A job of which nothing is bought by then is ended and refunded. */
  readonly queueDeadlineMs: number;
}

/** Jobs that are ended together. */
const BATCH = 200;

/**
 * Ends jobs past their queue deadline, and makes attempts past their deadline due for a last poll. A job that cannot be
 * settled is logged and does not delay others.
 */
export class EndOverdueJobs {
  constructor(private readonly deps: EndOverdueJobsDeps) {}

  /** @throws {ServiceUnavailableError} the storage is not available; what was ended by then stays so */
  async execute(signal: AbortSignal): Promise<void> {
    const { jobs, clock, queueDeadlineMs } = this.deps;
    const now = clock.now();
    await this.endAll((limit) => jobs.findOverdue(now - queueDeadlineMs, limit), signal);
    await this.endAll(
      async (limit) => [...(await jobs.findJobs(await jobs.findOverdueAttempts(now, limit))).values()],
      signal,
    );
  }

  private async endAll(find: (limit: number) => Promise<readonly JobState[]>, signal: AbortSignal): Promise<void> {
    /** They are overdue yet, and found again by each further look. */
    const left = new Set<JobId>();
    while (!signal.aborted) {
      const overdue = (await find(BATCH + left.size)).filter(({ id }) => !left.has(id));
      const isEnded = await this.endTogether(overdue);
      for (const [index, job] of overdue.entries()) {
        if (signal.aborted) return;
        if (!(isEnded[index] ?? (await this.endAlone(job)))) left.add(job.id);
      }
      if (overdue.length < BATCH) return;
    }
  }

  /** In one commit where that works. @returns for each whether it was ended; null: it is to be tried alone */
  private async endTogether(overdue: readonly JobState[]): Promise<readonly (boolean | null)[]> {
    const ends = await Promise.allSettled(overdue.map((job) => this.end(job)));
    return ends.map((end) => (end.status === "fulfilled" ? end.value : null));
  }

  /** @returns false when it is not ended */
  private async endAlone(job: JobState): Promise<boolean> {
    try {
      return await this.end(job);
    } catch (error) {
      // Where the storage as a whole is not available, this throws, and says so once in place of once for each job.
      await this.deps.jobs.findJobs([job.id]);
      this.deps.logger.error("An overdue job could not be ended; it will be retried", { error, job_id: job.id });
      return false;
    }
  }

  private async end(job: JobState): Promise<boolean> {
    return (await this.deps.endJobs.endOverdue(job)) !== null;
  }
}
