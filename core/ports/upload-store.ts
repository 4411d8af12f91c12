import type { AccountId, TrackId } from "../ids.js";
import type { Transaction } from "./unit-of-work.js";

/** A track that an account uploads. */
export interface Upload {
  /** The track that it becomes; its files are stored under this id. */
  readonly trackId: TrackId;
  readonly accountId: AccountId;
  /** Of the uploaded file; as long as it is not stored, what it may have at most. */
  readonly sizeBytes: number;
  /** Milliseconds since 1970, by the storage's clock. */
  readonly createdAt: number;
  /** null until the track exists. */
  readonly storedAt: number | null;
}

/** What is known of an upload once it is a track. */
export interface StoredUpload extends Pick<Upload, "trackId" | "sizeBytes"> {
  readonly storedAt: number;
}

/** What uploads of an account hold together. */
export interface UploadUsage {
  readonly tracks: number;
  readonly bytes: number;
}

/**
 * What accounts uploaded: inserted before the first byte is stored, so that files of an interrupted upload are known.
 */
export interface UploadStore {
  /**
   * What an account's stored uploads hold, and those that began at `begunFrom` or later and are not stored yet. Exact
   * while `tx` holds the account's balance, which is locked before uploads are inserted.
   */
  usageOf(tx: Transaction, accountId: AccountId, begunFrom: number): Promise<UploadUsage>;
  insertUpload(tx: Transaction, upload: Upload): Promise<void>;
  /** @returns false when there is no such upload, or it is stored already */
  markStored(tx: Transaction, stored: StoredUpload): Promise<boolean>;
  /** Deletes an upload that is not stored; one that is stays. */
  deleteUnstored(tx: Transaction, trackId: TrackId): Promise<void>;
  /** Unknown ids are left out. */
  findUploads(trackIds: readonly TrackId[]): Promise<Map<TrackId, Upload>>;
  /** Deletes at most `limit` uploads that began before this moment and were never stored. @returns how many */
  deleteAbandoned(tx: Transaction, begunBefore: number, limit: number): Promise<number>;
}
