import type { AccountId, AttemptId, JobId, ProcessId, RequestId } from "../../../core/ids.js";
import type { Job, JobAttempt, JobKind, JobOutput, JobPhase, JobStatus } from "../../../core/jobs/job.js";
import type { JobChanges } from "../../../core/ports/job-store.js";
import { fromJson, toJson } from "./rows.js";
import type { SqlValue, Table } from "./session.js";

export interface JobRow {
  id: JobId;
  account_id: AccountId;
  kind: JobKind;
  operation: string;
  provider_id: string;
  model_id: string;
  served_model_id: string | null;
  reference: string | null;
  request_id: RequestId | null;
  requested_at: number | null;
  client: string | null;
  reserved_monthly: number;
  reserved_pack: number;
  credits_charged: number;
  status: JobStatus;
  phase: JobPhase;
  attempt: number;
  refusals: number;
  crashes: number;
  fence: number;
  lease_owner: ProcessId | null;
  due_at: number | null;
  created_at: number;
  completed_at: number | null;
  cancel_due_at: number | null;
  handle: string | null;
  error: string | null;
  request: string;
}

export const JOBS: Table<JobRow> = {
  name: "jobs",
  columns: [
    "id",
    "account_id",
    "kind",
    "operation",
    "provider_id",
    "model_id",
    "served_model_id",
    "reference",
    "request_id",
    "requested_at",
    "client",
    "reserved_monthly",
    "reserved_pack",
    "credits_charged",
    "status",
    "phase",
    "attempt",
    "refusals",
    "crashes",
    "fence",
    "lease_owner",
    "due_at",
    "created_at",
    "completed_at",
    "cancel_due_at",
    "handle",
    "error",
    "request",
  ],
  key: ["id"],
};

export function toJobRow(job: Job): JobRow {
  return {
    id: job.id,
    account_id: job.accountId,
    kind: job.kind,
    operation: job.operation,
    provider_id: job.providerId,
    model_id: job.modelId,
    served_model_id: job.servedModelId,
    reference: job.reference,
    request_id: job.requestId,
    requested_at: job.requestedAt,
    client: job.request.client,
    reserved_monthly: job.reserved.monthly,
    reserved_pack: job.reserved.pack,
    credits_charged: job.creditsCharged,
    status: job.status,
    phase: job.phase,
    attempt: job.attempt,
    refusals: job.refusals,
    crashes: job.crashes,
    fence: job.fence,
    lease_owner: job.leaseOwner,
    due_at: job.dueAt,
    created_at: job.createdAt,
    completed_at: job.completedAt,
    cancel_due_at: job.cancelDueAt,
    handle: toJson(job.handle),
    error: toJson(job.error),
    request: JSON.stringify(job.request),
  };
}

export function toJob(row: JobRow): Job {
  return {
    id: row.id,
    accountId: row.account_id,
    kind: row.kind,
    operation: row.operation,
    providerId: row.provider_id,
    modelId: row.model_id,
    servedModelId: row.served_model_id,
    // Jobs of before there were splits have no such member.
    request: { sourceTrackId: null, ...fromJson<Omit<Job["request"], "sourceTrackId"> & Partial<Pick<Job["request"], "sourceTrackId">>>(row.request) },
    reference: row.reference,
    requestId: row.request_id,
    requestedAt: row.requested_at,
    reserved: { monthly: row.reserved_monthly, pack: row.reserved_pack },
    creditsCharged: row.credits_charged,
    status: row.status,
    phase: row.phase,
    attempt: row.attempt,
    refusals: row.refusals,
    crashes: row.crashes,
    fence: row.fence,
    leaseOwner: row.lease_owner,
    dueAt: row.due_at,
    handle: fromJson<Job["handle"]>(row.handle),
    error: fromJson<Job["error"]>(row.error),
    createdAt: row.created_at,
    completedAt: row.completed_at,
    cancelDueAt: row.cancel_due_at,
  };
}

/** The column of each member that may change. */
const CHANGES: readonly (readonly [keyof JobChanges, keyof JobRow])[] = [
  ["providerId", "provider_id"],
  ["servedModelId", "served_model_id"],
  ["operation", "operation"],
  ["status", "status"],
  ["phase", "phase"],
  ["attempt", "attempt"],
  ["refusals", "refusals"],
  ["crashes", "crashes"],
  ["fence", "fence"],
  ["leaseOwner", "lease_owner"],
  ["dueAt", "due_at"],
  ["handle", "handle"],
  ["error", "error"],
  ["creditsCharged", "credits_charged"],
  ["completedAt", "completed_at"],
  ["cancelDueAt", "cancel_due_at"],
];

/** The columns that `changes` names, with their values; a member that is undefined is not named. */
export function toChangedColumns(changes: JobChanges): { readonly columns: (keyof JobRow)[]; readonly values: SqlValue[] } {
  const columns: (keyof JobRow)[] = [];
  const values: SqlValue[] = [];
  for (const [member, column] of CHANGES) {
    const value = changes[member];
    if (value === undefined) continue;
    columns.push(column);
    values.push(typeof value === "object" ? toJson(value) : value);
  }
  return { columns, values };
}

export interface AttemptRow {
  job_id: JobId;
  number: number;
  id: AttemptId;
  provider_id: string;
  started_at: number;
  ended_at: number | null;
  outcome: JobAttempt["outcome"];
  message: string | null;
  cost: string | null;
  billable: JobAttempt["billable"];
}

export const JOB_ATTEMPTS: Table<AttemptRow> = {
  name: "job_attempts",
  columns: ["job_id", "number", "id", "provider_id", "started_at", "ended_at", "outcome", "message", "cost", "billable"],
  key: ["job_id", "number"],
};

export function toAttemptRow(attempt: JobAttempt): AttemptRow {
  return {
    job_id: attempt.jobId,
    number: attempt.number,
    id: attempt.id,
    provider_id: attempt.providerId,
    started_at: attempt.startedAt,
    ended_at: attempt.endedAt,
    outcome: attempt.outcome,
    message: attempt.message,
    cost: toJson(attempt.cost),
    billable: attempt.billable,
  };
}

export function toAttempt(row: AttemptRow): JobAttempt {
  return {
    id: row.id,
    jobId: row.job_id,
    number: row.number,
    providerId: row.provider_id,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    outcome: row.outcome,
    message: row.message,
    cost: fromJson<JobAttempt["cost"]>(row.cost),
    billable: row.billable,
  };
}

export interface OutputRow {
  job_id: JobId;
  position: number;
  label: string;
  audio_key: string;
  content_type: string;
  size_bytes: number;
  duration_ms: number | null;
}

export const JOB_OUTPUTS: Table<OutputRow> = {
  name: "job_outputs",
  columns: ["job_id", "position", "label", "audio_key", "content_type", "size_bytes", "duration_ms"],
  key: ["job_id", "position"],
};

export function toOutputRow(jobId: JobId, output: JobOutput, position: number): OutputRow {
  return {
    job_id: jobId,
    position,
    label: output.label,
    audio_key: output.audioKey,
    content_type: output.contentType,
    size_bytes: output.sizeBytes,
    duration_ms: output.durationSeconds === null ? null : Math.round(output.durationSeconds * 1000),
  };
}

export function toOutput(row: OutputRow): JobOutput {
  return {
    label: row.label,
    audioKey: row.audio_key,
    contentType: row.content_type,
    sizeBytes: row.size_bytes,
    durationSeconds: row.duration_ms === null ? null : row.duration_ms / 1000,
  };
}
