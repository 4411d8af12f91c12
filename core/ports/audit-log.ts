import type { AuditAction, AuditHead, AuditRecord } from "./audit-record.js";
import type { AccountId, AuditRecordId } from "../ids.js";
import type { Transaction } from "./unit-of-work.js";

export interface AuditFilter {
  /** From this moment on, in milliseconds since 1970. */
  readonly since?: number;
  readonly accountId?: AccountId;
  readonly action?: AuditAction;
  /** Only those with a lower number. */
  readonly before?: number;
  readonly limit: number;
}

/**
 * The records of operators' actions. It only grows: nothing here changes or deletes a record. Selected by
 * `storage.url`.
 */
export interface AuditLog {
  /**
   * Reads the end of the chain and keeps it until `tx` ends: other writers wait. It is the last lock that a transaction
   * takes.
   */
  lockHead(tx: Transaction): Promise<AuditHead>;
  /** Whether this record was appended, as this `tx` sees it. */
  has(tx: Transaction, id: AuditRecordId): Promise<boolean>;
  /** Appends the record that follows the end that was locked in this `tx`. */
  append(tx: Transaction, record: AuditRecord): Promise<void>;
  /** The end of the chain as it was last appended to. */
  findHead(): Promise<AuditHead>;
  /** Newest first. */
  list(filter: AuditFilter): Promise<AuditRecord[]>;
  /** At most `limit` records with numbers above `number`, in their order, as they are stored. */
  page(number: number, limit: number): Promise<AuditRecord[]>;
}
