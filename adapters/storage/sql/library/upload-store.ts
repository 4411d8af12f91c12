import type { AccountId, TrackId } from "../../../../core/ids.js";
import type { Transaction } from "../../../../core/ports/unit-of-work.js";
import type { StoredUpload, Upload, UploadStore, UploadUsage } from "../../../../core/ports/upload-store.js";
import type { KnexDatabase } from "../database.js";
import { allIn } from "../lists.js";
import { deleteFound } from "../rows.js";
import { columnsOf, sessionOf } from "../session.js";
import { plain, type RowOf, table } from "../table.js";

const UPLOADS = table(
  "uploads",
  {
    trackId: plain<TrackId>(),
    accountId: plain<AccountId>(),
    sizeBytes: plain<number>(),
    createdAt: plain<number>(),
    /** null until the track exists. */
    storedAt: plain<number | null>(),
  },
  ["trackId"],
);
type UploadRow = RowOf<typeof UPLOADS>;

const USAGE =
  "SELECT COUNT(*) AS tracks, SUM(size_bytes) AS bytes FROM {uploads} " +
  "WHERE account_id = ? AND (stored_at IS NOT NULL OR created_at >= ?)";
const STORE = "UPDATE {uploads} SET size_bytes = ?, stored_at = ? WHERE track_id = ? AND stored_at IS NULL";
const DELETE_UNSTORED = "DELETE FROM {uploads} WHERE track_id = ? AND stored_at IS NULL";
const FIND = (marks: string): string => `SELECT ${columnsOf(UPLOADS)} FROM {uploads} WHERE track_id IN (${marks})`;
const FIND_ABANDONED =
  "SELECT track_id FROM {uploads} WHERE stored_at IS NULL AND created_at < ? ORDER BY created_at LIMIT ?";

export class KnexUploadStore implements UploadStore {
  constructor(private readonly database: KnexDatabase) {}

  async usageOf(tx: Transaction, accountId: AccountId, begunFrom: number): Promise<UploadUsage> {
    const [row] = await sessionOf(tx).all<{ tracks: number; bytes: number | string | null }>(USAGE, [
      accountId,
      begunFrom,
    ]);
    // MySQL gives a sum as the text of a decimal.
    return { tracks: row?.tracks ?? 0, bytes: Number(row?.bytes ?? 0) };
  }

  async insertUpload(tx: Transaction, upload: Upload): Promise<void> {
    await sessionOf(tx).insert(UPLOADS, [UPLOADS.toRow(upload)]);
  }

  async markStored(tx: Transaction, { trackId, sizeBytes, storedAt }: StoredUpload): Promise<boolean> {
    return (await sessionOf(tx).run(STORE, [sizeBytes, storedAt, trackId])) > 0;
  }

  async deleteUnstored(tx: Transaction, trackId: TrackId): Promise<void> {
    await sessionOf(tx).run(DELETE_UNSTORED, [trackId]);
  }

  async findUploads(trackIds: readonly TrackId[]): Promise<Map<TrackId, Upload>> {
    const rows = await this.database.reading((session) => allIn<UploadRow>(session, FIND, trackIds));
    return new Map(rows.map((row) => [row.track_id, UPLOADS.fromRow(row)]));
  }

  deleteAbandoned(tx: Transaction, begunBefore: number, limit: number): Promise<number> {
    const keyOf = (row: Pick<UploadRow, "track_id">): string[] => [row.track_id];
    return deleteFound(sessionOf(tx), [FIND_ABANDONED, [begunBefore, limit]], DELETE_UNSTORED, keyOf);
  }
}
