import type { AttemptId, JobId } from "../../../core/ids.js";
import type { JobAttempt } from "../../../core/jobs/job.js";
import type { AttemptChanges } from "../../../core/ports/job-store.js";
import { fromJson, toJson } from "./rows.js";
import type { SqlValue, Table } from "./session.js";

export interface AttemptRow {
  job_id: JobId;
  number: number;
  id: AttemptId;
  provider_id: string;
  model_id: string | null;
  state: JobAttempt["state"];
  started_at: number;
  call_ends_at: number | null;
  accepted_at: number | null;
  finished_at: number | null;
  deadline_at: number | null;
  overdue_since: number | null;
  end_reported_at: number | null;
  cancel_due_at: number | null;
  ended_at: number | null;
  outcome: JobAttempt["outcome"];
  message: string | null;
  cost: string | null;
  billable: JobAttempt["billable"];
  loss: JobAttempt["loss"];
  handle: string | null;
  result: string | null;
  files: string | null;
}

/** The column of each member that may change. */
const CHANGES = {
  state: "state",
  callEndsAt: "call_ends_at",
  acceptedAt: "accepted_at",
  finishedAt: "finished_at",
  deadlineAt: "deadline_at",
  overdueSince: "overdue_since",
  endReportedAt: "end_reported_at",
  cancelDueAt: "cancel_due_at",
  endedAt: "ended_at",
  outcome: "outcome",
  message: "message",
  cost: "cost",
  billable: "billable",
  loss: "loss",
  handle: "handle",
  result: "result",
  files: "files",
} as const satisfies { readonly [member in keyof AttemptChanges]-?: keyof AttemptRow };

export const JOB_ATTEMPTS: Table<AttemptRow> = {
  name: "job_attempts",
  columns: ["job_id", "number", "id", "provider_id", "model_id", "started_at", ...Object.values(CHANGES)],
  key: ["job_id", "number"],
};

export function toAttemptRow(attempt: JobAttempt): AttemptRow {
  return {
    job_id: attempt.jobId,
    number: attempt.number,
    id: attempt.id,
    provider_id: attempt.providerId,
    model_id: attempt.modelId,
    state: attempt.state,
    started_at: attempt.startedAt,
    call_ends_at: attempt.callEndsAt,
    accepted_at: attempt.acceptedAt,
    finished_at: attempt.finishedAt,
    deadline_at: attempt.deadlineAt,
    overdue_since: attempt.overdueSince,
    end_reported_at: attempt.endReportedAt,
    cancel_due_at: attempt.cancelDueAt,
    ended_at: attempt.endedAt,
    outcome: attempt.outcome,
    message: attempt.message,
    cost: toJson(attempt.cost),
    billable: attempt.billable,
    loss: attempt.loss,
    handle: toJson(attempt.handle),
    result: toJson(attempt.result),
    files: toJson(attempt.files),
  };
}

export function toAttempt(row: AttemptRow): JobAttempt {
  return {
    id: row.id,
    jobId: row.job_id,
    number: row.number,
    providerId: row.provider_id,
    modelId: row.model_id,
    state: row.state,
    handle: fromJson<JobAttempt["handle"]>(row.handle),
    result: fromJson<JobAttempt["result"]>(row.result),
    files: fromJson<JobAttempt["files"]>(row.files),
    startedAt: row.started_at,
    callEndsAt: row.call_ends_at,
    acceptedAt: row.accepted_at,
    finishedAt: row.finished_at,
    deadlineAt: row.deadline_at,
    overdueSince: row.overdue_since,
    endReportedAt: row.end_reported_at,
    cancelDueAt: row.cancel_due_at,
    endedAt: row.ended_at,
    outcome: row.outcome,
    message: row.message,
    cost: fromJson<JobAttempt["cost"]>(row.cost),
    billable: row.billable,
    loss: row.loss,
  };
}

/** The columns that `changes` names, with their values; a member that is undefined is not named. */
export function toChangedAttemptColumns(changes: AttemptChanges): {
  readonly columns: readonly (keyof AttemptRow)[];
  readonly values: readonly SqlValue[];
} {
  const named = Object.entries(CHANGES).filter(([member]) => changes[member as keyof AttemptChanges] !== undefined);
  return {
    columns: named.map(([, column]) => column),
    values: named.map(([member]) => {
      const value = changes[member as keyof AttemptChanges] ?? null;
      return typeof value === "object" ? toJson(value) : value;
    }),
  };
}
