import type { AccountId, JobId } from "../ids.js";

/** Credits by bucket; whole numbers. */
export interface Buckets {
  readonly monthly: number;
  readonly pack: number;
}

/**
 * What an account has, as the sum of its ledger entries. `monthly` and `pack` are what is left, reservations already
 * taken out; none of the amounts is ever negative.
 */
export interface Balance extends Buckets {
  readonly accountId: AccountId;
  readonly reservedMonthly: number;
  readonly reservedPack: number;
  readonly spent: number;
  /** Jobs queued or processing. */
  readonly runningJobs: number;
  /** The number of the newest ledger entry; 0 without entries. */
  readonly ledgerSeq: number;
}

/** `opening`: the sum of entries that are archived; it is shown in their place, and never written. */
export type EntryKind = "opening" | "grant" | "renew" | "expire" | "reserve" | "charge" | "refund";

/** One movement of credits. The amounts are changes, and may be negative. */
export interface LedgerEntry {
  readonly accountId: AccountId;
  /** Counts from 1 without gaps, per account; 0 is an `opening`. */
  readonly seq: number;
  readonly kind: EntryKind;
  /** Set on reserve, charge and refund: one `reserve` and one of the other two exist for every settled job. */
  readonly jobId: JobId | null;
  readonly monthly: number;
  readonly pack: number;
  readonly reservedMonthly: number;
  readonly reservedPack: number;
  readonly spent: number;
  /**
   * What the grant is for, in the operator's words (`order 17`), or the account and period of a renewal; null for
   * renewals from before periods were recorded. Unique: a repeated grant or renewal changes nothing.
   */
  readonly reference: string | null;
  readonly createdAt: number;
}

/** An account's balance after a decision, with the entries that lead there. */
export interface Movement {
  readonly after: Balance;
  readonly entries: readonly LedgerEntry[];
}

export function emptyBalance(accountId: AccountId): Balance {
  return {
    accountId,
    monthly: 0,
    pack: 0,
    reservedMonthly: 0,
    reservedPack: 0,
    spent: 0,
    runningJobs: 0,
    ledgerSeq: 0,
  };
}

export function available(balance: Buckets): number {
  return balance.monthly + balance.pack;
}

/** What `post` needs to know of a new entry; amounts not named are 0. */
export type EntryDraft = Pick<LedgerEntry, "kind" | "createdAt"> &
  Partial<Omit<LedgerEntry, "accountId" | "seq" | "kind" | "createdAt">>;

/** The balance after one more entry, and the entry with its number. */
export function post(balance: Balance, draft: EntryDraft): { readonly balance: Balance; readonly entry: LedgerEntry } {
  const entry: LedgerEntry = {
    monthly: 0,
    pack: 0,
    reservedMonthly: 0,
    reservedPack: 0,
    spent: 0,
    jobId: null,
    reference: null,
    ...draft,
    accountId: balance.accountId,
    seq: balance.ledgerSeq + 1,
  };
  const after: Balance = {
    ...balance,
    monthly: balance.monthly + entry.monthly,
    pack: balance.pack + entry.pack,
    reservedMonthly: balance.reservedMonthly + entry.reservedMonthly,
    reservedPack: balance.reservedPack + entry.reservedPack,
    spent: balance.spent + entry.spent,
    ledgerSeq: entry.seq,
  };
  return { balance: after, entry };
}
