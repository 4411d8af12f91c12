import type { LedgerEntry } from "./balance.js";

/**
 * A ledger entry as one line of JSON, its members always in this order: what entries are hashed by, so that a change of
 * any of them shows.
 */
export function entryLine(entry: LedgerEntry): string {
  const { accountId, seq, kind, jobId, monthly, pack, reservedMonthly, reservedPack, spent } = entry;
  const amounts = { monthly, pack, reservedMonthly, reservedPack, spent };
  const { reference, createdAt } = entry;
  return JSON.stringify({ accountId, seq, kind, jobId, ...amounts, reference, createdAt });
}
