import type { AccountId, JobId, PlaylistId, TrackId, WebhookEventId } from "../../../../core/ids.js";
import { erasedError, erasedRequest, wordlessRequest } from "../../../../core/jobs/erased-job.js";
import type { ErasedRows, ErasureStore } from "../../../../core/ports/erasure-store.js";
import type { LibraryStore } from "../../../../core/ports/library-store.js";
import type { Transaction } from "../../../../core/ports/unit-of-work.js";
import type { KnexDatabase } from "../database.js";
import { type JobRow, JOBS, toRequest } from "../jobs/job-tables.js";
import { type PlaylistRow, PLAYLISTS } from "../library/playlist-tables.js";
import { forgetWords } from "../library/search/forget.js";
import { partitionOf } from "../library/search/rows.js";
import { deleteSearchRows } from "../library/search/writes.js";
import { type TrackRow, TRACKS } from "../library/track-tables.js";
import { allOf, deleteFound } from "../rows.js";
import { columnsOf, type Session, sessionOf } from "../session.js";
import { deleteEvents } from "../webhooks/webhook-retention.js";
import { FileQueries } from "./file-queries.js";

const JOB = `SELECT ${columnsOf(JOBS)}, erased_at FROM {jobs} WHERE id = ?`;
const CALLBACKS = "SELECT id FROM {provider_callbacks} WHERE job_id = ?";
const DELETE_CALLBACK = "DELETE FROM {provider_callbacks} WHERE id = ?";
const SOURCES_OF_TRACK = "SELECT job_id FROM {job_sources} WHERE track_id = ?";
const DELETE_SOURCE = "DELETE FROM {job_sources} WHERE job_id = ?";
const DELETE_OUTPUTS = "DELETE FROM {job_outputs} WHERE job_id = ?";
/** What was bought and what it cost stays, for the margin. */
const ERASE_ATTEMPTS =
  "UPDATE {job_attempts} SET handle = NULL, result = NULL, files = NULL, progress = NULL, message = NULL, " +
  "cancel_due_at = NULL WHERE job_id = ?";
const ERASE_JOB =
  "UPDATE {jobs} SET request = ?, shown_request = NULL, error = ?, client = NULL, reference = NULL, " +
  "request_id = NULL, requested_at = NULL, erased_at = ? WHERE id = ?";
/** Of an ended job; what of it is still to be cancelled needs its handle. */
const FORGET_REPORTS = "UPDATE {job_attempts} SET progress = NULL, message = NULL WHERE job_id = ?";
const FORGET_REQUEST = "UPDATE {jobs} SET request = ?, shown_request = NULL, tracks_deleted_at = ? WHERE id = ?";
const TRACKS_OF_JOB = "SELECT id FROM {tracks} WHERE job_id = ?";
const TRACK = `SELECT ${columnsOf(TRACKS)} FROM {tracks} WHERE id = ?`;
const DELETE_OF_TRACK = [
  ...["track_tags", "track_assets", "track_lyrics"].map((table) => `DELETE FROM {${table}} WHERE track_id = ?`),
  "DELETE FROM {tracks} WHERE id = ?",
];
const PLACES_OF_TRACK = "SELECT playlist_id, position FROM {playlist_tracks} WHERE track_id = ?";
const DELETE_PLACE = "DELETE FROM {playlist_tracks} WHERE playlist_id = ? AND position = ?";
const DELETE_UPLOAD = "DELETE FROM {uploads} WHERE track_id = ?";
const PLAYLISTS_OF = `SELECT ${columnsOf(PLAYLISTS)} FROM {playlists} WHERE account_id = ? ORDER BY id LIMIT ?`;
const EVENTS = "SELECT id FROM {webhook_events} WHERE account_id = ? ORDER BY number LIMIT ?";

