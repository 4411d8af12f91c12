import type { Alongside } from "../audit/audit-trail.js";
import { isFinal, type JobAttempt, type JobRequest, type JobState } from "../jobs/job.js";
import type { AccountId, CallbackId, JobId } from "../ids.js";
import type { JobEnded } from "../jobs/ended-jobs.js";
import type { Ending } from "../jobs/decide-settlement.js";
import type { EndingJob } from "../jobs/settle-jobs.js";
import type { AttemptUpdate, JobChanges, JobUpdate } from "../ports/job-store.js";
import { decide, type Report } from "./decide.js";
import type { CountPurchases } from "./purchases.js";
import { attemptsAfter, jobAfter, type Transition } from "./transition.js";

export interface ReportCommand extends Report {
  readonly jobId: JobId;
  readonly accountId: AccountId;
  /** The id of this report; it stays the same when the report is sent again. */
  readonly reportId: string;
  /** What the job's caller asked for, where the reporter knows it: it need not be read then. */
  readonly request?: JobRequest | null;
  /** Written in the transaction of this report, unless it changes nothing. */
  readonly alongside?: Alongside<JobState>;
}

/** The result of a report. */
export interface Applied {
  readonly next: Transition["next"];
  /** The current job; null when it does not exist. */
  readonly job: JobState | null;
  readonly attempts: readonly JobAttempt[];
  /** The job that this report ended; null when it ended none, or another report ended the job. */
  readonly ended: JobEnded | null;
}

export interface Current {
  readonly job: JobState;
  readonly attempts: readonly JobAttempt[];
}

export interface Decided {
  readonly applied: Omit<Applied, "ended">;
  readonly transition: Transition | null;
  /** The job before it ends; null when this report does not end it. */
  readonly endsFrom: JobState | null;
  /** True when an earlier run of this report ended the job and the reply to its commit was lost. */
  readonly isRepeated: boolean;
}

/** The decisions on a group of reports; nothing of them is written yet. */
export interface GroupDecision {
  /** Without those whose rows others hold. */
  readonly commands: readonly ReportCommand[];
  /** One per command, in their order. */
  readonly decided: readonly Decided[];
  /** As the reports leave them. */
  readonly current: ReadonlyMap<JobId, Current>;
  /** Jobs that end, before they do. */
  readonly endsFrom: ReadonlyMap<JobId, JobState>;
}

/** The jobs of a group as they are locked. */
export interface LockedJobs {
  readonly locked: ReadonlyMap<JobId, JobState>;
  readonly attempts: ReadonlyMap<JobId, readonly JobAttempt[]>;
  readonly now: number;
}

/**
 * Each report sees what those before it change.
 *
 * @param purchases notes what the reports change
 */
export function decideGroup(
  commands: readonly ReportCommand[],
  { locked, attempts, now }: LockedJobs,
  purchases: Pick<CountPurchases, "note">,
): GroupDecision {
  const current = new Map<JobId, Current>(
    [...locked].map(([id, job]) => [id, { job, attempts: attempts.get(id) ?? [] }]),
  );
  const decided = commands.map((command) => {
    const before = current.get(command.jobId)?.attempts ?? [];
    const one = decideOn(command, current, now);
    purchases.note(command, before, one.applied.attempts);
    return one;
  });
  const endsFrom = new Map(decided.flatMap(({ endsFrom: job }) => (job === null ? [] : [[job.id, job] as const])));
  return { commands, decided, current, endsFrom };
}

/** Decides one report on the state that the earlier reports of its group leave. */
function decideOn(command: ReportCommand, current: Map<JobId, Current>, now: number): Decided {
  const before = current.get(command.jobId);
  const nothing = { transition: null, endsFrom: null, isRepeated: false };
  if (before === undefined) return { applied: { next: "stale", job: null, attempts: [] }, ...nothing };
  const { job } = before;
  if (isFinal(job.status) && job.endedBy === command.reportId) {
    return { applied: { next: "done", ...before }, ...nothing, isRepeated: true };
  }
  const transition = decide(job, before.attempts, command, now);
  const attempts = attemptsAfter(before.attempts, transition);
  const after = { job: jobAfter(job, transition, command.reportId), attempts };
  current.set(command.jobId, after);
  const endsFrom = transition.ending === null ? null : { ...job, ...transition.job };
  return { applied: { next: transition.next, ...after }, transition, endsFrom, isRepeated: false };
}

