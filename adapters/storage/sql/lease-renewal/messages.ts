import type { JobId, ProcessId } from "../../../../core/ids.js";
import type { ClaimedLease } from "../../../../core/ports/lease-renewal.js";
import type { LogFields, Logger } from "../../../../core/ports/logger.js";

/** What another connection to the storage needs. */
export interface StorageAddress {
  /** As `storage.url` has it. */
  readonly url: string;
  /** What the names of its tables begin with; empty in an installation from before there was a prefix. */
  readonly tablePrefix: string;
}

/** The thread's options. */
export interface HeartbeatOrder {
  readonly storage: StorageAddress;
  readonly owner: ProcessId;
  readonly leaseMs: number;
  /** The leases that are renewed already. */
  readonly leases: readonly ClaimedLease[];
  /** When the first of them was claimed, by the clock of the system; 0: unknown, since another thread had them. */
  readonly since: number;
}

export type ToThread =
  /** First come those to forget. */
  | { readonly kind: "leases"; readonly forgotten: readonly ClaimedLease[]; readonly kept: readonly ClaimedLease[] }
  /** The response to a beat. */
  | { readonly kind: "alive" }
  | { readonly kind: "close" };

export type FromThread =
  /** Leases are about to be renewed: does the event loop still respond? */
  | { readonly kind: "beat" }
  | { readonly kind: "lost"; readonly jobId: JobId; readonly fence: number }
  | {
      readonly kind: "log";
      readonly level: Exclude<keyof Logger, "child" | "isDebugEnabled">;
      readonly message: string;
      readonly fields: LogFields;
    };
