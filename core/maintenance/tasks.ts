import type { CallbackStore } from "../ports/callback-store.js";
import type { Clock } from "../ports/clock.js";
import type { GrowthStore, RetainedKind } from "../ports/growth-store.js";
import type { IdempotencyStore } from "../ports/idempotency-store.js";
import type { InstallationStore } from "../ports/installation-store.js";
import type { JobStore } from "../ports/job-store.js";
import type { LibraryStore } from "../ports/library-store.js";
import type { Logger } from "../ports/logger.js";
import type { RequestLogStore } from "../ports/request-log-store.js";
import type { UnitOfWork } from "../ports/unit-of-work.js";
import type { UploadStore } from "../ports/upload-store.js";
import type { WebhookStore } from "../ports/webhook-store.js";
import type { CollectAudio } from "./collect-audio.js";
import { deleteRetained, type RetainedDeletion } from "./delete-retained.js";
import { type EndOverdueJob, EndOverdueJobs } from "./end-overdue-jobs.js";
import type { MaintenanceTask } from "./maintenance.js";
import type { RetentionRule } from "./retention.js";

export interface MaintenanceTasksDeps {
  readonly jobs: JobStore;
  readonly growth: Pick<GrowthStore, "due">;
  readonly installation: InstallationStore;
  readonly callbacks: CallbackStore;
  readonly idempotency: IdempotencyStore;
  readonly webhooks: WebhookStore;
  readonly requestLog: RequestLogStore;
  readonly library: LibraryStore;
  readonly uploads: UploadStore;
  readonly endJobs: EndOverdueJob;
  readonly collectAudio: Pick<CollectAudio, "collect">;
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A job of which nothing is bought by then is ended and refunded. */
  readonly queueDeadlineMs: number;
  readonly rules: readonly RetentionRule[];
  /** The pause between two looks of a task for what is due. */
  readonly everyMs: number;
}

/** Of a log that was there before its rows were counted: few in a step, since a step keeps writers waiting. */
const COUNT_ROWS = 500;
const COUNT_STEPS = 200;
/** Of one transaction that deletes. */
const ROWS = 200;
/** Of rows that are long, scattered in their table, or have others with them: a transaction is as short with them. */
const FEW_ROWS = 50;
/** Each keeps the writers of an embedded database waiting for a moment, and after a great import there are hundreds. */
const INDEX_STEPS = 5;
/** Uploads that were lost: until then their files are known as theirs, and collected within hours. */
const ABANDONED_UPLOADS_KEPT_MS = 30 * 86_400_000;

const COLLECT_EVERY_MS = 3_600_000;
/** Of one run; a greater store is gone through by several runs. */
const COLLECT_FILES_MAX = 100_000;

/** What runs on a schedule in every process that works on jobs. */
export function maintenanceTasks(deps: MaintenanceTasksDeps): MaintenanceTask[] {
  const { library, requestLog, uploads, unitOfWork, clock, everyMs } = deps;
  return [
    endOverdueJobs(deps),
    ...deps.rules.map((rule) => deleteRetained(deps, { rule, ...deletionOf(rule.kind, deps) })),
    {
      id: "count-request-log",
      description: "Counts rows of the request log that were not counted as they came.",
      everyMs,
      run: (signal) =>
        repeat(COUNT_STEPS, signal, () =>
          unitOfWork.inTransaction((tx) => requestLog.countNext(tx, clock.now(), COUNT_ROWS)),
        ),
    },
    {
      id: "sum-credits",
      description: "Sums up the credits of jobs that were not summed as they ended.",
      everyMs,
      run: (signal) =>
        repeat(COUNT_STEPS, signal, () =>
          unitOfWork.inTransaction((tx) => requestLog.sumNextCredits(tx, clock.now(), COUNT_ROWS)),
        ),
    },
    {
      id: "delete-abandoned-uploads",
      description: "Deletes what is known of uploads that never became a track.",
      everyMs,
      run: (signal) =>
        repeat(Infinity, signal, async () => {
          const begunBefore = clock.now() - ABANDONED_UPLOADS_KEPT_MS;
          const deleted = await unitOfWork.inTransaction((tx) => uploads.deleteAbandoned(tx, begunBefore, ROWS));
          return deleted === ROWS;
        }),
    },
    {
      id: "index-pending",
      description: "Indexes pending items of the library for searches.",
      everyMs,
      run: (signal) => repeat(INDEX_STEPS, signal, () => unitOfWork.inTransaction((tx) => library.indexPending(tx))),
    },
    collectAudio(deps),
  ];
}

