import type { CallbackStore } from "../ports/callback-store.js";
import type { Clock } from "../ports/clock.js";
import type { IdempotencyStore } from "../ports/idempotency-store.js";
import type { JobStore } from "../ports/job-store.js";
import type { LibraryStore } from "../ports/library-store.js";
import type { Logger } from "../ports/logger.js";
import type { RequestLogStore } from "../ports/request-log-store.js";
import type { Transaction, UnitOfWork } from "../ports/unit-of-work.js";
import type { UploadStore } from "../ports/upload-store.js";
import type { WebhookStore } from "../ports/webhook-store.js";
import { LOG_KEPT_MS } from "../ports/request-log.js";
import type { CollectAudio } from "./collect-audio.js";
import { type EndOverdueJob, EndOverdueJobs } from "./end-overdue-jobs.js";
import type { MaintenanceTask } from "./maintenance.js";

export interface MaintenanceTasksDeps {
  readonly jobs: JobStore;
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
  /** How long webhook events are kept, with their deliveries. */
  readonly eventsKeptMs: number;
}

const EVERY_MS = 5_000;
const DELETE_BATCH = 500;
/** Rows of the request log are many, and scattered in the table: few per step, and so many steps in one run. */
const LOG_DELETE_BATCH = 100;
const LOG_DELETE_STEPS = 200;
/** Of a log that was there before its rows were counted: few in a step, since a step keeps writers waiting. */
const COUNT_ROWS = 500;
const COUNT_STEPS = 200;
/** Each keeps the writers of an embedded database waiting for a moment, and after a great import there are hundreds. */
const INDEX_STEPS = 5;
/** What providers reported; no job lives that long. */
const CALLBACKS_KEPT_MS = 14 * 86_400_000;

/** Uploads that were lost: until then their files are known as theirs, and collected within hours. */
const ABANDONED_UPLOADS_KEPT_MS = 30 * 86_400_000;

const COLLECT_EVERY_MS = 3_600_000;
/** Of one run; a greater store is gone through by several runs. */
const COLLECT_FILES_MAX = 100_000;

/** What runs on a schedule in every process that works on jobs. */
export function maintenanceTasks(deps: MaintenanceTasksDeps): MaintenanceTask[] {
  const { callbacks, idempotency, webhooks, requestLog, library, uploads, unitOfWork, clock } = deps;
  return [
    endOverdueJobs(deps),
    deletion(deps, {
      id: "delete-idempotency-records",
      description: "Deletes idempotency records past their life.",
      deleteBatch: (tx, limit) => idempotency.deleteExpired(tx, clock.now(), limit),
    }),
    deletion(deps, {
      id: "delete-webhook-events",
      description: "Deletes webhook events past their life, with their deliveries.",
      deleteBatch: (tx, limit) => webhooks.deleteOld(tx, clock.now() - deps.eventsKeptMs, limit),
    }),
    deletion(deps, {
      id: "delete-provider-callbacks",
      description: "Deletes callbacks of providers past their life.",
      deleteBatch: (tx, limit) => callbacks.deleteOld(tx, clock.now() - CALLBACKS_KEPT_MS, limit),
    }),
    deletion(deps, {
      id: "delete-request-log",
      description: "Deletes rows of the request log past their life.",
      deleteBatch: (tx, limit) => requestLog.deleteOld(tx, clock.now() - LOG_KEPT_MS, limit),
      limit: LOG_DELETE_BATCH,
      stepsMax: LOG_DELETE_STEPS,
    }),
    deletion(deps, {
      id: "delete-request-counts",
      description: "Deletes counts of requests past their life.",
      deleteBatch: (tx, limit) => requestLog.deleteOldCounts(tx, clock.now() - LOG_KEPT_MS, limit),
    }),
    {
      id: "count-request-log",
      description: "Counts rows of the request log from before they were counted as they came.",
      everyMs: EVERY_MS,
      run: (signal) =>
        repeat(COUNT_STEPS, signal, () => unitOfWork.inTransaction((tx) => requestLog.countNext(tx, COUNT_ROWS))),
    },
    deletion(deps, {
      id: "delete-abandoned-uploads",
      description: "Deletes what is known of uploads that never became a track.",
      deleteBatch: (tx, limit) => uploads.deleteAbandoned(tx, clock.now() - ABANDONED_UPLOADS_KEPT_MS, limit),
    }),
    {
      id: "index-pending",
      description: "Indexes pending items of the library for searches.",
      everyMs: EVERY_MS,
      run: (signal) => repeat(INDEX_STEPS, signal, () => unitOfWork.inTransaction((tx) => library.indexPending(tx))),
    },
    collectAudio(deps),
  ];
}

function endOverdueJobs({ jobs, endJobs, clock, logger, queueDeadlineMs }: MaintenanceTasksDeps): MaintenanceTask {
  const id = "end-overdue-jobs";
  const overdue = new EndOverdueJobs({ jobs, endJobs, clock, logger: logger.child({ task: id }), queueDeadlineMs });
  return {
    id,
    description: "Ends and refunds jobs past their deadline.",
    everyMs: EVERY_MS,
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

interface Deletion extends Pick<MaintenanceTask, "id" | "description"> {
  /** @returns how many it deleted; fewer than `limit` when no more are left */
  deleteBatch(tx: Transaction, limit: number): Promise<number>;
  readonly limit?: number;
  /** Left out: until no more are left. */
  readonly stepsMax?: number;
}

function deletion(
  { unitOfWork }: MaintenanceTasksDeps,
  { id, description, deleteBatch, ...bounds }: Deletion,
): MaintenanceTask {
  const { limit = DELETE_BATCH, stepsMax = Infinity } = bounds;
  const step = async (): Promise<boolean> => (await unitOfWork.inTransaction((tx) => deleteBatch(tx, limit))) === limit;
  return { id, description, everyMs: EVERY_MS, run: (signal) => repeat(stepsMax, signal, step) };
}

/** @param step returns whether there may be more to do */
async function repeat(stepsMax: number, signal: AbortSignal, step: () => Promise<boolean>): Promise<void> {
  for (let steps = 0; steps < stepsMax && !signal.aborted; steps++) if (!(await step())) return;
}