/** Rows that are found by their account, and deleted by their key. */
const OF_ACCOUNT = {
  keys: { table: "api_keys", key: ["id"] },
  idempotency_records: { table: "idempotency_records", key: ["account_id", "key_hash"] },
  requests: { table: "request_log", key: ["id"] },
  request_counts: {
    table: "request_counts",
    key: ["account_id", "client", "span", "starts_at", "route", "status"],
  },
  credit_sums: { table: "credit_sums", key: ["account_id", "client", "starts_at", "kind"] },
} as const;

/** The tables of searches, with their keys. */
const OF_SEARCHES: readonly (readonly [table: string, key: readonly string[]])[] = [
  ["search_postings", ["shelf", "segment", "term"]],
  ["search_segments", ["shelf", "segment"]],
  ["search_items", ["shelf", "created_at", "item_id"]],
  ["search_loose", ["shelf", "created_at", "item_id"]],
  ["search_due", ["shelf", "item_id"]],
];

type KeyRow = Readonly<Record<string, string | number>>;
type StoredJob = JobRow & { readonly erased_at: number | null };

export class KnexErasureStore extends FileQueries implements ErasureStore {
  constructor(
    database: KnexDatabase,
    private readonly library: Pick<LibraryStore, "deletePlaylist">,
  ) {
    super(database);
  }

  async eraseJobs(tx: Transaction, ids: readonly JobId[], at: number): Promise<number> {
    const session = sessionOf(tx);
    const sorted = [...ids].sort();
    const jobs = await allOf<StoredJob>(session, JOB + this.database.dialect.forUpdate, sorted);
    const left = jobs.filter(({ erased_at: erasedAt }) => erasedAt === null);
    const lists = left.map(({ id }) => [id]);
    const tracks = await session.allEach<{ readonly id: TrackId }>(TRACKS_OF_JOB, lists);
    await this.eraseTracks(
      tx,
      tracks.map(({ id }) => id),
    );
    await deleteCallbacks(session, lists);
    await session.runEach(DELETE_SOURCE, lists);
    await session.runEach(DELETE_OUTPUTS, lists);
    await session.runEach(ERASE_ATTEMPTS, lists);
    const changes = left.map((row) => {
      const request = erasedRequest(toRequest(row));
      const { request: text, error } = { request: JSON.stringify(request), error: erasedError(errorOf(row)) };
      return [text, error === null ? null : JSON.stringify(error), at, row.id];
    });
    await session.runEach(ERASE_JOB, changes);
    return left.length;
  }

  /** The words of private tracks in segments stay until all of the account are deleted as a whole. */
  async eraseTracks(tx: Transaction, ids: readonly TrackId[]): Promise<number> {
    return (await this.eraseRowsOf(tx, ids, ({ visibility }) => visibility === "public")).length;
  }

  async eraseTrack(tx: Transaction, id: TrackId, at: number): Promise<void> {
    const session = sessionOf(tx);
    const tracks = await this.eraseRowsOf(tx, [id], () => true);
    await this.eraseUploads(tx, [id]);
    for (const { job_id: jobId } of tracks) {
      if (jobId === null || (await session.all(TRACKS_OF_JOB, [jobId])).length > 0) continue;
      const [job] = await session.all<StoredJob>(JOB, [jobId]);
      if (job === undefined) continue;
      await session.run(FORGET_REQUEST, [JSON.stringify(wordlessRequest(toRequest(job))), at, jobId]);
      await session.run(FORGET_REPORTS, [jobId]);
      await deleteCallbacks(session, [[jobId]]);
    }
  }

