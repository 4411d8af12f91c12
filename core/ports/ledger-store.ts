import type { Balance, LedgerEntry, Movement } from "../credits/balance.js";
import type { AccountId, JobId } from "../ids.js";
import type { LedgerArchives } from "./ledger-archives.js";
import type { Locked, Transaction } from "./unit-of-work.js";

/** A row that breaks an invariant of the ledger. */
export interface LedgerViolation {
  /** The invariant's name, kebab-case. */
  readonly invariant: string;
  /** The account or job whose rows break it. */
  readonly subject: string;
  /** What was found, in words. */
  readonly found: string;
}

export interface LedgerAudit {
  readonly checked: { readonly accounts: number; readonly entries: number; readonly jobs: number };
  /** At most 1,000 rows per invariant. */
  readonly violations: readonly LedgerViolation[];
  /** Where the next audit of what is new since begins, in the store's own form. */
  readonly resume: string;
}

/** A part of the ledger that was checked. */
export interface LedgerPage {
  /** Rows. */
  readonly checked: number;
  readonly violations: readonly LedgerViolation[];
  /** Where the next page begins, in the store's own form; null: the ledger was checked to its end. */
  readonly next: string | null;
  /** At the end, where a round of what is new since begins; else null. */
  readonly resume: string | null;
}

/**
 * Append-only record of every credit movement, and the balances it adds up to. Amounts are whole credits.
 * At every instant another transaction can observe, a balance equals the sum of its entries. Selected by `storage.url`.
 */
export interface LedgerStore extends LedgerArchives {
  /**
   * Reads the balances of these accounts, in ascending order of id, and keeps them from changing until `tx` ends, so
   * that two reservations never spend the same credit. Unknown accounts are left out.
   */
  lockBalances(tx: Transaction, accountIds: readonly AccountId[]): Promise<Map<AccountId, Balance>>;

  /** The same without waiting for other transactions. */
  tryLockBalances(tx: Transaction, accountIds: readonly AccountId[]): Promise<Locked<AccountId, Balance>>;

  /** Balances as last committed; unknown accounts are left out. */
  findBalances(accountIds: readonly AccountId[]): Promise<Map<AccountId, Balance>>;

  /** Writes the entries and the balances they lead to, one movement per account. The balances were locked by `tx`. */
  apply(tx: Transaction, movements: readonly Movement[]): Promise<void>;

  /** The entry with this reference, or null. */
  findByReference(tx: Transaction, reference: string): Promise<LedgerEntry | null>;

  /**
   * All entries of a job in order of their numbers: its reservation, then its charge or refund. None where they are
   * archived.
   */
  entriesOfJob(jobId: JobId): Promise<LedgerEntry[]>;

  /**
   * The newest entries of an account, newest first. Last, in place of those that are archived, comes their sum: an
   * `opening` with the number 0.
   *
   * @param before only those with a lower number; all by default
   */
  listEntries(accountId: AccountId, limit: number, before?: number): Promise<LedgerEntry[]>;

  /**
   * Checks the ledger on consistent views of the data, without holding up a writer. Keeps for each account up to which
   * entry it was verified, with the sums and a checksum of these entries.
   *
   * Without `since` it checks every invariant on all rows, and that what was verified before is unchanged. With it, the
   * balances with the live jobs, the entries that no earlier audit has verified, the jobs these are about and those
   * that are new: the sums that were verified, with the new entries, have to be the balances.
   *
   * @param since {@link LedgerAudit.resume} or {@link LedgerPage.resume} of an earlier audit; absent or null: all rows
   */
  audit(since?: string | null): Promise<LedgerAudit>;

  /**
   * Checks the next rows of the accounts, their balances and entries, and the jobs: in as many calls as it takes, what
   * {@link audit} checks of them, each call on one consistent view of the data and as short as `limit` makes it. What
   * is committed meanwhile breaks nothing.
   *
   * @param cursor {@link LedgerPage.next} of the page before, also of another process; {@link LedgerPage.resume} begins
   *   with what is new since; null begins with all rows
   * @param limit how many rows to check at most
   */
  auditPage(cursor: string | null, limit: number): Promise<LedgerPage>;
}
