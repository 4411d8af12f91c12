import { openAttempt } from "../attempts/situation.js";
import { isFinal, type Job, type JobAttempt } from "../jobs/job.js";
import type { Clock } from "../ports/clock.js";
import type { JobStore } from "../ports/job-store.js";
import type { Backlog } from "./backlog.js";
import type { RenderTimes } from "./render-times.js";

/** Where a job stands, and what is expected of it by what its model's last renders took. */
export interface JobOutlook {
  /**
   * - `waiting`: for its turn
   * - `retrying`: for its next attempt, after one that failed
   * - `submitting`: its provider is called
   * - `rendering`: its provider has it
   * - `ended`
   */
  readonly state: "waiting" | "retrying" | "submitting" | "rendering" | "ended";
  /** How many jobs begin before it, at most 1,000; null once it has begun. */
  readonly waitingBefore: number | null;
  /** How far the provider says it is, 0 to 100; null where it does not say. */
  readonly percent: number | null;
  /** How many works are before it in the provider's queue; null where the provider does not say. */
  readonly queuePosition: number | null;
  /** When it is expected to begin; null once it has begun, and when that is not known. */
  readonly startsAt: number | null;
  /** When it is expected to end; null once it has, when it takes longer than usual, and when that is not known. */
  readonly endsAt: number | null;
}

export interface OutlooksDeps {
  readonly jobs: Pick<JobStore, "countWaitingBefore">;
  readonly backlog: Pick<Backlog, "beginsInMs">;
  readonly renderTimes: Pick<RenderTimes, "usualMs">;
  readonly clock: Clock;
}

const COUNT_MAX = 1_000;
/** Of a smaller share of the work, nothing is concluded about the rest. */
const TELLING_PERCENT = 5;

const ENDED: JobOutlook = {
  state: "ended",
  waitingBefore: null,
  percent: null,
  queuePosition: null,
  startsAt: null,
  endsAt: null,
};

/** What jobs under way can be expected to do. */
export class Outlooks {
  constructor(private readonly deps: OutlooksDeps) {}

  /** @param attempts of the job, in their order */
  async of(job: Job, attempts: readonly JobAttempt[]): Promise<JobOutlook> {
    if (isFinal(job.status)) return ENDED;
    const open = openAttempt({ attempts });
    return open === undefined ? this.ofWaiting(job) : this.ofAttempt(job, open);
  }

  private async ofWaiting(job: Job): Promise<JobOutlook> {
    const { jobs, backlog, clock } = this.deps;
    const now = clock.now();
    const dueAt = job.dueAt ?? now;
    const isRetrying = job.attempt > 0 && job.leaseOwner === null;
    const waitingBefore = await jobs.countWaitingBefore(job.providerId, dueAt, COUNT_MAX);
    const beginsInMs = await backlog.beginsInMs(job, waitingBefore);
    // A lease on a waiting job is a worker that is about to submit it.
    const earliest = job.leaseOwner === null ? Math.max(now, dueAt) : now;
    const startsAt = beginsInMs === null ? null : Math.max(earliest, now + Math.ceil(beginsInMs));
    return {
      ...ENDED,
      state: isRetrying ? "retrying" : "waiting",
      waitingBefore,
      startsAt,
      endsAt: startsAt === null ? null : await this.endsAt(job, startsAt),
    };
  }

  private async ofAttempt(job: Job, attempt: JobAttempt): Promise<JobOutlook> {
    const { acceptedAt, startedAt, progress } = attempt;
    const beganAt = acceptedAt ?? startedAt;
    const { percent = null, queuePosition = null, at = beganAt } = progress ?? {};
    const isTelling = percent !== null && percent >= TELLING_PERCENT;
    const endsAt = isTelling ? beganAt + Math.ceil(((at - beganAt) * 100) / percent) : await this.endsAt(job, beganAt);
    return {
      ...ENDED,
      state: job.phase === "rendering" ? "rendering" : "submitting",
      percent,
      queuePosition,
      endsAt: endsAt !== null && endsAt > this.deps.clock.now() ? endsAt : null,
    };
  }

  private async endsAt({ providerId, servedModelId, request }: Job, beginsAt: number): Promise<number | null> {
    if (servedModelId === null) return null;
    const usualMs = await this.deps.renderTimes.usualMs(providerId, servedModelId, request.durationSeconds);
    return usualMs === null ? null : beginsAt + Math.ceil(usualMs);
  }
}