function deletionOf(kind: RetainedKind, deps: MaintenanceTasksDeps): Omit<RetainedDeletion, "rule"> {
  const { callbacks, idempotency, jobs, webhooks, requestLog } = deps;
  const deletions: Readonly<Record<RetainedKind, Omit<RetainedDeletion, "rule">>> = {
    idempotency_records: {
      id: "delete-idempotency-records",
      description: "Deletes idempotency records past their life.",
      limit: ROWS,
      deleteBatch: (tx, before, limit) => idempotency.deleteExpired(tx, before, limit),
    },
    webhook_events: {
      id: "delete-webhook-events",
      description: "Deletes webhook events past their life, with their deliveries.",
      limit: FEW_ROWS,
      deleteBatch: (tx, before, limit) => webhooks.deleteOld(tx, before, limit),
    },
    provider_callbacks: {
      id: "delete-provider-callbacks",
      description: "Deletes callbacks of providers past their life.",
      limit: ROWS,
      deleteBatch: (tx, before, limit) => callbacks.deleteOld(tx, before, limit),
    },
    request_log: {
      id: "delete-request-log",
      description: "Deletes rows of the request log past their life.",
      limit: ROWS,
      deleteBatch: (tx, before, limit) => requestLog.deleteOld(tx, before, limit),
    },
    request_counts: {
      id: "delete-request-counts",
      description: "Deletes counts of requests past their life.",
      limit: ROWS,
      deleteBatch: (tx, before, limit) => requestLog.deleteOldCounts(tx, before, limit),
    },
    credit_sums: {
      id: "delete-credit-sums",
      description: "Deletes sums of credits past their life.",
      limit: ROWS,
      deleteBatch: (tx, before, limit) => requestLog.deleteOldCredits(tx, before, limit),
    },
    job_requests: {
      id: "delete-job-requests",
      description: "Deletes what ended jobs were asked for past its life, and what their providers said.",
      limit: FEW_ROWS,
      deleteBatch: (tx, before, limit) => jobs.deleteRequests(tx, before, limit),
    },
    job_attempts: {
      id: "delete-job-attempts",
      description: "Deletes attempts of ended jobs past their life.",
      limit: ROWS,
      deleteBatch: (tx, before, limit) => jobs.deleteAttempts(tx, before, limit),
    },
  };
  return deletions[kind];
}

function endOverdueJobs(deps: MaintenanceTasksDeps): MaintenanceTask {
  const { jobs, endJobs, clock, logger, queueDeadlineMs, everyMs } = deps;
  const id = "end-overdue-jobs";
  const overdue = new EndOverdueJobs({ jobs, endJobs, clock, logger: logger.child({ task: id }), queueDeadlineMs });
  return {
    id,
    description: "Ends and refunds jobs past their deadline.",
    everyMs,
    run: (signal) => overdue.execute(signal),
  };
}

function collectAudio({ collectAudio, logger }: MaintenanceTasksDeps): MaintenanceTask {
  const id = "collect-audio";
  let after: string | null = null;
  return {
    id,
    description: "Deletes audio files of ended jobs and uploads that no track or output names.",
    everyMs: COLLECT_EVERY_MS,
    run: async (signal) => {
      const { deleted, next } = await collectAudio.collect({
        isDryRun: false,
        after,
        filesMax: COLLECT_FILES_MAX,
        signal,
      });
      after = next;
      if (deleted.files > 0) logger.info("Orphaned audio files were deleted", { task: id, ...deleted });
    },
  };
}

/** @param step returns whether there may be more to do */
async function repeat(stepsMax: number, signal: AbortSignal, step: () => Promise<boolean>): Promise<void> {
  for (let steps = 0; steps < stepsMax && !signal.aborted; steps++) if (!(await step())) return;
}
