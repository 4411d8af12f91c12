import type { JobId } from "../../../../core/ids.js";
import type { JobAttempt } from "../../../../core/jobs/job.js";
import type { AttemptUpdate } from "../../../../core/ports/job-store.js";
import { type AttemptRow, JOB_ATTEMPTS } from "./attempt-table.js";
import { groupBy } from "../lists.js";
import { columnsOf, type Session } from "../session.js";

const LIST = `SELECT ${columnsOf(JOB_ATTEMPTS)} FROM job_attempts WHERE job_id = ? ORDER BY number`;
const OVERDUE = "SELECT job_id FROM job_attempts WHERE deadline_at <= ? ORDER BY deadline_at LIMIT ?";
const CANCELS_DUE = "FROM job_attempts WHERE provider_id = ? AND cancel_due_at <= ?";
const ANY_CANCEL_DUE = `SELECT 1 ${CANCELS_DUE} LIMIT 1`;
const FIND_CANCELS = `SELECT ${columnsOf(JOB_ATTEMPTS)} ${CANCELS_DUE} ORDER BY cancel_due_at LIMIT ?`;
const CANCEL_AGAIN = "UPDATE job_attempts SET cancel_due_at = ? WHERE job_id = ? AND number = ?";
const RENDER_TIMES = `SELECT finished_at - COALESCE(accepted_at, started_at) AS ms, finished_at - started_at AS call_ms
  FROM job_attempts WHERE provider_id = ? AND model_id = ? AND finished_at IS NOT NULL ORDER BY finished_at DESC
  LIMIT ?`;

export async function attemptsOf(session: Session, jobIds: readonly JobId[]): Promise<Map<JobId, JobAttempt[]>> {
  const rows = await session.allEach<AttemptRow>(
    LIST,
    jobIds.map((id) => [id]),
  );
  return groupBy(rows.map(JOB_ATTEMPTS.fromRow), ({ jobId }) => jobId);
}

export async function insertAttempts(session: Session, attempts: readonly JobAttempt[]): Promise<void> {
  await session.insert(JOB_ATTEMPTS, attempts.map(JOB_ATTEMPTS.toRow));
}

/**
 * Those that change the same columns share a statement. A row is named once, or its updates change the same columns.
 */
export async function updateAttempts(session: Session, updates: readonly AttemptUpdate[]): Promise<void> {
  const texts = updates.flatMap(({ jobId, number, changes }) => {
    const { columns, values } = JOB_ATTEMPTS.changed(changes);
    if (columns.length === 0) return [];
    const text = `UPDATE job_attempts SET ${columns.map((column) => `${column} = ?`).join(", ")} WHERE job_id = ?
      AND number = ?`;
    return [{ text, values: [...values, jobId, number] }];
  });
  for (const [text, members] of groupBy(texts, (member) => member.text)) {
    await session.runEach(
      text,
      members.map(({ values }) => values),
    );
  }
}

export async function overdueJobs(session: Session, now: number, limit: number): Promise<JobId[]> {
  const rows = await session.all<{ job_id: JobId }>(OVERDUE, [now, limit]);
  return [...new Set(rows.map(({ job_id: id }) => id))];
}

export async function anyCancelDue(session: Session, providerId: string, now: number): Promise<boolean> {
  return (await session.all(ANY_CANCEL_DUE, [providerId, now])).length > 0;
}

export async function claimCancels(
  session: Session,
  claim: {
    readonly providerId: string;
    readonly now: number;
    readonly dueAgainAt: number;
    readonly limit: number;
    readonly lock: string;
  },
): Promise<JobAttempt[]> {
  const rows = await session.all<AttemptRow>(FIND_CANCELS + claim.lock, [claim.providerId, claim.now, claim.limit]);
  await session.runEach(
    CANCEL_AGAIN,
    rows.map(({ job_id: jobId, number }) => [claim.dueAgainAt, jobId, number]),
  );
  return rows.map(JOB_ATTEMPTS.fromRow);
}

/** Work that was finished with the call itself took as long as the call. */
export async function renderTimes(
  session: Session,
  providerId: string,
  modelId: string,
  limit: number,
): Promise<number[]> {
  const rows = await session.all<{ ms: number; call_ms: number }>(RENDER_TIMES, [providerId, modelId, limit]);
  return rows.map(({ ms, call_ms: callMs }) => (ms > 0 ? ms : callMs));
}
