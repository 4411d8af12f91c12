import type { Balance, LedgerEntry, Movement } from "../../../../core/credits/balance.js";
import type { AccountId, JobId } from "../../../../core/ids.js";
import type { LedgerAudit, LedgerPage, LedgerStore } from "../../../../core/ports/ledger-store.js";
import type { Locked, Transaction } from "../../../../core/ports/unit-of-work.js";
import type { KnexDatabase } from "../database.js";
import { auditLedger } from "./ledger-audit.js";
import { auditPage } from "./ledger-pages.js";
import {
  type BalanceRow,
  BALANCES,
  LEDGER_ENTRIES,
  type LedgerEntryRow,
  toLedgerEntry,
  toLedgerEntryRow,
} from "./ledger-tables.js";
import { mapIn } from "../lists.js";
import { mapOf, oneOf, tryLocked } from "../rows.js";
import { columnsOf, sessionOf } from "../session.js";

const FIND_BALANCE = `SELECT ${columnsOf(BALANCES)} FROM {balances} WHERE account_id = ?`;
const FIND_BALANCES = (marks: string): string =>
  `SELECT ${columnsOf(BALANCES)} FROM {balances} WHERE account_id IN (${marks})`;
const FIND_REFERENCE = `SELECT ${columnsOf(LEDGER_ENTRIES)} FROM {ledger_entries} WHERE external_ref = ?`;
const ENTRIES_OF_JOB = `SELECT ${columnsOf(LEDGER_ENTRIES)} FROM {ledger_entries} WHERE job_id = ? ORDER BY seq`;
const LIST_ENTRIES = `SELECT ${columnsOf(LEDGER_ENTRIES)} FROM {ledger_entries} WHERE account_id = ? AND seq < ?
  ORDER BY seq DESC LIMIT ?`;

export class KnexLedgerStore implements LedgerStore {
  constructor(private readonly database: KnexDatabase) {}

  lockBalances(tx: Transaction, accountIds: readonly AccountId[]): Promise<Map<AccountId, Balance>> {
    const query = FIND_BALANCE + this.database.dialect.forUpdate;
    return mapOf(sessionOf(tx), query, [...accountIds].sort(), balanceEntry);
  }

  tryLockBalances(tx: Transaction, accountIds: readonly AccountId[]): Promise<Locked<AccountId, Balance>> {
    const { forClaim } = this.database.dialect;
    return tryLocked(sessionOf(tx), { query: FIND_BALANCE, forClaim }, accountIds, balanceEntry);
  }

  findBalances(accountIds: readonly AccountId[]): Promise<Map<AccountId, Balance>> {
    return this.database.reading((session) => mapIn(session, FIND_BALANCES, accountIds, balanceEntry));
  }

  async apply(tx: Transaction, movements: readonly Movement[]): Promise<void> {
    const session = sessionOf(tx);
    await session.insert(
      LEDGER_ENTRIES,
      movements.flatMap((movement) => movement.entries.map(toLedgerEntryRow)),
    );
    // The rows are locked, so absolute values are safe; were they not, an entry's number would have been taken above.
    await session.upsert(
      BALANCES,
      movements.map((movement) => BALANCES.toRow(movement.after)),
    );
  }

  findByReference(tx: Transaction, reference: string): Promise<LedgerEntry | null> {
    return oneOf(sessionOf(tx), FIND_REFERENCE, [reference], toLedgerEntry);
  }

  async entriesOfJob(jobId: JobId): Promise<LedgerEntry[]> {
    const rows = await this.database.reading((session) => session.all<LedgerEntryRow>(ENTRIES_OF_JOB, [jobId]));
    return rows.map(toLedgerEntry);
  }

  async listEntries(accountId: AccountId, limit: number, before = Number.MAX_SAFE_INTEGER): Promise<LedgerEntry[]> {
    const values = [accountId, before, limit];
    const rows = await this.database.reading((session) => session.all<LedgerEntryRow>(LIST_ENTRIES, values));
    return rows.map(toLedgerEntry);
  }

  audit(): Promise<LedgerAudit> {
    return auditLedger((work) => this.database.snapshot(work), this.database.dialect.concurrentWriters);
  }

  auditPage(cursor: string | null, limit: number): Promise<LedgerPage> {
    return this.database.snapshot((session) => auditPage(session, cursor, limit));
  }
}

function balanceEntry(row: BalanceRow): readonly [AccountId, Balance] {
  return [row.account_id, BALANCES.fromRow(row)];
}
