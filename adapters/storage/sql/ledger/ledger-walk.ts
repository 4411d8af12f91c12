import type { LedgerViolation } from "../../../../core/ports/ledger-store.js";
import { columnsOf, type Session, type SqlValue } from "../session.js";
import { toViolation } from "./violations.js";
import { type Amounts, Checksum, CHECKPOINT, type CheckpointRow, NO_CHECKSUM } from "./ledger-checkpoints.js";
import { AMOUNTS } from "./ledger-invariants.js";
import { LEDGER_ENTRIES, type LedgerEntryRow, type OpeningRow, OPENINGS, toLedgerEntry } from "./ledger-tables.js";

/** What was summed up of an account's entries, up to the number `seq`. */
export interface Begun extends Readonly<Amounts> {
  readonly account: string;
  readonly entries: number;
  readonly firstSeq: number;
  readonly seq: number;
  readonly checksum: string;
  /** How many of the entries are archived. */
  readonly archived: number;
  /** Something was found of them: they are not marked as verified. */
  readonly isBroken: boolean;
}

/** The next entries of an account, and what came before them. */
export interface Stretch {
  readonly start: Begun;
  readonly rows: readonly LedgerEntryRow[];
  /** The account has no further entries. */
  readonly isOver: boolean;
}

export interface Walked {
  readonly violations: readonly LedgerViolation[];
  /** What was verified of the accounts that are over. */
  readonly verified: readonly CheckpointRow[];
  /** The account that is not over. */
  readonly begun: Begun | null;
}

interface BalanceRow extends Readonly<Amounts> {
  readonly account_id: string;
  readonly ledger_seq: number;
}

const BALANCE = `SELECT account_id, ${AMOUNTS.join(", ")}, ledger_seq FROM {balances} WHERE account_id = ?`;
const ENTRIES = columnsOf(LEDGER_ENTRIES);
export const REST_OF_ACCOUNT = `SELECT ${ENTRIES} FROM {ledger_entries} WHERE account_id = ? AND seq > ?
  ORDER BY seq LIMIT ?`;
export const OPENING = `SELECT ${columnsOf(OPENINGS)} FROM {ledger_openings} WHERE account_id = ?`;
export const NEXT_ACCOUNTS = `SELECT ${ENTRIES} FROM {ledger_entries} WHERE account_id > ?
  ORDER BY account_id, seq LIMIT ?`;

const NOTHING: Amounts = { monthly: 0, pack: 0, reserved_monthly: 0, reserved_pack: 0, spent: 0 };

/** The archived entries of an account are known as their sums. */
function beginningOf(account: string, opening: OpeningRow | undefined): Begun {
  const begun = { account, seq: 0, isBroken: false };
  if (opening === undefined)
    return { ...begun, ...NOTHING, entries: 0, firstSeq: 0, checksum: NO_CHECKSUM, archived: 0 };
  const { monthly, pack, reserved_monthly, reserved_pack, spent, checksum, entries } = opening;
  const amounts = { monthly, pack, reserved_monthly, reserved_pack, spent };
  return { ...begun, ...amounts, entries, firstSeq: 1, checksum, archived: entries };
}

/** Where the last verification of the account ended. */
export function afterCheckpoint(
  account: string,
  checkpoint: CheckpointRow | null,
  opening: OpeningRow | undefined,
): Begun {
  // More is archived than this checkpoint knows: another one was there meanwhile.
  if (checkpoint === null || (opening?.last_seq ?? 0) > checkpoint.seq) return beginningOf(account, opening);
  const { account_id: _account, seq, checksum, ...amounts } = checkpoint;
  const archived = opening?.entries ?? 0;
  return { account, ...amounts, entries: seq, firstSeq: 1, seq, checksum, archived, isBroken: false };
}

/** Those that there are, by account. */
export async function openingsOf(session: Session, accounts: readonly string[]): Promise<Map<string, OpeningRow>> {
  const rows = await session.allEach<OpeningRow>(
    OPENING,
    accounts.map((account) => [account]),
  );
  return new Map(rows.map((row) => [row.account_id, row]));
}

/** Begins an account again of which entries were archived since. */
export async function withOpening(session: Session, begun: Begun): Promise<Begun> {
  const opening = (await openingsOf(session, [begun.account])).get(begun.account);
  return (opening?.entries ?? 0) === begun.archived ? begun : beginningOf(begun.account, opening);
}

/**
 * The next entries of all accounts, in the order of the key.
 *
 * @param after an account that is over, or the one of `begun`
 */
export async function nextStretches(
  session: Session,
  after: string,
  given: Begun | null,
  limit: number,
): Promise<Stretch[]> {
  const begun = given === null ? null : await withOpening(session, given);
  // Two queries, since no engine reads `(account_id, seq) > (?, ?)` as well by the key.
  const rows =
    begun === null
      ? await session.all<LedgerEntryRow>(NEXT_ACCOUNTS, [after, limit])
      : await session.all<LedgerEntryRow>(REST_OF_ACCOUNT, [begun.account, begun.seq, limit]);
  const byAccount = new Map<string, LedgerEntryRow[]>(begun === null ? [] : [[begun.account, []]]);
  for (const row of rows) {
    const known = byAccount.get(row.account_id);
    if (known === undefined) byAccount.set(row.account_id, [row]);
    else known.push(row);
  }
  const last = rows.length === limit ? rows.at(-1)?.account_id : undefined;
  const openings = await openingsOf(session, [...byAccount.keys()]);
  return [...byAccount].map(([account, ofAccount]) => ({
    start: begun?.account === account ? begun : beginningOf(account, openings.get(account)),
    rows: ofAccount,
    isOver: account !== last,
  }));
}

