/** What there is after a run in which everything has ended: rows, what the vendor sold, what receivers got. */
export interface FinalState {
  readonly jobs: readonly FinalJob[];
  readonly entries: readonly LedgerRow[];
  readonly purchases: readonly BoughtWork[];
  readonly events: readonly StoredEvent[];
  readonly endpoints: readonly Endpoint[];
  readonly received: readonly ReceivedEvent[];
  /** What was left to do when the time after healing was over. */
  readonly left: readonly string[];
}

export interface FinalJob {
  readonly id: string;
  readonly accountId: string;
  /** The key that it was created with. */
  readonly key: string;
  readonly status: string;
  readonly charged: number;
  /** Milliseconds since 1970, by the storage's clock. */
  readonly createdAt: number;
}

export interface LedgerRow {
  readonly accountId: string;
  /** From 1 on, in the order of the account's entries. */
  readonly seq: number;
  readonly kind: string;
  readonly jobId: string | null;
  readonly reference: string | null;
  /** By how much it changes what is available, and what was spent. */
  readonly available: number;
  readonly spent: number;
}

export interface BoughtWork {
  readonly id: string;
  readonly jobId: string | null;
  /** `lost`: by the vendor itself. */
  readonly state: "queued" | "rendering" | "finished" | "cancelled" | "lost";
  /** Whether all files of its job are those that it made. */
  readonly isDelivered: boolean;
}

export interface StoredEvent {
  readonly id: string;
  readonly jobId: string;
  readonly type: string;
}

export interface Endpoint {
  readonly accountId: string;
  readonly url: string;
}

/** A request that arrived at a receiver. */
export interface ReceivedEvent {
  /** The URL of the endpoint. */
  readonly url: string;
  readonly eventId: string;
  readonly type: string;
  readonly jobId: string;
  readonly jobStatus: string;
  /** Whether it was taken with a 2xx. */
  readonly isTaken: boolean;
}
