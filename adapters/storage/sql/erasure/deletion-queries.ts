import type { AccountId, JobId, PlaylistId, TrackId } from "../../../../core/ids.js";
import type { JobState } from "../../../../core/jobs/job.js";
import type {
  AccountDeletion,
  EndedJob,
  ErasureCursor,
  ErasureStore,
  OwnedTrack,
  PendingDeletion,
} from "../../../../core/ports/erasure-store.js";
import type { Transaction } from "../../../../core/ports/unit-of-work.js";
import type { KnexDatabase } from "../database.js";
import { JOB_STATES, type JobStateRow, toJobState } from "../jobs/job-tables.js";
import { oneOf } from "../rows.js";
import { columnsOf, sessionOf } from "../session.js";
import { json, plain, type RowOf, table } from "../table.js";

const ACCOUNT_DELETIONS = table(
  "account_deletions",
  {
    accountId: plain<AccountId>(),
    requestedAt: plain<number>(),
    erasedAt: plain<number | null>(),
    erased: json<PendingDeletion["erased"]>(),
    place: json<PendingDeletion["place"]>(),
    dueAt: plain<number | null>(),
  },
  ["accountId"],
);
type DeletionRow = RowOf<typeof ACCOUNT_DELETIONS>;

const FIND = `SELECT ${columnsOf(ACCOUNT_DELETIONS)} FROM {account_deletions} WHERE account_id = ?`;
const FIND_DUE = `SELECT ${columnsOf(ACCOUNT_DELETIONS)} FROM {account_deletions} WHERE due_at <= ?
  ORDER BY due_at LIMIT 1`;
const CLAIM = "UPDATE {account_deletions} SET due_at = ? WHERE account_id = ?";
const WRITE =
  "UPDATE {account_deletions} SET erased_at = ?, erased = ?, place = ?, due_at = ? WHERE account_id = ? AND due_at = ?";

/** Those that are not cancelled yet come first. An account has few. */
const LIVE_JOBS = `SELECT ${columnsOf(JOB_STATES)} FROM {jobs} WHERE account_id = ?
  AND status IN ('queued', 'processing') ORDER BY cancel_requested_at IS NOT NULL, id LIMIT ?`;
const ENDED_JOBS = `SELECT j.id, j.status, j.created_at, j.erased_at, EXISTS (SELECT 1 FROM {job_attempts} a
    WHERE a.job_id = j.id AND a.cancel_due_at IS NOT NULL) AS is_busy
  FROM {jobs} j WHERE j.account_id = ? AND j.status = ? AND j.created_at >= ? AND (j.created_at > ? OR j.id > ?)
  ORDER BY j.created_at, j.id LIMIT ?`;
const TRACKS = "SELECT id, job_id FROM {tracks} WHERE account_id = ? AND id > ? ORDER BY id LIMIT ?";
const PLAYLISTS = "SELECT id FROM {playlists} WHERE account_id = ? AND id > ? ORDER BY id LIMIT ?";
const UPLOADS = `SELECT track_id FROM {uploads} WHERE account_id = ? AND (stored_at IS NOT NULL OR created_at < ?)
  LIMIT ?`;
const ANY_UPLOAD = "SELECT 1 FROM {uploads} WHERE account_id = ? LIMIT 1";

interface EndedJobRow {
  readonly id: JobId;
  readonly status: EndedJob["status"];
  readonly created_at: number;
  readonly erased_at: number | null;
  readonly is_busy: number;
}

const BEGINNING = { status: "completed", createdAt: -1, id: "" as JobId } as const;

type Methods =
  | "insertDeletion"
  | "isDeleted"
  | "findDeletion"
  | "claimDeletion"
  | "writeDeletion"
  | "liveJobs"
  | "endedJobs"
  | "listTracks"
  | "listPlaylists"
  | "listUploads"
  | "hasUploads";

/** How far deletions are, and what is to be erased. */
export class DeletionQueries implements Pick<ErasureStore, Methods> {
  constructor(protected readonly database: KnexDatabase) {}

