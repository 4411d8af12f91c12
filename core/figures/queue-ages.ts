import type { MaintenanceTask } from "../maintenance/maintenance.js";
import type { Clock } from "../ports/clock.js";
import type { InstallationStore } from "../ports/installation-store.js";
import type { JobStore } from "../ports/job-store.js";
import type { UnitOfWork } from "../ports/unit-of-work.js";
import type { Catalogue } from "../providers/catalogue.js";

/** How old the queue was at a moment: for how long the waiting job that was due the longest had been due. */
export interface QueueAge {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** 0 when no job was due. */
  readonly ms: number;
}

/** Steps of time, each as long, one after another. */
export interface Steps {
  readonly from: number;
  readonly stepMs: number;
  readonly count: number;
}

export interface SampleQueueAgesDeps {
  readonly jobs: Pick<JobStore, "waitingSince">;
  readonly installation: Pick<InstallationStore, "find" | "lock" | "write">;
  readonly unitOfWork: UnitOfWork;
  readonly catalogue: Pick<Catalogue, "providers">;
  readonly clock: Pick<Clock, "now">;
}

/** The name under which the storage keeps them. */
const NAME = "queue_ages";
export const SAMPLE_EVERY_MS = 15_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** The highest of each minute and of each hour is kept, a little longer than it is shown. */
const KEPT = { minutes: 61, hours: 25 } as const;

interface Kept {
  readonly minutes: readonly QueueAge[];
  readonly hours: readonly QueueAge[];
}

/** Keeps the age of the queue, for a look at the last day. All processes that work on jobs write to one place. */
export function sampleQueueAges(deps: SampleQueueAgesDeps): MaintenanceTask {
  return {
    id: "sample-queue-age",
    description: "Keeps the age of the queue: the highest of each minute of an hour, and of each hour of a day.",
    everyMs: SAMPLE_EVERY_MS,
    run: () => sample(deps),
  };
}

async function sample({ jobs, installation, unitOfWork, catalogue, clock }: SampleQueueAgesDeps): Promise<void> {
  const since = await Promise.all(catalogue.providers.map(({ id }) => jobs.waitingSince(id)));
  const at = clock.now();
  const age = { at, ms: Math.max(0, ...since.map((one) => (one === null ? 0 : at - one))) };
  if (isKnown(parse(await installation.find(NAME)), age)) return;
  await unitOfWork.inTransaction(async (tx) => {
    const kept = parse(await installation.lock(tx, NAME));
    if (!isKnown(kept, age)) await installation.write(tx, NAME, JSON.stringify(withAge(kept, age)));
  });
}

/** Another sample of this minute was as high. */
function isKnown({ minutes }: Kept, { at, ms }: QueueAge): boolean {
  return minutes.some((one) => stepOf(one.at, MINUTE_MS) === stepOf(at, MINUTE_MS) && one.ms >= ms);
}

function withAge({ minutes, hours }: Kept, age: QueueAge): Kept {
  return {
    minutes: highest([...minutes, age], MINUTE_MS, KEPT.minutes),
    hours: highest([...hours, age], HOUR_MS, KEPT.hours),
  };
}

/** The highest of each step, of the last `count` steps. */
function highest(ages: readonly QueueAge[], stepMs: number, count: number): QueueAge[] {
  const last = Math.max(...ages.map(({ at }) => stepOf(at, stepMs)));
  const byStep = new Map<number, QueueAge>();
  for (const age of ages) {
    const step = stepOf(age.at, stepMs);
    if (step > last - count && (byStep.get(step)?.ms ?? -1) < age.ms) byStep.set(step, age);
  }
  return [...byStep.values()].sort((a, b) => a.at - b.at);
}

function stepOf(at: number, stepMs: number): number {
  return Math.floor(at / stepMs);
}

/** What was kept of the last hour and the last day; nothing before a process has worked on jobs. */
export async function findQueueAges(installation: Pick<InstallationStore, "find">): Promise<readonly QueueAge[]> {
  const { minutes, hours } = parse(await installation.find(NAME));
  return [...hours, ...minutes];
}

/**
 * The highest age in each step, in milliseconds; null where nothing is known of it. A job that is due for an hour was
 * due half an hour ago as well: an age says something of the time before it too, also where no process took a sample.
 */
export function queueAgesBySteps(ages: readonly QueueAge[], { from, stepMs, count }: Steps): (number | null)[] {
  return Array.from({ length: count }, (_, index) => {
    const [start, end] = [from + index * stepMs, from + (index + 1) * stepMs];
    const known = ages
      .filter(({ at, ms }) => at >= start && (at < end || at - ms < end))
      .map(({ at, ms }) => Math.min(at, end) - (at - ms));
    return known.length === 0 ? null : Math.max(...known);
  });
}

function parse(stored: string | null): Kept {
  return stored === null ? { minutes: [], hours: [] } : (JSON.parse(stored) as Kept);
}
