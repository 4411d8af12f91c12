import type { EntryKind, LedgerEntry } from "../../../../core/credits/balance.js";
import type { AccountId, JobId } from "../../../../core/ids.js";
import type { LedgerArchive, LedgerOpening } from "../../../../core/ports/ledger-archives.js";
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
  opening: null,
  grant: null,
  renew: null,
  expire: null,
  reserve: "open",
  charge: "close",
  refund: "close",
};

export function toLedgerEntryRow(entry: LedgerEntry): LedgerEntryRow {
  return LEDGER_ENTRIES.toRow({ phase: PHASES[entry.kind], ...entry });
}

export function toLedgerEntry(row: LedgerEntryRow): LedgerEntry {
  const { phase: _phase, ...entry } = LEDGER_ENTRIES.fromRow(row);
  return entry;
}

export const OPENINGS = table(
  "ledger_openings",
  {
    accountId: plain<AccountId>(),
    entries: plain<number>(),
    lastSeq: plain<number>(),
    lastAt: plain<number>(),
    monthly: plain<number>(),
    pack: plain<number>(),
    reservedMonthly: plain<number>(),
    reservedPack: plain<number>(),
    spent: plain<number>(),
    checksum: plain<string>(),
  },
  ["accountId"],
);
export type OpeningRow = RowOf<typeof OPENINGS>;

export const ARCHIVES = table(
  "ledger_archives",
  {
    number: plain<number>(),
    file: plain<string>(),
    sha256: plain<string>(),
    entries: plain<number>(),
    state: plain<LedgerArchive["state"]>(),
    createdAt: plain<number>(),
  },
  ["number"],
);
export type ArchiveRow = RowOf<typeof ARCHIVES>;

/** As it is listed, in place of the entries that it sums up. */
export function toOpeningEntry(opening: LedgerOpening): LedgerEntry {
  const { accountId, monthly, pack, reservedMonthly, reservedPack, spent, lastAt: createdAt } = opening;
  const amounts = { monthly, pack, reservedMonthly, reservedPack, spent };
  return { accountId, seq: 0, kind: "opening", jobId: null, ...amounts, reference: null, createdAt };
}
