import type { AccountId, JobId, ProcessId, RequestId } from "../../../core/ids.js";
import type { Job, JobKind, JobOutput, JobPhase, JobRequest, JobState, JobStatus } from "../../../core/jobs/job.js";
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
  collections_begun: number | null;
  fence: number;
  lease_owner: ProcessId | null;
  due_at: number | null;
  created_at: number;
  completed_at: number | null;
  ended_by: string | null;
  error: string | null;
  request: string;
}

/** A row without what the caller asked for, which is long and lies in pages of its own. */
export type JobStateRow = Omit<JobRow, "request">;

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
    "collections_begun",
    "fence",
    "lease_owner",
    "due_at",
    "created_at",
    "completed_at",
    "ended_by",
    "error",
    "request",
  ],
  key: ["id"],
};

/** The columns of a {@link JobStateRow}, for a SELECT. */
export const JOB_STATE_COLUMNS = JOBS.columns.filter((column) => column !== "request").join(", ");

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
    collections_begun: job.collectionsBegun,
    fence: job.fence,
    lease_owner: job.leaseOwner,
    due_at: job.dueAt,
    created_at: job.createdAt,
    completed_at: job.completedAt,
    ended_by: job.endedBy,
    error: toJson(job.error),
    request: JSON.stringify(job.request),
  };
}

export function toJobState(row: JobStateRow): JobState {
  return {
    id: row.id,
    accountId: row.account_id,
    kind: row.kind,
    operation: row.operation,
    providerId: row.provider_id,
    modelId: row.model_id,
    servedModelId: row.served_model_id,
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
    collectionsBegun: row.collections_begun ?? 0,
    fence: row.fence,
    leaseOwner: row.lease_owner,
    dueAt: row.due_at,
    error: fromJson<Job["error"]>(row.error),
    createdAt: row.created_at,
    completedAt: row.completed_at,
    endedBy: row.ended_by,
  };
}

/** A request as its row holds it: members that came later may be missing. */
type LaterMember = "sourceTrackId" | "sourceUse" | "options";
type StoredRequest = Omit<JobRequest, LaterMember> & Partial<Pick<JobRequest, LaterMember>>;

export function toRequest({ request }: Pick<JobRow, "request">): JobRequest {
  // Jobs of before there were splits, options, or references have no such member.
  return { sourceTrackId: null, sourceUse: null, options: {}, ...fromJson<StoredRequest>(request) };
}

export function toJob(row: JobRow): Job {
  return { ...toJobState(row), request: toRequest(row) };
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
  ["collectionsBegun", "collections_begun"],
  ["fence", "fence"],
  ["leaseOwner", "lease_owner"],
  ["dueAt", "due_at"],
  ["error", "error"],
  ["creditsCharged", "credits_charged"],
  ["completedAt", "completed_at"],
  ["endedBy", "ended_by"],
];

/** The columns that `changes` names, with their values; a member that is undefined is not named. */
export function toChangedColumns(changes: JobChanges): {
  readonly columns: (keyof JobRow)[];
  readonly values: SqlValue[];
} {
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
