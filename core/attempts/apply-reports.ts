import { assert } from "../assert.js";
import type { JobId } from "../ids.js";
import { announced } from "../jobs/announce.js";
import type { JobEnded } from "../jobs/ended-jobs.js";
import type { SettleJobs } from "../jobs/settle-jobs.js";
import { BUSY, LANE_DEFAULTS } from "../lane.js";
import { Lanes } from "../lanes.js";
import type { CallbackStore } from "../ports/callback-store.js";
import type { Clock } from "../ports/clock.js";
import type { JobQueue } from "../ports/job-queue.js";
import type { JobStore, JobUpdate } from "../ports/job-store.js";
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
  callbacksRead,
  changesOf,
  type Decided,
  decideGroup,
  endingJobs,
  endingOf,
  liveUpdates,
  type ReportCommand,
  type Unread,
} from "./report-groups.js";
import { sendsCallbacks } from "./situation.js";

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
    if (notified.length > 0) queue.notify(announced(notified));
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
    const ids = [...new Set(given.map(({ jobId }) => jobId))];
    const [{ locked, busy }, attempts, unread] = await Promise.all([
      jobs.tryLockJobs(tx, ids),
      jobs.attemptsIn(tx, ids),
      this.unreadIn(tx, given),
    ]);
    const now = clock.now();
    const inReach = given.filter(({ jobId }) => !busy.has(jobId));
    const first = decideGroup(inReach, { locked, attempts, now }, this.purchases);
    const prepared = await settleJobs.prepare(tx, endingJobs(inReach, first));
    const isFree = ({ jobId }: ReportCommand): boolean => {
      const job = locked.get(jobId);
      return job === undefined || !prepared.busy.has(job.accountId);
    };
    const group =
      prepared.busy.size === 0 ? first : decideGroup(inReach.filter(isFree), { locked, attempts, now }, this.purchases);
    const { commands, decided, endsFrom } = group;

    const endings = commands
      .flatMap((command, index) => endingOf(command, decided[index]?.transition ?? null))
      .map((ending) => ({ changes: changesOf(ending.jobId, locked, endsFrom), ...ending }));
    const settled = await settleJobs.settle(tx, endings, locked, prepared, now);
    await jobs.insertAttempts(
      tx,
      decided.flatMap(({ transition }) => transition?.newAttempt ?? []),
    );
    await this.deps.callbacks.markRead(tx, callbacksRead(decided), now);
    await Promise.all([
      jobs.updateAttempts(tx, attemptUpdates(commands, decided)),
      this.updateJobs(tx, [...settled.updates, ...liveUpdates(locked, group, { unread, now })]),
    ]);

    const ended = [...settled.ended, ...(await this.endedBefore(tx, commands, decided))];
    const byId = new Map(ended.map((one) => [one.job.id, one]));
    const results = decided.map(({ applied, endsFrom: job, isRepeated }, index): Applied => {
      const jobId = commands[index]?.jobId as JobId;
      return { ended: job !== null || isRepeated ? (byId.get(jobId) ?? null) : null, ...applied };
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
      return [{ job: { request, ...one.applied.job }, tracks, outputs }];
    });
  }

  private async updateJobs(tx: Transaction, updates: readonly JobUpdate[]): Promise<void> {
    if (updates.length === 0) return;
    const written = await this.deps.jobs.updateJobs(tx, updates);
    assert(written === updates.length, "a locked job keeps its fence");
  }

  /** Of jobs whose provider sends callbacks. */
  private unreadIn(tx: Transaction, commands: readonly ReportCommand[]): Promise<Unread> {
    const ids = commands.filter(({ policy }) => sendsCallbacks(policy)).map(({ jobId }) => jobId);
    return ids.length === 0 ? Promise.resolve(NONE_UNREAD) : this.deps.callbacks.unreadIn(tx, [...new Set(ids)]);
  }
}

const NONE_UNREAD: Unread = new Map();
