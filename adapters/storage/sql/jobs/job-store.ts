import type { AccountId, JobId, ProcessId } from "../../../../core/ids.js";
import type { Job, JobKind, JobPhase, JobRequest, JobState, JobStatus, JobSummary } from "../../../../core/jobs/job.js";
import type { ClaimedJob, ClaimRequest, NextDueAt } from "../../../../core/ports/job-claims.js";
import type {
  JobsCursor,
  JobFilter,
  JobReference,
  JobStore,
  JobUpdate,
  ProviderWork,
  ShownJobFilter,
  ShownState,
  ShownSummary,
} from "../../../../core/ports/job-store.js";
import type { Locked, Transaction } from "../../../../core/ports/unit-of-work.js";
import { groupBy, mapIn, marksOf, paddedLists } from "../lists.js";
import { keptOf, mapOf, tryLocked } from "../rows.js";
import { attemptsOf } from "./attempt-queries.js";
import {
  JOB_SOURCES,
  JOB_STATES,
  JOBS,
  type JobRow,
  type JobStateRow,
  toJob,
  toJobRow,
  toJobState,
  toRequest,
  toSourceRows,
} from "./job-tables.js";
import { claim, claimOf, findDue } from "./claims.js";
import { deleteAttempts, deleteRequests } from "./job-retention.js";
import { HELD, RENEW } from "./lease-rows.js";
import { findShownJobs, listShownJobs, newestShownStates } from "./shown-jobs.js";
import { OutputQueries } from "./output-queries.js";
import { lockProvider } from "./provider-health-store.js";
import { columnsOf, type Session, sessionOf, type SqlValue } from "../session.js";
import { fencedUpdate } from "../table.js";
import { addEnded, addEnding } from "../usage/credit-sums.js";

const STATUSES: readonly JobStatus[] = ["queued", "processing", "completed", "failed"];
const ENDED_STATUSES: readonly JobStatus[] = ["completed", "failed"];
/** A waiting job is queued, or processing while a worker prepares its call. */
const WAITING = "AND phase = 'waiting'";
const LIVE_PHASES: readonly JobPhase[] = ["waiting", "submitting", "rendering"];

const FIND = (marks: string): string => `SELECT ${columnsOf(JOBS)} FROM {jobs} WHERE id IN (${marks})`;
const STATES = `SELECT ${columnsOf(JOB_STATES)} FROM {jobs}`;
const LOCK = `${STATES} WHERE id = ?`;
const REQUESTS = (marks: string): string => `SELECT id, request FROM {jobs} WHERE id IN (${marks})`;
const FIND_REFERENCE = `SELECT ${columnsOf(JOBS)} FROM {jobs} WHERE account_id = ? AND reference = ?`;
const COUNT_PHASE =
  "SELECT COUNT(*) AS total FROM (SELECT 1 FROM {jobs} WHERE provider_id = ? AND phase = ? AND due_at IS NOT NULL " +
  "LIMIT ?) AS some";
const COUNT_BEFORE =
  "SELECT COUNT(*) AS total FROM (SELECT 1 FROM {jobs} WHERE provider_id = ? AND phase = 'waiting' AND due_at < ? " +
  "LIMIT ?) AS some";
/** A waiting job whose lease ran out is a lost worker's: it is not in flight, or it could never be claimed again. */
const COUNT_IN_FLIGHT = `SELECT
  (SELECT COUNT(*) FROM {jobs} WHERE provider_id = ? AND phase = 'submitting' AND due_at IS NOT NULL) +
  (SELECT COUNT(*) FROM {jobs} WHERE provider_id = ? AND phase = 'rendering' AND due_at IS NOT NULL) +
  (SELECT COUNT(*) FROM {jobs} WHERE provider_id = ? AND phase = 'waiting' AND due_at > ?
  AND lease_owner IS NOT NULL) AS total`;
/** Not MIN(): MySQL would read all that is due to find the first. */
const NEXT_DUE =
  "SELECT phase, due_at FROM {jobs} WHERE provider_id = ? AND phase = ? AND due_at IS NOT NULL ORDER BY due_at LIMIT 1";

