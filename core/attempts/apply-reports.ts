import { assert } from "../assert.js";
import type { Alongside } from "../audit/audit-trail.js";
import type { AccountId, JobId } from "../ids.js";
import type { Ending } from "../jobs/decide-settlement.js";
import type { JobEnded } from "../jobs/ended-jobs.js";
import { isFinal, type JobAttempt, type JobState } from "../jobs/job.js";
import type { SettleJobs } from "../jobs/settle-jobs.js";
import { LANE_DEFAULTS, Lanes } from "../lane.js";
import type { CallbackStore } from "../ports/callback-store.js";
import type { Clock } from "../ports/clock.js";
import type { JobQueue } from "../ports/job-queue.js";
import type { AttemptUpdate, JobChanges, JobStore } from "../ports/job-store.js";
import type { Logger } from "../ports/logger.js";
import type { Metrics } from "../ports/metrics.js";
import type { Tracer } from "../ports/tracer.js";
import type { Transaction, UnitOfWork } from "../ports/unit-of-work.js";
import { decide, type Report } from "./decide.js";
import { attemptsAfter, jobAfter, type Transition } from "./transition.js";
import { traceEnd } from "../tracing/job-spans.js";
import { untraced } from "../tracing/traced.js";
import { CountPurchases } from "./purchases.js";
import { ReportEnds } from "./report-ends.js";

export interface ApplyReportsDeps {
  readonly jobs: JobStore;
  readonly callbacks: CallbackStore;
  readonly unitOfWork: UnitOfWork;
  readonly settleJobs: SettleJobs;
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Counts purchases at providers, ended jobs and groups; null: nothing is counted. */
  readonly metrics: Pick<Metrics, "countAttempt" | "countJobEnded" | "countGroup"> | null;
  readonly tracer: Tracer | null;
}

export interface ReportCommand extends Report {
  readonly jobId: JobId;
  readonly accountId: AccountId;
  /** The id of this report; it stays the same when the report is sent again. */
  readonly reportId: string;
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

interface Current {
  readonly job: JobState;
  readonly attempts: readonly JobAttempt[];
}

interface Decided {
  readonly applied: Omit<Applied, "ended">;
  readonly transition: Transition | null;
  /** The job before it ends; null when this report does not end it. */
  readonly endsFrom: JobState | null;
  /** True when an earlier run of this report ended the job and the reply to its commit was lost. */
  readonly isRepeated: boolean;
}

/**
 * The only writer of jobs under way: reads jobs and attempts under the lock of the job's row, decides, and writes the
 * decisions on all reports of a group in one commit.
 */
export class ApplyReports {
  private readonly lanes: Lanes<ReportCommand, Applied>;
  private readonly purchases: CountPurchases;
  private readonly ends: ReportEnds;

  constructor(private readonly deps: ApplyReportsDeps) {
    this.lanes = new Lanes(
      deps.unitOfWork.concurrentWriters,
      (commands) => untraced(deps.tracer, () => this.applyGroup(commands)),
      deps.clock,
      LANE_DEFAULTS,
      (waits) => deps.metrics?.countGroup("report", waits),
    );
    this.purchases = new CountPurchases(deps.metrics);
    this.ends = new ReportEnds(deps);
  }

  /** @throws {ServiceUnavailableError} it is not known whether the report was written; sending it again is safe */
  async apply(command: ReportCommand): Promise<Applied> {
    const { tracer, clock } = this.deps;
    if (tracer === null) return this.lanes.submit(command.accountId, command);
    const startedAt = clock.now();
    const applied = await this.lanes.submit(command.accountId, command);
    if (applied.ended !== null) traceEnd(tracer, applied.ended.job, applied.attempts, startedAt);
    return applied;
  }

  private async applyGroup(commands: readonly ReportCommand[]): Promise<readonly Applied[]> {
    const { unitOfWork, settleJobs, queue } = this.deps;
    const { results, ended, notified } = await unitOfWork.inTransaction((tx) => this.write(tx, commands));
    this.purchases.committed(commands);
    for (const { ended: one, attempts } of results) if (one !== null) this.ends.report(one.job, attempts);
    settleJobs.emitEnded(ended);
    if (notified.length > 0) queue.notify(notified);
    return results;
  }