  /** @param forgets whether the words of the track are taken out of the index */
  private async eraseRowsOf(
    tx: Transaction,
    ids: readonly TrackId[],
    forgets: (track: TrackRow) => boolean,
  ): Promise<readonly TrackRow[]> {
    const session = sessionOf(tx);
    const tracks = await allOf<TrackRow>(session, TRACK, [...ids].sort());
    for (const track of tracks) {
      const { id, visibility, account_id: accountId, created_at } = track;
      const partition = partitionOf("tracks", { visibility, accountId });
      if (partition === null) continue;
      const item = { shelf: partition, created_at, item_id: id };
      if (forgets(track)) await forgetWords(session, item, this.database.dialect);
      await deleteSearchRows(session, [item], this.database.dialect);
    }
    const lists = tracks.map(({ id }) => [id]);
    const places = await session.allEach<{ readonly playlist_id: PlaylistId; readonly position: number }>(
      PLACES_OF_TRACK,
      lists,
    );
    await session.runEach(
      DELETE_PLACE,
      places.map(({ playlist_id, position }) => [playlist_id, position]),
    );
    const sources = await session.allEach<{ readonly job_id: JobId }>(SOURCES_OF_TRACK, lists);
    await session.runEach(
      DELETE_SOURCE,
      sources.map(({ job_id: jobId }) => [jobId]),
    );
    for (const text of DELETE_OF_TRACK) await session.runEach(text, lists);
    return tracks;
  }

  async eraseUploads(tx: Transaction, ids: readonly TrackId[]): Promise<number> {
    const counts = await sessionOf(tx).runEach(
      DELETE_UPLOAD,
      ids.map((id) => [id]),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async eraseRows(tx: Transaction, kind: ErasedRows, accountId: AccountId, limit: number): Promise<number> {
    const session = sessionOf(tx);
    if (kind === "playlists") return this.erasePlaylists(tx, accountId, limit);
    if (kind === "search_words") return eraseSearches(session, accountId, limit);
    if (kind === "webhook_events") {
      const events = await session.all<{ readonly id: WebhookEventId }>(EVENTS, [accountId, limit]);
      await deleteEvents(
        session,
        events.map(({ id }) => id),
      );
      return events.length;
    }
    const { table, key } = OF_ACCOUNT[kind];
    return deleteWhere(session, { table, key, where: "account_id = ?" }, accountId, limit);
  }

  private async erasePlaylists(tx: Transaction, accountId: AccountId, limit: number): Promise<number> {
    const session = sessionOf(tx);
    const playlists = await session.all<PlaylistRow>(PLAYLISTS_OF, [accountId, limit]);
    for (const { id, visibility, created_at } of playlists) {
      const partition = partitionOf("playlists", { visibility, accountId }) ?? "";
      const item = { shelf: partition, created_at, item_id: id };
      if (visibility === "public") await forgetWords(session, item, this.database.dialect);
      await this.library.deletePlaylist(tx, id);
    }
    return playlists.length;
  }
}

/** @param lists the id of each job */
async function deleteCallbacks(session: Session, lists: readonly (readonly JobId[])[]): Promise<void> {
  const callbacks = await session.allEach<{ readonly id: string }>(CALLBACKS, lists);
  await session.runEach(
    DELETE_CALLBACK,
    callbacks.map(({ id }) => [id]),
  );
}

/** What is left of searches of the account's private items: the words of segments. */
async function eraseSearches(session: Session, accountId: AccountId, limit: number): Promise<number> {
  let erased = 0;
  for (const kind of ["tracks", "playlists"] as const) {
    const partition = partitionOf(kind, { visibility: "private", accountId }) ?? "";
    for (const [table, key] of OF_SEARCHES) {
      if (erased === limit) return erased;
      erased += await deleteWhere(session, { table, key, where: "shelf = ?" }, partition, limit - erased);
    }
  }
  return erased;
}

interface Deletable {
  readonly table: string;
  readonly key: readonly string[];
  readonly where: string;
}

function deleteWhere(
  session: Session,
  { table, key, where }: Deletable,
  value: string,
  limit: number,
): Promise<number> {
  const find = `SELECT ${key.join(", ")} FROM {${table}} WHERE ${where} LIMIT ?`;
  const remove = `DELETE FROM {${table}} WHERE ${key.map((column) => `${column} = ?`).join(" AND ")}`;
  const keyOf = (row: KeyRow): (string | number)[] => key.map((column) => row[column] as string | number);
  return deleteFound<KeyRow>(session, [find, [value, limit]], remove, keyOf);
}

function errorOf(row: JobRow): ReturnType<typeof JOBS.fromRow>["error"] {
  return JOBS.fromRow(row).error;
}