/**
 * Entries are never changed: what was summed up of the earlier pages of an account holds. With its last page it is what
 * the balance has to be that the same view shows; at the number where an earlier verification ended, it is what that
 * one saw.
 */
export async function walk(session: Session, stretches: readonly Stretch[]): Promise<Walked> {
  const accounts = stretches.map(({ start }) => [start.account] as readonly SqlValue[]);
  const balances = await session.allEach<BalanceRow>(BALANCE, accounts);
  const checkpoints = await session.allEach<CheckpointRow>(CHECKPOINT, accounts);
  const balanceOf = new Map(balances.map((row) => [row.account_id, row]));
  const openings = await openingsOf(
    session,
    stretches.map(({ start }) => start.account),
  );
  const checkpointOf = new Map(checkpoints.map((row) => [row.account_id, row]));
  const violations: LedgerViolation[] = [];
  const verified: CheckpointRow[] = [];
  let begun: Begun | null = null;
  for (const stretch of stretches) {
    const checkpoint = checkpointOf.get(stretch.start.account) ?? null;
    const { sum, changed } = addUp(stretch, checkpoint);
    const lastSeq = Math.max(sum.seq, openings.get(sum.account)?.last_seq ?? 0);
    const found = changed === null ? [] : [changed];
    if (stretch.isOver) found.push(...compare(balanceOf.get(sum.account) ?? null, sum, lastSeq));
    violations.push(...found);
    const isBroken = sum.isBroken || found.length > 0;
    if (!stretch.isOver) begun = { ...sum, isBroken };
    else if (!isBroken && lastSeq > (checkpoint?.seq ?? 0)) verified.push(toCheckpoint(sum, lastSeq));
  }
  return { violations, verified, begun };
}

function addUp(
  { start, rows, isOver }: Stretch,
  checkpoint: CheckpointRow | null,
): { readonly sum: Begun; readonly changed: LedgerViolation | null } {
  const amounts: Amounts = { ...NOTHING };
  for (const name of AMOUNTS) amounts[name] = start[name];
  const checksum = new Checksum(start.checksum);
  let [seq, entries] = [start.seq, start.entries];
  let changed: LedgerViolation | null = null;
  let isCompared = checkpoint === null || start.seq >= checkpoint.seq;
  const compareOnce = (): void => {
    if (isCompared || checkpoint === null) return;
    isCompared = true;
    changed = differenceFrom(checkpoint, amounts, checksum.toString());
  };
  for (const row of rows) {
    if (checkpoint !== null && row.seq > checkpoint.seq) compareOnce();
    for (const name of AMOUNTS) amounts[name] += row[name];
    checksum.add(toLedgerEntry(row));
    seq = row.seq;
    entries += 1;
  }
  if (isOver || seq === checkpoint?.seq) compareOnce();
  const firstSeq = start.entries > 0 ? start.firstSeq : (rows[0]?.seq ?? 0);
  const sum = { ...start, ...amounts, entries, firstSeq, seq, checksum: checksum.toString() };
  return { sum, changed };
}

/** Entries that were verified before are not what they were. */
function differenceFrom(checkpoint: CheckpointRow, amounts: Amounts, checksum: string): LedgerViolation | null {
  if (checksum === checkpoint.checksum && AMOUNTS.every((name) => amounts[name] === checkpoint[name])) return null;
  const differing = AMOUNTS.filter((name) => amounts[name] !== checkpoint[name]);
  const found = differing.flatMap((name) => [
    [name, amounts[name]] as const,
    [`verified_${name}`, checkpoint[name]] as const,
  ]);
  return toViolation("verified-entries-are-unchanged", {
    subject: checkpoint.account_id,
    up_to_number: checkpoint.seq,
    ...Object.fromEntries(found),
    checksum: checksum === checkpoint.checksum ? "same" : "differs",
  });
}

function compare(balance: BalanceRow | null, sum: Begun, seq: number): LedgerViolation[] {
  const violations: LedgerViolation[] = [];
  const { account, entries, firstSeq } = sum;
  const numbers = { entries, first_number: firstSeq, last_number: seq, ledger_seq: balance?.ledger_seq ?? null };
  if (firstSeq !== 1 || seq !== entries || balance?.ledger_seq !== seq)
    violations.push(toViolation("entries-are-numbered-without-gaps", { subject: account, ...numbers }));
  if (balance === null || AMOUNTS.every((name) => balance[name] === sum[name])) return violations;
  const amounts = AMOUNTS.flatMap((name) => [[name, balance[name]] as const, [`entries_${name}`, sum[name]] as const]);
  return [
    ...violations,
    toViolation("balance-equals-sum-of-entries", { subject: account, ...Object.fromEntries(amounts) }),
  ];
}

function toCheckpoint({ account, checksum, ...sum }: Begun, seq: number): CheckpointRow {
  const { monthly, pack, reserved_monthly, reserved_pack, spent } = sum;
  return { account_id: account, seq, monthly, pack, reserved_monthly, reserved_pack, spent, checksum };
}