/** The jobs that a group ends. */
export function endingJobs(commands: readonly ReportCommand[], { endsFrom }: GroupDecision): EndingJob[] {
  const known = new Map<JobId, JobRequest>();
  for (const { jobId, request = null } of commands) if (request !== null) known.set(jobId, request);
  return [...endsFrom.values()].map((job) => ({ job, request: known.get(job.id) ?? null }));
}

export function endingOf({ jobId, reportId }: ReportCommand, transition: Transition | null): Ending[] {
  const outcome = transition?.ending ?? null;
  return outcome === null ? [] : [{ jobId, endedBy: reportId, outcome }];
}

/** One update per attempt, with the changes of all reports of the group. */
export function attemptUpdates(commands: readonly ReportCommand[], decided: readonly Decided[]): AttemptUpdate[] {
  const merged = new Map<string, AttemptUpdate>();
  for (const [index, { transition }] of decided.entries()) {
    const jobId = commands[index]?.jobId as JobId;
    for (const { number, changes } of transition?.attempts ?? []) {
      const key = `${jobId} ${number}`;
      merged.set(key, { jobId, number, changes: { ...merged.get(key)?.changes, ...changes } });
    }
  }
  return [...merged.values()];
}

/** What the reports of its group changed of a job before one of them ended it. */
export function changesOf(
  id: JobId,
  locked: ReadonlyMap<JobId, JobState>,
  endsFrom: ReadonlyMap<JobId, JobState>,
): JobChanges {
  const [before, after] = [locked.get(id), endsFrom.get(id)];
  return before === undefined || after === undefined ? {} : changesBetween(before, after);
}

/** Callbacks of jobs that no worker has read. */
export type Unread = ReadonlyMap<JobId, readonly CallbackId[]>;

/** What the reports of a group have read. */
export function callbacksRead(decided: readonly Decided[]): CallbackId[] {
  return decided.flatMap(({ transition }) => transition?.callbacksRead ?? []);
}

/**
 * One update per live job with all decisions on it; the settlement has those of the jobs that end. A job whose lease is
 * released is due at once where a callback came that its worker has not read: the job's row is locked, so each callback
 * was either stored before, or is stored after and makes the job due itself. While a lease is held, the job is due when
 * the lease ends, and the worker's next report comes by here again.
 */
export function liveUpdates(
  locked: ReadonlyMap<JobId, JobState>,
  { commands, decided, current, endsFrom }: GroupDecision,
  { unread, now }: { readonly unread: Unread; readonly now: number },
): JobUpdate[] {
  const read = new Set(callbacksRead(decided));
  const hasRead = (one: Decided | undefined): boolean => (one?.transition?.callbacksRead ?? null) !== null;
  const asked = new Set(commands.filter((_, index) => hasRead(decided[index])).map(({ jobId }) => jobId));
  const isDue = ({ id, leaseOwner }: JobState): boolean =>
    leaseOwner === null && asked.has(id) && (unread.get(id) ?? []).some((callback) => !read.has(callback));
  return [...locked.values()].flatMap((before) => {
    const after = current.get(before.id)?.job ?? before;
    if (endsFrom.has(before.id)) return [];
    const changes = changesBetween(before, isDue(after) ? { ...after, dueAt: now } : after);
    return Object.keys(changes).length === 0 ? [] : [{ id: before.id, fence: before.fence, changes }];
  });
}

function changesBetween(before: JobState, after: JobState): JobChanges {
  const changes: Record<string, unknown> = {};
  for (const member of Object.keys(after) as (keyof JobState)[])
    if (after[member] !== before[member]) changes[member] = after[member];
  return changes;
}
