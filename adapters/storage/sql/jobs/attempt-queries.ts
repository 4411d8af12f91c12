import type { JobId } from "../../../../core/ids.js";
import type { JobAttempt } from "../../../../core/jobs/job.js";
import type { AttemptUpdate, JobStore, RenderTime } from "../../../../core/ports/job-store.js";
import type { Transaction } from "../../../../core/ports/unit-of-work.js";
import { allIn, groupBy } from "../lists.js";
import { columnsOf, type Session, sessionOf } from "../session.js";
import { type AttemptRow, JOB_ATTEMPTS } from "./attempt-table.js";
import { EndQueries } from "./end-queries.js";

const LIST = (marks: string): string =>
  `SELECT ${columnsOf(JOB_ATTEMPTS)} FROM {job_attempts} WHERE job_id IN (${marks}) ORDER BY job_id, number`;
const OVERDUE = "SELECT job_id FROM {job_attempts} WHERE deadline_at <= ? ORDER BY deadline_at LIMIT ?";
const CANCELS_DUE = "FROM {job_attempts} WHERE provider_id = ? AND cancel_due_at <= ?";
const ANY_CANCEL_DUE = `SELECT 1 ${CANCELS_DUE} LIMIT 1`;
const FIND_CANCELS = `SELECT ${columnsOf(JOB_ATTEMPTS)} ${CANCELS_DUE} ORDER BY cancel_due_at LIMIT ?`;
const CANCEL_AGAIN = "UPDATE {job_attempts} SET cancel_due_at = ? WHERE job_id = ? AND number = ?";
/** Limited before the join: requests are long, and read for these alone. */
const RENDER_TIMES = `SELECT ms, call_ms, JSON_EXTRACT(j.request, '$.durationSeconds') AS length_seconds
  FROM (SELECT job_id, finished_at, finished_at - COALESCE(accepted_at, started_at) AS ms,
    finished_at - started_at AS call_ms
    FROM {job_attempts} WHERE provider_id = ? AND model_id = ? AND finished_at IS NOT NULL ORDER BY finished_at DESC
    LIMIT ?) AS last LEFT JOIN {jobs} AS j ON j.id = last.job_id ORDER BY last.finished_at DESC`;

interface RenderTimeRow {
  readonly ms: number;
  readonly call_ms: number;
  readonly length_seconds: number | string | null;
}

type AttemptMethods =
  | "insertAttempts"
  | "updateAttempts"
  | "attemptsIn"
  | "attemptsOf"
  | "listAttempts"
  | "findOverdueAttempts"
  | "claimCancels"
  | "renderTimes";

/** The attempts of a job store. */
export class AttemptQueries extends EndQueries implements Pick<JobStore, AttemptMethods> {
  async insertAttempts(tx: Transaction, attempts: readonly JobAttempt[]): Promise<void> {
    await sessionOf(tx).insert(JOB_ATTEMPTS, attempts.map(JOB_ATTEMPTS.toRow));
  }

  async updateAttempts(tx: Transaction, updates: readonly AttemptUpdate[]): Promise<void> {
    const rows = updates.flatMap(({ jobId, number, changes }) => {
      const { columns, values } = JOB_ATTEMPTS.changed(changes);
      return columns.length === 0 ? [] : [{ key: [jobId, number], columns, values }];
    });
    await sessionOf(tx).updateRows("job_attempts", ["job_id", "number"], rows);
  }

  attemptsIn(tx: Transaction, jobIds: readonly JobId[]): Promise<Map<JobId, JobAttempt[]>> {
    return attemptsOf(sessionOf(tx), jobIds);
  }

  attemptsOf(jobIds: readonly JobId[]): Promise<Map<JobId, JobAttempt[]>> {
    return this.database.reading((session) => attemptsOf(session, jobIds));
  }

  async listAttempts(jobId: JobId): Promise<JobAttempt[]> {
    return (await this.attemptsOf([jobId])).get(jobId) ?? [];
  }

  async findOverdueAttempts(now: number, limit: number): Promise<JobId[]> {
    const rows = await this.database.reading((session) => session.all<{ job_id: JobId }>(OVERDUE, [now, limit]));
    return [...new Set(rows.map(({ job_id: id }) => id))];
  }

  async claimCancels(providerId: string, now: number, dueAgainAt: number, limit: number): Promise<JobAttempt[]> {
    const due = await this.database.reading((session) => session.all(ANY_CANCEL_DUE, [providerId, now]));
    if (due.length === 0) return [];
    return this.unitOfWork.inTransaction(async (tx) => {
      const session = sessionOf(tx);
      const lock = this.database.dialect.forClaim;
      const rows = await session.all<AttemptRow>(FIND_CANCELS + lock, [providerId, now, limit]);
      const again = rows.map(({ job_id: jobId, number }) => [dueAgainAt, jobId, number]);
      await session.writeEach(CANCEL_AGAIN, again);
      return rows.map(JOB_ATTEMPTS.fromRow);
    });
  }

  /** Work that was finished with the call itself took as long as the call. */
  async renderTimes(providerId: string, modelId: string, limit: number): Promise<RenderTime[]> {
    const values = [providerId, modelId, limit];
    const rows = await this.database.reading((session) => session.all<RenderTimeRow>(RENDER_TIMES, values));
    return rows.map(({ ms, call_ms: callMs, length_seconds: length }) => ({
      ms: ms > 0 ? ms : callMs,
      // An engine may return the JSON itself: `30`, or `null` in four letters.
      lengthSeconds: length === null || length === "null" ? null : Number(length),
    }));
  }
}

export async function attemptsOf(session: Session, jobIds: readonly JobId[]): Promise<Map<JobId, JobAttempt[]>> {
  const rows = await allIn<AttemptRow>(session, LIST, jobIds);
  return groupBy(rows.map(JOB_ATTEMPTS.fromRow), ({ jobId }) => jobId);
}
