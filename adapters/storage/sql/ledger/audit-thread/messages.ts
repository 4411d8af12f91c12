import type { LedgerAudit } from "../../../../../core/ports/ledger-store.js";
import type { CheckpointRow } from "../ledger-checkpoints.js";

/** The thread's options. */
export interface AuditOrder {
  /** An SQLite file. */
  readonly file: string;
  readonly tablePrefix: string;
  readonly since: string | null;
}

export type FromAuditThread =
  /** The thread goes on once these are kept. */
  | { readonly kind: "verified"; readonly checkpoints: readonly CheckpointRow[] }
  | { readonly kind: "done"; readonly audit: LedgerAudit }
  | { readonly kind: "failed"; readonly message: string };
