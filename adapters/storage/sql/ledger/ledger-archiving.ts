import { assert } from "../../../../core/assert.js";
import type { LedgerEntry } from "../../../../core/credits/balance.js";
import { entryLine } from "../../../../core/credits/entry-line.js";
import type { AccountId } from "../../../../core/ids.js";
import type { ArchivableEntries } from "../../../../core/ports/ledger-archives.js";
import { columnsOf, type Session } from "../session.js";
import { Checksum, NO_CHECKSUM } from "./ledger-checkpoints.js";
import {
  LEDGER_ENTRIES,
  type LedgerEntryRow,
  OPENINGS,
  type OpeningRow,
  toLedgerEntry,
  toLedgerEntryRow,
} from "./ledger-tables.js";
import { OPENING } from "./ledger-walk.js";

const ENTRIES = columnsOf(LEDGER_ENTRIES);
const VERIFIED = "SELECT account_id, seq FROM {ledger_checkpoints} WHERE account_id > ? ORDER BY account_id LIMIT 1";
const VERIFIED_OF = "SELECT account_id, seq FROM {ledger_checkpoints} WHERE account_id = ?";
const NEXT = `SELECT ${ENTRIES} FROM {ledger_entries} WHERE account_id = ? AND seq > ? AND seq <= ?
  ORDER BY seq LIMIT ?`;
const OF_JOB = `SELECT ${ENTRIES} FROM {ledger_entries} WHERE job_id = ?`;
const ENTRY = `SELECT ${ENTRIES} FROM {ledger_entries} WHERE account_id = ? AND seq = ?`;
const REMOVE = "DELETE FROM {ledger_entries} WHERE account_id = ? AND seq = ?";
const REMOVE_OPENING = "DELETE FROM {ledger_openings} WHERE account_id = ?";
const MARK_JOB = "UPDATE {jobs} SET ledger_archived_at = ? WHERE id = ?";

/** Behind the entry `seq` of this account. */
interface Place {
  readonly account: string;
  readonly seq: number;
}

interface VerifiedRow {
  readonly account_id: string;
  readonly seq: number;
}

export async function findArchivable(
  session: Session,
  cursor: string | null,
  before: number,
  limit: number,
): Promise<ArchivableEntries> {
  const place = cursor === null ? { account: "", seq: 0 } : (JSON.parse(cursor) as Place);
  const [verified] =
    place.seq === 0
      ? await session.all<VerifiedRow>(VERIFIED, [place.account])
      : await session.all<VerifiedRow>(VERIFIED_OF, [place.account]);
  if (verified === undefined) return { entries: [], next: null };
  const { account_id: account, seq } = verified;
  const rows = await session.all<LedgerEntryRow>(NEXT, [account, place.seq, seq, limit]);
  const fits = (row: LedgerEntryRow): boolean => row.created_at < before && row.seq <= seq && row.external_ref === null;
  const jobs = await entriesOfJobs(session, rows.filter(fits));
  const entries = rows.filter(fits).flatMap((row) => {
    if (row.job_id === null) return [row];
    // Both entries of a job go together: with the one that settles it.
    const both = jobs.get(row.job_id) ?? [];
    return row.phase === "close" && both.length === 2 && both.every(fits) ? both : [];
  });
  const last = rows.at(-1);
  const isOver = rows.length < limit || last === undefined || last.created_at >= before;
  const next: Place = isOver ? { account, seq: 0 } : { account, seq: last.seq };
  return { entries: entries.map(toLedgerEntry), next: JSON.stringify(next) };
}

async function entriesOfJobs(
  session: Session,
  rows: readonly LedgerEntryRow[],
): Promise<ReadonlyMap<string, readonly LedgerEntryRow[]>> {
  const ids = rows.flatMap(({ phase, job_id: id }) => (phase === "close" && id !== null ? [[id]] : []));
  const found = new Map<string, LedgerEntryRow[]>();
  for (const row of await session.allEach<LedgerEntryRow>(OF_JOB, ids)) {
    if (row.job_id === null) continue;
    const known = found.get(row.job_id);
    if (known === undefined) found.set(row.job_id, [row]);
    else known.push(row);
  }
  return found;
}

