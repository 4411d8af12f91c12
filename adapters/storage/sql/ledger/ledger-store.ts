import type { Balance, LedgerEntry, Movement } from "../../../../core/credits/balance.js";
import type { AccountId, JobId } from "../../../../core/ids.js";
import type { LedgerAudit, LedgerPage, LedgerStore } from "../../../../core/ports/ledger-store.js";
import type { ArchivableEntries, LedgerArchive, LedgerOpening } from "../../../../core/ports/ledger-archives.js";
import type { Locked, Transaction, UnitOfWork } from "../../../../core/ports/unit-of-work.js";
import type { KnexDatabase } from "../database.js";
import { auditInThread } from "./audit-thread/start.js";
import { type Auditor, auditLedger } from "./ledger-audit.js";
import { findArchivable, fold, unfold } from "./ledger-archiving.js";
import { Checksum, type CheckpointRow, keepCheckpoints } from "./ledger-checkpoints.js";
import { auditPage } from "./ledger-pages.js";
import {
  type BalanceRow,
  BALANCES,
  type ArchiveRow,
  ARCHIVES,
  LEDGER_ENTRIES,
  type LedgerEntryRow,
  type OpeningRow,
  OPENINGS,
  toLedgerEntry,
  toLedgerEntryRow,
  toOpeningEntry,
} from "./ledger-tables.js";
import { mapIn } from "../lists.js";
import { OPENING } from "./ledger-walk.js";
import { mapOf, oneOf, tryLocked } from "../rows.js";
import { columnsOf, sessionOf } from "../session.js";

const BALANCES_FROM = `SELECT ${columnsOf(BALANCES)} FROM {balances}`;
const FIND_BALANCE = `${BALANCES_FROM} WHERE account_id = ?`;
const FIND_BALANCES = (marks: string): string => `${BALANCES_FROM} WHERE account_id IN (${marks})`;
const FIND_REFERENCE = `SELECT ${columnsOf(LEDGER_ENTRIES)} FROM {ledger_entries} WHERE external_ref = ?`;
const ENTRIES_OF_JOB = `SELECT ${columnsOf(LEDGER_ENTRIES)} FROM {ledger_entries} WHERE job_id = ? ORDER BY seq`;
const LIST_ENTRIES = `SELECT ${columnsOf(LEDGER_ENTRIES)} FROM {ledger_entries} WHERE account_id = ? AND seq < ?
  ORDER BY seq DESC LIMIT ?`;
const LIST_OPENINGS = `SELECT ${columnsOf(OPENINGS)} FROM {ledger_openings} WHERE account_id > ?
  ORDER BY account_id LIMIT ?`;
const LIST_ARCHIVES = `SELECT ${columnsOf(ARCHIVES)} FROM {ledger_archives} ORDER BY number`;

/** Finds a row where there are so many entries that a thread is started sooner than they are read. */
const MANY_ENTRIES = "SELECT seq FROM {ledger_entries} LIMIT 1 OFFSET 10000";

export class KnexLedgerStore implements LedgerStore {
  constructor(
    private readonly database: KnexDatabase,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  lockBalances(tx: Transaction, accountIds: readonly AccountId[]): Promise<Map<AccountId, Balance>> {
    const query = FIND_BALANCE + this.database.dialect.forUpdate;
    return mapOf(sessionOf(tx), query, [...accountIds].sort(), balanceEntry);
  }

  tryLockBalances(tx: Transaction, accountIds: readonly AccountId[]): Promise<Locked<AccountId, Balance>> {
    const { forClaim, usePrimaryKey } = this.database.dialect;
    const query = (marks: string): string => `${BALANCES_FROM}${usePrimaryKey} WHERE account_id IN (${marks})`;
    return tryLocked(sessionOf(tx), { query, forClaim }, accountIds, balanceEntry);
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
    // One view: entries that are archived meanwhile are either listed or in the opening.
    return this.database.snapshot(async (session) => {
      const entries = (await session.all<LedgerEntryRow>(LIST_ENTRIES, values)).map(toLedgerEntry);
      if (entries.length >= limit || before < 1) return entries;
      const [opening] = await session.all<OpeningRow>(OPENING, [accountId]);
      return opening === undefined ? entries : [...entries, toOpeningEntry(OPENINGS.fromRow(opening))];
    });
  }

  async audit(since: string | null = null): Promise<LedgerAudit> {
    const { database } = this;
    const keep = (verified: readonly CheckpointRow[]): Promise<void> => this.keep(verified);
    const { file } = database;
    if (file !== null && (await database.all<{ readonly seq: number }>(MANY_ENTRIES)).length > 0)
      return auditInThread({ file, tablePrefix: database.names.prefix, since }, keep);
    const snapshot: Auditor["snapshot"] = (work) => database.snapshot(work);
    return auditLedger({ snapshot, atOnce: database.dialect.concurrentWriters, keep }, since);
  }

  async auditPage(cursor: string | null, limit: number): Promise<LedgerPage> {
    const page = await this.database.snapshot((session) => auditPage(session, cursor, limit));
    await this.keep(page.verified);
    const { checked, violations, next, resume } = page;
    return { checked, violations, next, resume };
  }

  archivable(cursor: string | null, before: number, limit: number): Promise<ArchivableEntries> {
    return this.database.reading((session) => findArchivable(session, cursor, before, limit));
  }

  fold(tx: Transaction, accountId: AccountId, entries: readonly LedgerEntry[], now: number): Promise<number> {
    return fold(sessionOf(tx), this.database.dialect.forUpdate, accountId, entries, now);
  }

  unfold(tx: Transaction, accountId: AccountId, entries: readonly LedgerEntry[]): Promise<number> {
    return unfold(sessionOf(tx), this.database.dialect.forUpdate, accountId, entries);
  }

  async listOpenings(after: string, limit: number): Promise<LedgerOpening[]> {
    return (await this.database.all<OpeningRow>(LIST_OPENINGS, [after, limit])).map(OPENINGS.fromRow);
  }

  async listArchives(): Promise<LedgerArchive[]> {
    return (await this.database.all<ArchiveRow>(LIST_ARCHIVES)).map(ARCHIVES.fromRow);
  }

  writeArchive(tx: Transaction, archive: LedgerArchive): Promise<void> {
    return sessionOf(tx).upsert(ARCHIVES, [ARCHIVES.toRow(archive)]);
  }

  checksumOf(entries: readonly LedgerEntry[], onto?: string): string {
    const checksum = new Checksum(onto);
    for (const entry of entries) checksum.add(entry);
    return checksum.toString();
  }

  private async keep(verified: readonly CheckpointRow[]): Promise<void> {
    if (verified.length === 0) return;
    const { forUpdate } = this.database.dialect;
    await this.unitOfWork.inTransaction((tx) => keepCheckpoints(sessionOf(tx), forUpdate, verified));
  }
}

function balanceEntry(row: BalanceRow): readonly [AccountId, Balance] {
  return [row.account_id, BALANCES.fromRow(row)];
}