  async insertDeletion(tx: Transaction, deletion: PendingDeletion): Promise<void> {
    await sessionOf(tx).insert(ACCOUNT_DELETIONS, [ACCOUNT_DELETIONS.toRow(deletion)]);
  }

  async isDeleted(tx: Transaction, accountId: AccountId): Promise<boolean> {
    return (await sessionOf(tx).all(FIND, [accountId])).length > 0;
  }

  findDeletion(accountId: AccountId): Promise<AccountDeletion | null> {
    return oneOf(this.database, FIND, [accountId], (row: DeletionRow): AccountDeletion => {
      const { place: _place, dueAt: _dueAt, ...deletion } = ACCOUNT_DELETIONS.fromRow(row);
      return deletion;
    });
  }

  async claimDeletion(tx: Transaction, now: number, until: number): Promise<PendingDeletion | null> {
    const session = sessionOf(tx);
    const [row] = await session.all<DeletionRow>(FIND_DUE + this.database.dialect.forClaim, [now]);
    if (row === undefined) return null;
    await session.run(CLAIM, [until, row.account_id]);
    return { ...ACCOUNT_DELETIONS.fromRow(row), dueAt: until };
  }

  async writeDeletion(tx: Transaction, deletion: PendingDeletion, claimedUntil: number): Promise<boolean> {
    const { account_id, erased_at, erased, place, due_at } = ACCOUNT_DELETIONS.toRow(deletion);
    const values = [erased_at, erased, place, due_at, account_id, claimedUntil];
    return (await sessionOf(tx).run(WRITE, values)) > 0;
  }

  async liveJobs(accountId: AccountId, limit: number): Promise<JobState[]> {
    return (await this.database.all<JobStateRow>(LIVE_JOBS, [accountId, limit])).map(toJobState);
  }

  async endedJobs(accountId: AccountId, after: ErasureCursor | null, limit: number): Promise<EndedJob[]> {
    const { status, createdAt, id } = after ?? BEGINNING;
    const found = await this.endedWith(accountId, status, { createdAt, id }, limit);
    if (status === "failed" || found.length === limit) return found;
    return [...found, ...(await this.endedWith(accountId, "failed", BEGINNING, limit - found.length))];
  }

  async listTracks(accountId: AccountId, after: TrackId | null, limit: number): Promise<OwnedTrack[]> {
    const rows = await this.database.all<{ id: TrackId; job_id: JobId | null }>(TRACKS, [
      accountId,
      after ?? "",
      limit,
    ]);
    return rows.map(({ id, job_id: jobId }) => ({ id, jobId }));
  }

  async listPlaylists(accountId: AccountId, after: PlaylistId | null, limit: number): Promise<PlaylistId[]> {
    const rows = await this.database.all<{ id: PlaylistId }>(PLAYLISTS, [accountId, after ?? "", limit]);
    return rows.map(({ id }) => id);
  }

  async listUploads(accountId: AccountId, begunBefore: number, limit: number): Promise<TrackId[]> {
    const rows = await this.database.all<{ track_id: TrackId }>(UPLOADS, [accountId, begunBefore, limit]);
    return rows.map(({ track_id: id }) => id);
  }

  async hasUploads(accountId: AccountId): Promise<boolean> {
    return (await this.database.all(ANY_UPLOAD, [accountId])).length > 0;
  }

  private async endedWith(
    accountId: AccountId,
    status: EndedJob["status"],
    { createdAt, id }: Pick<ErasureCursor, "createdAt" | "id">,
    limit: number,
  ): Promise<EndedJob[]> {
    const values = [accountId, status, createdAt, createdAt, id, limit];
    const rows = await this.database.all<EndedJobRow>(ENDED_JOBS, values);
    return rows.map((row) => ({
      id: row.id,
      status: row.status,
      createdAt: row.created_at,
      isErased: row.erased_at !== null,
      isBusy: Boolean(row.is_busy),
    }));
  }
}