  private async write(
    tx: Transaction,
    commands: readonly ReportCommand[],
  ): Promise<{
    readonly results: readonly Applied[];
    readonly ended: readonly JobEnded[];
    readonly notified: readonly { readonly jobId: JobId; readonly providerId: string }[];
  }> {
    const { jobs, settleJobs, clock } = this.deps;
    const ids = [...new Set(commands.map(({ jobId }) => jobId))];
    const locked = await jobs.lockJobs(tx, ids);
    const attempts = await jobs.attemptsIn(tx, [...locked.keys()]);
    const now = clock.now();
    const current = new Map<JobId, Current>(
      [...locked].map(([id, job]) => [id, { job, attempts: attempts.get(id) ?? [] }]),
    );
    const decided = commands.map((command) => {
      const before = current.get(command.jobId)?.attempts ?? [];
      const one = decideOn(command, current, now);
      this.purchases.note(command, before, one.applied.attempts);
      return one;
    });

    const endsFrom = new Map(decided.flatMap(({ endsFrom: job }) => (job === null ? [] : [[job.id, job] as const])));
    const endings = commands
      .flatMap((command, index) => endingOf(command, decided[index]?.transition ?? null))
      .map((ending) => ({ ...ending, changes: changesOf(ending.jobId, locked, endsFrom) }));
    const settled = await settleJobs.settle(tx, endings, endsFrom, now);
    await this.writeJobs(tx, locked, current, endsFrom);
    await jobs.insertAttempts(
      tx,
      decided.flatMap(({ transition }) => transition?.newAttempt ?? []),
    );
    await jobs.updateAttempts(tx, attemptUpdates(commands, decided));
    await this.writeCallbacks(tx, commands, decided, now);

    const ended = [...settled, ...(await this.endedBefore(tx, commands, decided))];
    const byId = new Map(ended.map((one) => [one.job.id, one]));
    const results = decided.map(({ applied, endsFrom: job, isRepeated }, index): Applied => {
      const jobId = commands[index]?.jobId as JobId;
      return { ...applied, ended: job !== null || isRepeated ? (byId.get(jobId) ?? null) : null };
    });
    for (const [index, { ended: one, job, next }] of results.entries()) {
      const after = one?.job ?? job;
      if (after !== null && next !== "stale") await commands[index]?.alongside?.(tx, after);
    }
    const notified = decided.flatMap(({ transition }, index) => {
      const providerId = transition?.notify ?? null;
      return providerId === null ? [] : [{ jobId: commands[index]?.jobId as JobId, providerId }];
    });
    return { results, ended, notified };
  }

  /**
   * Jobs that an earlier run of this group ended before its reply was lost: their listeners have not been notified yet.
   */
  private async endedBefore(
    tx: Transaction,
    commands: readonly ReportCommand[],
    decided: readonly Decided[],
  ): Promise<JobEnded[]> {
    const repeated = commands.filter((_, index) => decided[index]?.isRepeated === true);
    if (repeated.length === 0) return [];
    const requests = await this.deps.jobs.requestsOf(
      tx,
      repeated.map(({ jobId }) => jobId),
    );
    return commands.flatMap(({ event }, index): JobEnded[] => {
      const one = decided[index];
      if (one?.isRepeated !== true || one.applied.job === null) return [];
      const request = requests.get(one.applied.job.id);
      assert(request !== undefined, "a job keeps its request");
      const { tracks, outputs } = event.type === "files_stored" ? event.files : { tracks: [], outputs: [] };
      return [{ job: { ...one.applied.job, request }, tracks, outputs }];
    });
  }

  /** One update per live job with all decisions on it; the settlement has written the jobs that end. */
  private async writeJobs(
    tx: Transaction,
    locked: ReadonlyMap<JobId, JobState>,
    current: ReadonlyMap<JobId, Current>,
    ending: ReadonlyMap<JobId, JobState>,
  ): Promise<void> {
    const updates = [...locked.values()].flatMap((before) => {
      const changes = ending.has(before.id) ? {} : changesBetween(before, current.get(before.id)?.job ?? before);
      return Object.keys(changes).length === 0 ? [] : [{ id: before.id, fence: before.fence, changes }];
    });
    if (updates.length === 0) return;
    const written = await this.deps.jobs.updateJobs(tx, updates);
    assert(written.size === updates.length, "a locked job keeps its fence");
  }

  private async writeCallbacks(
    tx: Transaction,
    commands: readonly ReportCommand[],
    decided: readonly Decided[],
    now: number,
  ): Promise<void> {
    const { jobs, callbacks } = this.deps;
    for (const [index, { transition, applied, endsFrom }] of decided.entries()) {
      const jobId = commands[index]?.jobId as JobId;
      if (transition === null || transition.callbacksRead === null) continue;
      await callbacks.markRead(tx, transition.callbacksRead, now);
      // While a lease is held, the job is due when the lease ends; the worker's next report runs this code
      // again.
      if (endsFrom !== null || applied.job === null || applied.job.leaseOwner !== null) continue;
      // The row is locked: a callback is either stored before and read here, or stored after and makes the job
      // due itself.
      if (await callbacks.hasUnread(tx, jobId))
        await jobs.updateJobs(tx, [{ id: jobId, fence: applied.job.fence, changes: { dueAt: now } }]);
    }
  }
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

function endingOf({ jobId, reportId }: ReportCommand, transition: Transition | null): Ending[] {
  const outcome = transition?.ending ?? null;
  return outcome === null ? [] : [{ jobId, endedBy: reportId, outcome }];
}

/** One update per attempt, with the changes of all reports of the group. */
function attemptUpdates(commands: readonly ReportCommand[], decided: readonly Decided[]): AttemptUpdate[] {
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
function changesOf(
  id: JobId,
  locked: ReadonlyMap<JobId, JobState>,
  endsFrom: ReadonlyMap<JobId, JobState>,
): JobChanges {
  const [before, after] = [locked.get(id), endsFrom.get(id)];
  return before === undefined || after === undefined ? {} : changesBetween(before, after);
}

function changesBetween(before: JobState, after: JobState): JobChanges {
  const changed = Object.entries(after).filter(([member, value]) => value !== before[member as keyof JobState]);
  return Object.fromEntries(changed);
}