export class KnexJobStore extends OutputQueries implements JobStore {
  async insertJobs(tx: Transaction, jobs: readonly Job[]): Promise<void> {
    const session = sessionOf(tx);
    await session.insert(JOBS, jobs.map(toJobRow));
    await session.insert(JOB_SOURCES, jobs.flatMap(toSourceRows));
    await addEnded(session, this.database.dialect, jobs);
  }

  async findByReferences(tx: Transaction, references: readonly JobReference[]): Promise<Job[]> {
    const lists = references.map(({ accountId, reference }) => [accountId, reference]);
    return (await sessionOf(tx).allEach<JobRow>(FIND_REFERENCE, lists)).map(toJob);
  }

  findJobs(ids: readonly JobId[]): Promise<Map<JobId, Job>> {
    const entryOf = (row: JobRow): [JobId, Job] => [row.id, toJob(row)];
    return this.database.reading((session) => mapIn(session, FIND, ids, entryOf));
  }

  async listJobs(filter: JobFilter): Promise<Job[]> {
    const statuses = filter.status === undefined ? STATUSES : [filter.status];
    const { condition, values } = filterCondition(filter);
    return this.listByStatus(statuses, condition, values, "DESC", filter.limit);
  }

  findShownJobs(ids: readonly JobId[]): Promise<Map<JobId, ShownSummary>> {
    return findShownJobs(this.database, ids);
  }

  listShownJobs(filter: ShownJobFilter): Promise<JobSummary[]> {
    return listShownJobs(this.database, filter);
  }

  newestShownStates(ids: readonly AccountId[], kind: JobKind, limit: number): Promise<Map<AccountId, ShownState[]>> {
    return newestShownStates(this.database, ids, kind, limit);
  }

  async findOverdue(createdBefore: number, limit: number): Promise<JobState[]> {
    return this.listByStatus(["queued", "processing"], `AND created_at < ? ${WAITING}`, [createdBefore], "ASC", limit);
  }

  lockJobs(tx: Transaction, ids: readonly JobId[]): Promise<Map<JobId, JobState>> {
    return mapOf(sessionOf(tx), LOCK + this.database.dialect.forUpdate, [...ids].sort(), stateEntry);
  }

  tryLockJobs(tx: Transaction, ids: readonly JobId[]): Promise<Locked<JobId, JobState>> {
    const { forClaim, usePrimaryKey } = this.database.dialect;
    const query = (marks: string): string => `${STATES}${usePrimaryKey} WHERE id IN (${marks})`;
    return tryLocked(sessionOf(tx), { query, forClaim }, ids, stateEntry);
  }

  requestsOf(tx: Transaction, ids: readonly JobId[]): Promise<Map<JobId, JobRequest>> {
    const entryOf = (row: Pick<JobRow, "id" | "request">): [JobId, JobRequest] => [row.id, toRequest(row)];
    return mapIn(sessionOf(tx), REQUESTS, ids, entryOf);
  }

