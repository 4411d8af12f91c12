import type { EntryKind, LedgerEntry } from "../../../../core/credits/balance.js";
import type { AccountId, JobId } from "../../../../core/ids.js";
import { named, plain, type RowOf, table } from "../table.js";

export const BALANCES = table(
  "balances",
  {
    accountId: plain<AccountId>(),
    monthly: plain<number>(),
    pack: plain<number>(),
    reservedMonthly: plain<number>(),
    reservedPack: plain<number>(),
    spent: plain<number>(),
    runningJobs: plain<number>(),
    ledgerSeq: plain<number>(),
  },
  ["accountId"],
);
export type BalanceRow = RowOf<typeof BALANCES>;

export const LEDGER_ENTRIES = table(
  "ledger_entries",
  {
    accountId: plain<AccountId>(),
    seq: plain<number>(),
    kind: plain<EntryKind>(),
    jobId: plain<JobId | null>(),
    phase: plain<"open" | "close" | null>(),
    monthly: plain<number>(),
    pack: plain<number>(),
    reservedMonthly: plain<number>(),
    reservedPack: plain<number>(),
    spent: plain<number>(),
    reference: named("external_ref", plain<string | null>()),
    createdAt: plain<number>(),
  },
  ["accountId", "seq"],
);
export type LedgerEntryRow = RowOf<typeof LEDGER_ENTRIES>;

/** A job has one entry of each phase. */
const PHASES: Readonly<Record<EntryKind, LedgerEntryRow["phase"]>> = {
  grant: null,
  renew: null,
  expire: null,
  reserve: "open",
  charge: "close",
  refund: "close",
};

export function toLedgerEntryRow(entry: LedgerEntry): LedgerEntryRow {
  return LEDGER_ENTRIES.toRow({ ...entry, phase: PHASES[entry.kind] });
}

export function toLedgerEntry(row: LedgerEntryRow): LedgerEntry {
  const { phase: _phase, ...entry } = LEDGER_ENTRIES.fromRow(row);
  return entry;
}
