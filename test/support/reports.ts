import type { Stores } from "../../adapters/storage/sql/index.js";
import { ApplyReports } from "../../core/attempts/apply-reports.js";
import type { Applied, ReportCommand } from "../../core/attempts/report-groups.js";
import type { ExecutionEvent } from "../../core/attempts/events.js";
import type { ExecutionPolicy } from "../../core/attempts/policy.js";
import { EndedJobs } from "../../core/jobs/ended-jobs.js";
import type { JobState, StoredFiles } from "../../core/jobs/job.js";
import { SettleJobs } from "../../core/jobs/settle-jobs.js";
import type { Clock } from "../../core/ports/clock.js";
import { MemoryJobQueue } from "../../adapters/queue/memory/job-queue.js";
import { anId, aTrack } from "./builders.js";
import { SILENT } from "./databases.js";
import { eventsOf } from "./webhook-events.js";

export const A_POLICY: ExecutionPolicy = {
  retry: { maxAttempts: 3, backoffMs: 1_000 },
  queueDeadlineMs: 3_600_000,
  renderDeadlineMs: 3_600_000,
  unknownGraceMs: 600_000,
  confirmMs: 60_000,
  capabilities: { idempotentSubmit: false, lookup: false, lookupSettlesMs: 0, cancel: false, callbacks: "none" },
  expectedCost: null,
  fraction: 0.5,
};

type JobRef = Pick<JobState, "id" | "accountId" | "fence">;

/** Writes the reports, on these stores. */
export function reportsOn(
  stores: Pick<Stores, "unitOfWork" | "ledger" | "jobs" | "library" | "webhooks" | "callbacks">,
  clock: Clock,
  endedJobs = new EndedJobs({ logger: SILENT }),
): ApplyReports {
  const { unitOfWork, ledger, jobs, library, webhooks, callbacks } = stores;
  const settleJobs = new SettleJobs({ ledger, jobs, library, writeEvents: eventsOf({ webhooks }), endedJobs });
  return new ApplyReports({
    jobs,
    callbacks,
    unitOfWork,
    settleJobs,
    queue: new MemoryJobQueue(SILENT),
    clock,
    logger: SILENT,
    metrics: null,
    tracer: null,
  });
}

/** The reports of the worker that has claimed the job. */
export function aReport(job: JobRef, event: ExecutionEvent, overrides: Partial<ReportCommand> = {}): ReportCommand {
  return {
    jobId: job.id,
    accountId: job.accountId,
    reportId: anId("rpt"),
    fence: job.fence,
    event,
    policy: A_POLICY,
    ...overrides,
  };
}

export function anIntent(job: JobRef, number = 1, callEndsAt = Number.MAX_SAFE_INTEGER): ReportCommand {
  return aReport(job, { type: "intended", attemptId: anId("att"), number, callEndsAt, usualRenderMs: null });
}

/** A completion with one track. */
export function aCompletion(job: JobRef, number = 1, files: StoredFiles = someFiles(job)): ReportCommand {
  return aReport(job, { type: "files_stored", number, files, cost: null });
}

export function someFiles({ id, accountId }: JobRef): StoredFiles {
  return { tracks: [aTrack({ jobId: id, accountId })], outputs: [], missing: [] };
}

export function aCancellation(job: JobRef): ReportCommand {
  return aReport(job, { type: "cancelled" }, { fence: null });
}

export function aCancelRequest(job: JobRef, policy: ExecutionPolicy = A_POLICY): ReportCommand {
  return aReport(job, { type: "cancel_requested" }, { fence: null, policy });
}

/** Records the intent of a first attempt for each of these claimed jobs. */
export async function begun(reports: ApplyReports, jobs: readonly JobRef[]): Promise<Applied[]> {
  return Promise.all(jobs.map((job) => reports.apply(anIntent(job))));
}
