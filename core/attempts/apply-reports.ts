import { assert } from "../assert.js";
import type { JobId } from "../ids.js";
import type { JobEnded } from "../jobs/ended-jobs.js";
import type { JobState } from "../jobs/job.js";
import type { SettleJobs } from "../jobs/settle-jobs.js";
import { BUSY, LANE_DEFAULTS, Lanes } from "../lane.js";
import type { CallbackStore } from "../ports/callback-store.js";
import type { Clock } from "../ports/clock.js";
import type { JobQueue } from "../ports/job-queue.js";
import type { JobStore } from "../ports/job-store.js";
import type { Logger } from "../ports/logger.js";
import type { Metrics } from "../ports/metrics.js";
import type { Tracer } from "../ports/tracer.js";
import type { Transaction, UnitOfWork } from "../ports/unit-of-work.js";
import { traceEnd } from "../tracing/job-spans.js";
import { untraced } from "../tracing/traced.js";
import { CountPurchases } from "./purchases.js";
import { ReportEnds } from "./report-ends.js";
import {
  type Applied,
  attemptUpdates,
  changesBetween,
  changesOf,
  type Current,
  type Decided,
  decideGroup,
  endingOf,
  type ReportCommand,
} from "./report-groups.js";

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

  /** Whether reports are being written, or are about to be. */
  get isWriting(): boolean {
    return this.lanes.isWriting;
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

  private async applyGroup(commands: readonly ReportCommand[]): Promise<readonly (Applied | typeof BUSY)[]> {
    const { unitOfWork, settleJobs, queue } = this.deps;
    const written = await unitOfWork.inTransaction((tx) => this.write(tx, commands));
    const { results, ended, notified } = written;
    this.purchases.committed(written.commands);
    for (const { ended: one, attempts } of results) if (one !== null) this.ends.report(one.job, attempts);
    settleJobs.emitEnded(ended);
    if (notified.length > 0) queue.notify(notified);
    const all = new Map(written.commands.map((command, index) => [command, results[index] as Applied]));
    return commands.map((command) => all.get(command) ?? BUSY);
  }

  /** Waits for no job and no account that others hold: it would hold up all the others of the group. */
  private async write(
    tx: Transaction,
    given: readonly ReportCommand[],
  ): Promise<{
    /** Those that were decided on. */
    readonly commands: readonly ReportCommand[];
    /** One per command, in their order. */
    readonly results: readonly Applied[];
    readonly ended: readonly JobEnded[];
    readonly notified: readonly { readonly jobId: JobId; readonly providerId: string }[];
  }> {
    const { jobs, settleJobs, clock } = this.deps;
    const { locked, busy } = await jobs.tryLockJobs(tx, [...new Set(given.map(({ jobId }) => jobId))]);
    const attempts = await jobs.attemptsIn(tx, [...locked.keys()]);
    const now = clock.now();
    const inReach = given.filter(({ jobId }) => !busy.has(jobId));
    const first = decideGroup(inReach, { locked, attempts, now }, this.purchases);
    const balances = await settleJobs.lockBalances(tx, first.endsFrom.values());
    const isFree = ({ jobId }: ReportCommand): boolean => {
      const job = locked.get(jobId);
      return job === undefined || !balances.busy.has(job.accountId);
    };
    const { commands, decided, current, endsFrom } =
      balances.busy.size === 0 ? first : decideGroup(inReach.filter(isFree), { locked, attempts, now }, this.purchases);

    const endings = commands
      .flatMap((command, index) => endingOf(command, decided[index]?.transition ?? null))
      .map((ending) => ({ ...ending, changes: changesOf(ending.jobId, locked, endsFrom) }));
    const settled = await settleJobs.settle(tx, endings, endsFrom, balances.locked, now);
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
    return { commands, results, ended, notified };
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