  async claimJobs(request: ClaimRequest): Promise<ClaimedJob[]> {
    if (request.limit < 1) return [];
    const claimed = new Map<JobId, { readonly fence: number; readonly claim: ClaimedJob }>();
    return this.unitOfWork.inTransaction(async (tx) => {
      const session = sessionOf(tx);
      const kept = await keptOf(session, HELD + this.database.dialect.forClaim, request.owner, claimed);
      if (kept.length > 0) return kept;
      claimed.clear();
      const capacity = await this.capacityFor(session, request);
      const { except = [], leaveOwned = false, withRequests = false, dueFrom = {} } = request;
      const notThese = except.length === 0 ? "" : ` AND id NOT IN (${except.map(() => "?").join(", ")})`;
      const notOwned = leaveOwned ? " AND lease_owner IS NULL" : "";
      const { dialect } = this.database;
      const find = `${findDue(dialect, withRequests)}${notThese}${notOwned} ORDER BY due_at LIMIT ?${dialect.forClaim}`;
      const rows = await session.allEach<JobStateRow | JobRow>(
        find,
        request.phases.map((phase) => {
          const limit = phase === "waiting" ? capacity : request.limit;
          return [request.providerId, phase, dueFrom[phase] ?? 0, request.now, ...except, limit];
        }),
      );
      // Each phase comes in its own order, straight from the index.
      const longestDue = rows.sort((a, b) => (a.due_at ?? 0) - (b.due_at ?? 0)).slice(0, request.limit);
      const tried = await attemptsOf(
        session,
        longestDue.filter(({ phase, attempt }) => phase !== "waiting" || attempt > 0).map(({ id }) => id),
      );
      const claims = longestDue.map((row) => claimOf(row, tried.get(row.id) ?? [], request));
      for (const one of claims) claimed.set(one.job.id, { fence: one.job.fence, claim: one });
      // Most are claimed for the first time, and change alike.
      for (const alike of groupBy(claims, ({ job: { fence, crashes } }) => `${fence} ${crashes}`).values()) {
        const [{ job }] = alike as [ClaimedJob];
        const given = [job.fence, request.owner, request.leaseUntil, job.crashes, job.fence - 1];
        const lists = paddedLists(alike.map((one) => one.job.id));
        for (const ids of lists) await session.writeEach(claim(dialect, marksOf(ids.length)), [[...given, ...ids]]);
      }
      return claims;
    });
  }

  async renewLeases(owner: ProcessId, jobIds: readonly JobId[], leaseUntil: number): Promise<Map<JobId, number>> {
    if (jobIds.length === 0) return new Map();
    const ascending = [...new Set(jobIds)].sort();
    return this.unitOfWork.inTransaction(async (tx) => {
      const session = sessionOf(tx);
      await session.writeEach(
        RENEW,
        ascending.map((id) => [leaseUntil, id, owner]),
      );
      const rows = await session.allEach<Pick<JobRow, "id" | "fence">>(
        HELD,
        ascending.map((id) => [id, owner]),
      );
      return new Map(rows.map((row) => [row.id, row.fence]));
    });
  }

  async updateJobs(tx: Transaction, updates: readonly JobUpdate[]): Promise<number> {
    const session = sessionOf(tx);
    const rows = updates.map((update) => fencedUpdate(JOBS, update));
    const summed = addEnding(session, this.database.dialect, updates);
    return (await Promise.all([session.updateRows("jobs", ["id", "fence"], rows), summed]))[0];
  }

  async nextDueAt(providerId: string): Promise<NextDueAt> {
    const lists = LIVE_PHASES.map((phase) => [providerId, phase]);
    const rows = await this.database.allEach<Pick<JobRow, "phase" | "due_at">>(NEXT_DUE, lists);
    const next = Object.fromEntries(rows.map((row) => [row.phase, row.due_at]));
    return { waiting: null, submitting: null, rendering: null, ...next };
  }

  async waitingSince(providerId: string): Promise<number | null> {
    const [row] = await this.database.all<{ due_at: number }>(NEXT_DUE, [providerId, "waiting"]);
    return row?.due_at ?? null;
  }

  async countAlive(): Promise<Map<string, number>> {
    const ofStatus = `SELECT provider_id, COUNT(*) AS total FROM {jobs}${this.database.dialect.useIndex("jobs_status")}
      WHERE status IN ('queued', 'processing')`;
    const rows = await this.database.reading((session) =>
      session.all<{ provider_id: string; total: number }>(`${ofStatus} GROUP BY provider_id`),
    );
    return new Map(rows.map((row) => [row.provider_id, row.total]));
  }

  async countWork(providerId: string, countMax: number): Promise<ProviderWork> {
    const lists = LIVE_PHASES.map((phase) => [providerId, phase, countMax]);
    const rows = await this.database.reading((session) => session.allEach<{ total: number }>(COUNT_PHASE, lists));
    const [waiting = 0, submitting = 0, rendering = 0] = rows.map(({ total }) => total);
    return { waiting, submitting, rendering };
  }

