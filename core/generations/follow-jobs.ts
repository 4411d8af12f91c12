import type { AccountId } from "../ids.js";
import { isFinal } from "../jobs/job.js";
import type { ReadTimelines } from "../jobs/read-timelines.js";
import { type AccountEvent, accountPart, timelineOf } from "../jobs/timeline.js";
import type { WatchedJob, WatchJobs } from "../jobs/watch-jobs.js";
import { ConcurrencyBudget } from "../rate-limits/concurrency-budget.js";
import type { JobOutlook, Outlooks } from "../providers/outlook.js";
import type { JobWithTracks, ReadGenerations } from "./read-generations.js";

/** What happens to a job, as its account follows it. */
export type JobUpdate =
  | { readonly type: "event"; readonly event: AccountEvent }
  /** Where it stands, whenever that changed. */
  | { readonly type: "outlook"; readonly outlook: JobOutlook }
  /** It has ended; nothing follows. */
  | { readonly type: "ended"; readonly found: JobWithTracks };

export interface FollowJobsDeps {
  readonly read: Pick<ReadGenerations, "getJob">;
  readonly timelines: Pick<ReadTimelines, "read">;
  readonly watch: Pick<WatchJobs, "watch">;
  readonly outlooks: Pick<Outlooks, "of">;
  /** How many jobs one account may follow at once, in this process. */
  readonly followedMax: number;
}

/** Expected moments that differ by less are the same to a reader. */
const SAME_MOMENT_MS = 2_000;

/** Lets an account follow its jobs. */
export class FollowJobs {
  private readonly followed: ConcurrencyBudget;

  constructor(private readonly deps: FollowJobsDeps) {
    this.followed = new ConcurrencyBudget(deps.followedMax, "jobs followed at once by one account");
  }

  /**
   * All that happened to a job and what happens from now on, until it ends or `signal` aborts.
   *
   * @param after the id of the last event that the account has; all are returned when it is null or unknown
   * @returns updates to be read at once; null when the job has ended and `after` is its last event
   * @throws {JobNotFoundError} unknown, or another account's
   * @throws {RateLimitedError} the account follows as many as it may
   */
  async follow(
    accountId: AccountId,
    id: string,
    after: string | null,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<JobUpdate, void, undefined> | null> {
    const { job } = await this.deps.read.getJob(accountId, id);
    if (isFinal(job.status) && after === job.status) return null;
    const end = this.followed.enter(accountId);
    return this.updates(accountId, this.deps.watch.watch(job.id, signal), after, end);
  }

  private async *updates(
    accountId: AccountId,
    watched: AsyncGenerator<WatchedJob, void, undefined>,
    after: string | null,
    end: () => void,
  ): AsyncGenerator<JobUpdate, void, undefined> {
    const sent = new Set<string>();
    let [isFirst, last]: [boolean, JobOutlook | null] = [true, null];
    try {
      for await (const { job, attempts } of watched) {
        const events = (await this.eventsOf({ job, attempts })).flatMap((event) => accountPart(event) ?? []);
        if (isFirst) for (const { id } of events.slice(0, events.findIndex(({ id }) => id === after) + 1)) sent.add(id);
        isFirst = false;
        for (const event of events) {
          if (!sent.has(event.id)) yield { type: "event", event };
          sent.add(event.id);
        }
        if (isFinal(job.status)) {
          yield { type: "ended", found: await this.deps.read.getJob(accountId, job.id) };
          return;
        }
        const outlook = await this.deps.outlooks.of(job, attempts);
        if (last === null || !isSame(outlook, last)) yield { type: "outlook", outlook: (last = outlook) };
      }
    } finally {
      end();
    }
  }

  /** Credits and files are only there at the end. */
  private async eventsOf({ job, attempts }: WatchedJob) {
    if (isFinal(job.status)) return (await this.deps.timelines.read(job)).timeline.events;
    return timelineOf({ job, attempts, entries: [], tracks: [], outputs: [], deliveries: [] });
  }
}

function isSame(one: JobOutlook, other: JobOutlook): boolean {
  const isSameMoment = (a: number | null, b: number | null): boolean =>
    a === null || b === null ? a === b : Math.abs(a - b) < SAME_MOMENT_MS;
  return (
    one.state === other.state &&
    one.waitingBefore === other.waitingBefore &&
    one.percent === other.percent &&
    one.queuePosition === other.queuePosition &&
    isSameMoment(one.startsAt, other.startsAt) &&
    isSameMoment(one.endsAt, other.endsAt)
  );
}
