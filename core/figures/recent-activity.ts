import type { Activity, ActivityStore, TimeSpan } from "../ports/activity-store.js";
import type { Clock } from "../ports/clock.js";

/** What happened, by steps of time. */
export interface ActivitySeries {
  /** When the first step began. */
  readonly from: number;
  readonly stepMs: number;
  /** The oldest first; the last one is under way. null: not read yet, a later call has it. */
  readonly steps: readonly (Activity | null)[];
}

export interface RecentActivityReport {
  /** The last 60 minutes. */
  readonly hour: ActivitySeries;
  /** The last 24 hours. */
  readonly day: ActivitySeries;
}

export interface RecentActivityDeps {
  readonly activity: ActivityStore;
  readonly clock: Pick<Clock, "now">;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const MINUTES = 60;
const HOURS = 24;
/** Rows of the request log are written late. What is older than this has all of them, and is read once. */
const SETTLED_AFTER_MS = 2 * MINUTE_MS;
/** One call begins no further read after this time: the rest is left to later calls. */
export const READING_MS = 1_000;

/**
 * What happened in the last hour and the last day. Each minute and each hour is read once when it is over, so a call
 * reads the last minutes, whatever the size of the storage; after a start, the newest come first.
 */
export class RecentActivity {
  private minutes = new Map<number, Activity>();
  private hours = new Map<number, Activity>();

  constructor(private readonly deps: RecentActivityDeps) {}

  async report(): Promise<RecentActivityReport> {
    const now = this.deps.clock.now();
    const endsAt = now + READING_MS;
    const hour = stepsBefore(now, MINUTE_MS, MINUTES);
    const day = stepsBefore(now, HOUR_MS, HOURS);
    const read = new Map<number, Activity | null>();
    // An hour that is not settled is the sum of its minutes: they may begin before the last 60.
    const minutes = new Set([...hour, ...day.filter((at) => !isSettled(at + HOUR_MS, now)).flatMap(minutesOf(now))]);
    for (const at of [...minutes].sort((a, b) => b - a))
      read.set(at, await this.read(this.minutes, { from: at, to: at + MINUTE_MS }, now, endsAt));
    const hours: (Activity | null)[] = [];
    for (const at of day.toReversed()) {
      const parts = isSettled(at + HOUR_MS, now) ? null : minutesOf(now)(at).map((minute) => read.get(minute) ?? null);
      hours.unshift(
        parts === null ? await this.read(this.hours, { from: at, to: at + HOUR_MS }, now, endsAt) : sumOf(parts),
      );
    }
    this.minutes = newer(this.minutes, now - 2 * HOUR_MS);
    this.hours = newer(this.hours, now - (HOURS + 1) * HOUR_MS);
    return {
      hour: { from: hour[0] ?? now, stepMs: MINUTE_MS, steps: hour.map((at) => read.get(at) ?? null) },
      day: { from: day[0] ?? now, stepMs: HOUR_MS, steps: hours },
    };
  }

  private async read(
    known: Map<number, Activity>,
    span: TimeSpan,
    now: number,
    endsAt: number,
  ): Promise<Activity | null> {
    const found = known.get(span.from);
    if (found !== undefined) return found;
    if (this.deps.clock.now() >= endsAt) return null;
    const activity = await this.deps.activity.activityIn(span);
    if (isSettled(span.to, now)) known.set(span.from, activity);
    return activity;
  }
}

/** When the last steps began, the one under way included; the oldest first. */
function stepsBefore(now: number, stepMs: number, count: number): number[] {
  const last = now - (now % stepMs);
  return Array.from({ length: count }, (_, index) => last - (count - 1 - index) * stepMs);
}

function minutesOf(now: number): (hour: number) => number[] {
  return (hour) => Array.from({ length: MINUTES }, (_, index) => hour + index * MINUTE_MS).filter((at) => at <= now);
}

function isSettled(end: number, now: number): boolean {
  return end + SETTLED_AFTER_MS <= now;
}

function newer(known: ReadonlyMap<number, Activity>, from: number): Map<number, Activity> {
  return new Map([...known].filter(([at]) => at >= from));
}

/** null where a part is missing. */
export function sumOf(parts: readonly (Activity | null)[]): Activity | null {
  const all = parts.filter((part) => part !== null);
  if (all.length < parts.length) return null;
  const providers = new Map<string, { delivered: number; failed: number; wasted: number }>();
  for (const { providerId, ...one } of all.flatMap((part) => part.providers)) {
    const sum = providers.get(providerId);
    providers.set(providerId, sum === undefined ? one : added(sum, one));
  }
  return {
    requests: all.map(({ requests }) => requests).reduce(added, NO_REQUESTS),
    jobs: all.map(({ jobs }) => jobs).reduce(added, NO_JOBS),
    credits: all.map(({ credits }) => credits).reduce(added, NO_CREDITS),
    providers: [...providers]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([providerId, sums]) => ({ providerId, ...sums })),
  };
}

const NO_REQUESTS = { total: 0, refused: 0, clientErrors: 0, serverErrors: 0 };
const NO_JOBS = { accepted: 0, completed: 0, failed: 0 };
const NO_CREDITS = { granted: 0, renewed: 0, expired: 0, reserved: 0, charged: 0, refunded: 0 };

function added<Sums extends { readonly [name in keyof Sums]: number }>(one: Sums, other: Sums): Sums {
  return Object.fromEntries(
    Object.entries<number>(one).map(([name, value]) => [name, value + other[name as keyof Sums]]),
  ) as Sums;
}