  async countWaitingBefore(providerId: string, dueAt: number, countMax: number): Promise<number> {
    const values = [providerId, dueAt, countMax];
    const [row] = await this.database.reading((session) => session.all<{ total: number }>(COUNT_BEFORE, values));
    return row?.total ?? 0;
  }

  async listEnded({ createdAt, id }: JobsCursor, createdBefore: number, limit: number): Promise<Job[]> {
    // The first bound is what the index begins at: SQLite makes nothing of the OR.
    const behind = "AND created_at >= ? AND created_at < ? AND (created_at > ? OR (created_at = ? AND id > ?))";
    return this.listByStatus(
      ENDED_STATUSES,
      behind,
      [createdAt, createdBefore, createdAt, createdAt, id],
      "ASC",
      limit,
    );
  }

  deleteRequests(tx: Transaction, createdBefore: number, limit: number): Promise<number> {
    return deleteRequests(sessionOf(tx), this.database.dialect, createdBefore, limit);
  }

  deleteAttempts(tx: Transaction, endedBefore: number, limit: number): Promise<number> {
    return deleteAttempts(sessionOf(tx), this.database.dialect, endedBefore, limit);
  }

  /** How many waiting jobs may be claimed. Under a limit, the claims for one provider run one after another. */
  private async capacityFor(
    session: Session,
    { providerId, phases, limit, now, maxInFlight = null }: ClaimRequest,
  ): Promise<number> {
    if (maxInFlight === null || !phases.includes("waiting")) return limit;
    await lockProvider(session, this.database.dialect, providerId);
    const [found] = await session.all<{ total: number }>(COUNT_IN_FLIGHT, [providerId, providerId, providerId, now]);
    return Math.min(limit, Math.max(0, maxInFlight - (found?.total ?? 0)));
  }

  /**
   * The first of each status straight from an index that begins with it, then the first of all: with the status in the
   * index, a rare one is found as fast as a common one.
   */
  private async listByStatus(
    statuses: readonly JobStatus[],
    condition: string,
    values: readonly SqlValue[],
    direction: "ASC" | "DESC",
    limit: number,
  ): Promise<Job[]> {
    const order = `ORDER BY created_at ${direction}, id ${direction}`;
    const ofOneStatus = `SELECT * FROM (SELECT id, created_at FROM {jobs} WHERE status = ? ${condition} ${order}
      LIMIT ?) AS part`;
    const ofAll = `${statuses.map(() => ofOneStatus).join(" UNION ALL ")} ${order} LIMIT ?`;
    const text = `SELECT ${columnsOf(JOBS)} FROM {jobs} WHERE id IN (SELECT id FROM (${ofAll}) AS first_ids) ${order}`;
    const bound = [...statuses.flatMap((status) => [status, ...values, limit]), limit];
    const rows = await this.database.reading((session) => session.all<JobRow>(text, bound));
    return rows.map(toJob);
  }
}

function filterCondition(filter: JobFilter): { readonly condition: string; readonly values: readonly SqlValue[] } {
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  if (filter.accountId !== undefined) {
    conditions.push("AND account_id = ?");
    values.push(filter.accountId);
  }
  if (filter.kind !== undefined) {
    conditions.push("AND kind = ?");
    values.push(filter.kind);
  }
  if (filter.providerId !== undefined) {
    conditions.push("AND provider_id = ?");
    values.push(filter.providerId);
  }
  if (filter.after !== undefined) {
    const { createdAt, id } = filter.after;
    // The first bound is what the index begins at: SQLite makes nothing of the OR.
    conditions.push("AND created_at <= ? AND (created_at < ? OR id < ?)");
    values.push(createdAt, createdAt, id);
  }
  return { condition: conditions.join(" "), values };
}

function stateEntry(row: JobStateRow): readonly [JobId, JobState] {
  return [row.id, toJobState(row)];
}
