import type { Balance, LedgerEntry } from "../credits/balance.js";
import type { AccountId } from "../ids.js";
import type { Transaction } from "./unit-of-work.js";

/** What stands in place of the archived entries of an account: their sums. */
export interface LedgerOpening extends Pick<
  Balance,
  "accountId" | "monthly" | "pack" | "reservedMonthly" | "reservedPack" | "spent"
> {
  readonly entries: number;
  /** No archived entry has a higher number, and none is newer. */
  readonly lastSeq: number;
  readonly lastAt: number;
  /** Of the archived entries, in whichever order: equal sets of entries have equal ones. */
  readonly checksum: string;
}

/** A file with archived entries, complete. */
export interface LedgerArchive {
  /** 1, 2, 3 …, without gaps. */
  readonly number: number;
  /** Its name, without a folder. */
  readonly file: string;
  readonly sha256: string;
  readonly entries: number;
  /** `restoring`: some of its entries are back in the ledger. */
  readonly state: "archived" | "restoring" | "restored";
  readonly createdAt: number;
}

/** Entries of one account that may be archived. */
export interface ArchivableEntries {
  readonly entries: readonly LedgerEntry[];
  /** Where the search goes on, in the store's own form; null: there are no more. */
  readonly next: string | null;
}

/** The part of the ledger's store that takes old entries out of it, and back in. */
export interface LedgerArchives {
  /**
   * The next entries that may be archived: older than `before`, verified, without a reference, and of jobs only where
   * the job is settled and both of its entries are such. Reads at most `limit` entries; may find none of them fit.
   *
   * @param cursor {@link ArchivableEntries.next} of the call before; null begins
   */
  archivable(cursor: string | null, before: number, limit: number): Promise<ArchivableEntries>;

  /**
   * Takes these entries of one account out of the ledger and adds them to the account's opening. Those that are not in
   * the ledger any more were taken out before, and change nothing.
   *
   * @returns how many were taken out
   * @throws {Error} one of them is not as the ledger has it; nothing was changed
   */
  fold(tx: Transaction, accountId: AccountId, entries: readonly LedgerEntry[], now: number): Promise<number>;

  /**
   * Puts these entries of one account back in place of a part of its opening. Those that are in the ledger change
   * nothing.
   *
   * @returns how many were put back
   */
  unfold(tx: Transaction, accountId: AccountId, entries: readonly LedgerEntry[]): Promise<number>;

  /** By account, those behind `after`. */
  listOpenings(after: string, limit: number): Promise<LedgerOpening[]>;

  /** All, by number. */
  listArchives(): Promise<LedgerArchive[]>;

  /** Records an archive, or what became of one. */
  writeArchive(tx: Transaction, archive: LedgerArchive): Promise<void>;

  /** The checksum of these entries and those that have the checksum `onto`; absent: of these alone. */
  checksumOf(entries: readonly LedgerEntry[], onto?: string): string;
}