/** Entries of one account that the ledger has, as it has them. */
async function storedOf(
  session: Session,
  forUpdate: string,
  account: AccountId,
  entries: readonly LedgerEntry[],
): Promise<LedgerEntry[]> {
  const keys = [...entries].sort((one, other) => one.seq - other.seq).map(({ seq }) => [account, seq]);
  const stored = (await session.allEach<LedgerEntryRow>(ENTRY + forUpdate, keys)).map(toLedgerEntry);
  const given = new Map(entries.map((entry) => [entry.seq, entryLine(entry)]));
  for (const entry of stored)
    if (given.get(entry.seq) !== entryLine(entry))
      throw new Error(`The entry ${entry.seq} of the account ${account} is not as the archive has it.`);
  return stored;
}

export async function fold(
  session: Session,
  forUpdate: string,
  account: AccountId,
  entries: readonly LedgerEntry[],
  now: number,
): Promise<number> {
  const opening = await openingOf(session, forUpdate, account);
  const stored = await storedOf(session, forUpdate, account, entries);
  if (stored.length === 0) return 0;
  await session.runEach(
    REMOVE,
    stored.map(({ seq }) => [account, seq]),
  );
  await session.upsert(OPENINGS, [moved(opening, stored, 1)]);
  await session.runEach(
    MARK_JOB,
    jobsOf(stored).map((id) => [now, id]),
  );
  return stored.length;
}

export async function unfold(
  session: Session,
  forUpdate: string,
  account: AccountId,
  entries: readonly LedgerEntry[],
): Promise<number> {
  const opening = await openingOf(session, forUpdate, account);
  const stored = new Set((await storedOf(session, forUpdate, account, entries)).map(({ seq }) => seq));
  const missing = entries.filter(({ seq }) => !stored.has(seq));
  if (missing.length === 0) return 0;
  const after = moved(opening, missing, -1);
  assert(after.entries >= 0, "an opening has the entries that were archived");
  if (after.entries === 0) {
    assert(after.checksum === NO_CHECKSUM, "what is put back is what was archived");
    await session.run(REMOVE_OPENING, [account]);
  } else await session.upsert(OPENINGS, [after]);
  await session.insert(LEDGER_ENTRIES, missing.map(toLedgerEntryRow));
  await session.runEach(
    MARK_JOB,
    jobsOf(missing).map((id) => [null, id]),
  );
  return missing.length;
}

async function openingOf(session: Session, forUpdate: string, account: AccountId): Promise<OpeningRow> {
  // There is one of every account that has archivable entries; an opening that is not there yet cannot be locked.
  await session.all(VERIFIED_OF + forUpdate, [account]);
  const [row] = await session.all<OpeningRow>(OPENING + forUpdate, [account]);
  if (row !== undefined) return row;
  const nothing = { monthly: 0, pack: 0, reserved_monthly: 0, reserved_pack: 0, spent: 0 };
  return { account_id: account, entries: 0, last_seq: 0, last_at: 0, ...nothing, checksum: NO_CHECKSUM };
}

/** The opening with these entries in addition, or without them. */
function moved(opening: OpeningRow, entries: readonly LedgerEntry[], sign: 1 | -1): OpeningRow {
  const checksum = new Checksum(opening.checksum);
  for (const entry of entries) checksum.add(entry);
  const sum = (amount: "monthly" | "pack" | "reservedMonthly" | "reservedPack" | "spent"): number =>
    sign * entries.reduce((total, entry) => total + entry[amount], 0);
  return {
    account_id: opening.account_id,
    entries: opening.entries + sign * entries.length,
    last_seq: Math.max(opening.last_seq, ...entries.map(({ seq }) => seq)),
    last_at: Math.max(opening.last_at, ...entries.map(({ createdAt }) => createdAt)),
    monthly: opening.monthly + sum("monthly"),
    pack: opening.pack + sum("pack"),
    reserved_monthly: opening.reserved_monthly + sum("reservedMonthly"),
    reserved_pack: opening.reserved_pack + sum("reservedPack"),
    spent: opening.spent + sum("spent"),
    checksum: checksum.toString(),
  };
}

function jobsOf(entries: readonly LedgerEntry[]): string[] {
  return [...new Set(entries.flatMap(({ jobId }) => jobId ?? []))].sort();
}
