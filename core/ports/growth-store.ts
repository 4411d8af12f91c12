/** What is deleted once its time is over, by the setting of its retention. */
export const RETAINED_KINDS = [
  "idempotency_records",
  "webhook_events",
  "provider_callbacks",
  "request_log",
  "request_counts",
  "credit_sums",
  "job_requests",
  "job_attempts",
] as const;

export type RetainedKind = (typeof RETAINED_KINDS)[number];

export interface TableSize {
  /** Without the storage's prefix. */
  readonly name: string;
  readonly rows: number;
  /** With its indexes; null where the storage does not say. */
  readonly bytes: number | null;
  /** Rows that came at or after a moment and are there yet; null where rows do not say when they came. */
  readonly newRows: number | null;
}

export interface TableSizes {
  /** By name. */
  readonly tables: readonly TableSize[];
  /** Rows are the storage's own estimates, and not counted. */
  readonly areRowsEstimated: boolean;
}

export interface StorageSize {
  /** Of the whole storage; null where it does not say. */
  readonly bytes: number | null;
  /** How much of that is free, and used again by what comes; null where it does not say. */
  readonly freeBytes: number | null;
}

/** What is past its time and not deleted yet. */
export interface DueRows {
  readonly rows: number;
  /** When the oldest of it began to age: created, received, ended, or for an idempotency record expired. */
  readonly oldestAt: number | null;
}

/** How large a storage is, how fast it grows, and what of it is past its time. Selected by `storage.url`. */
export interface GrowthStore {
  /**
   * All tables. May read for seconds in a large storage: for operators, not for requests. Holds up no writer.
   *
   * @param since for {@link TableSize.newRows}
   */
  tableSizes(since: number): Promise<TableSizes>;
  /** Read in a moment. */
  size(): Promise<StorageSize>;
  /**
   * What of this kind began to age before a moment and is to be deleted. Rows beyond `countMax`, at least 1, are not
   * counted. One indexed read.
   */
  due(kind: RetainedKind, before: number, countMax: number): Promise<DueRows>;
}
