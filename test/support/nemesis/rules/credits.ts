import type { LedgerRow } from "../final-state.js";
import { entriesOf, type Entry, type EntryOf, seenIn } from "../history.js";
import { type CheckedRun, grouped, type Violation } from "./rule.js";

/** A balance after so many entries of the ledger. */
interface Balance {
  readonly available: number;
  readonly spent: number;
}

/**
 * Every balance that was read is the sum of the account's first entries, so many that everything acknowledged before
 * is in it, and nothing that was asked for after, and not fewer than an earlier read had.
 */
export function checkCreditReads(run: CheckedRun): Violation[] {
  const rows = grouped(run.final.entries, ({ accountId }) => accountId);
  const histories = grouped(run.history, ({ accountId }) => accountId);
  return [...histories].flatMap(([accountId, history]) => checkAccount(rows.get(accountId) ?? [], history));
}

function checkAccount(rows: readonly LedgerRow[], history: readonly Entry[]): Violation[] {
  const balances = balancesOf(rows);
  const marks = marksOf(rows, history);
  const reads = entriesOf(history, "credits").filter(({ action }) => action.seen !== null);
  const found: Violation[] = [];
  const earlier: { readonly endedAt: number; readonly count: number; readonly read: Entry }[] = [];
  for (const read of [...reads].sort((one, other) => one.invokedAt - other.invokedAt)) {
    const before = earlier.filter(({ endedAt }) => endedAt <= read.invokedAt);
    const least = Math.max(
      0,
      ...before.map(({ count }) => count),
      ...marks.filter(({ isIn, at }) => isIn && at <= read.invokedAt).map(({ seq }) => seq),
    );
    const most = Math.min(
      rows.length,
      ...marks.filter(({ isIn, at }) => !isIn && at >= read.endedAt).map(({ seq }) => seq - 1),
    );
    const count = countOf(balances, read, least, most);
    if (count === null) found.push({ message: messageOf(balances, read, least, most), history: [read] });
    else earlier.push({ endedAt: read.endedAt, count, read });
  }
  return found;
}

/** The balance after 0, 1, 2, … entries. */
function balancesOf(rows: readonly LedgerRow[]): Balance[] {
  const balances: Balance[] = [{ available: 0, spent: 0 }];
  for (const row of rows) {
    const { available, spent } = balances.at(-1) as Balance;
    balances.push({ available: available + row.available, spent: spent + row.spent });
  }
  return balances;
}

/** From this time on (`isIn`) an entry of the ledger is known to be written, or until this time known not to be. */
interface Mark {
  readonly seq: number;
  readonly at: number;
  readonly isIn: boolean;
}

function marksOf(rows: readonly LedgerRow[], history: readonly Entry[]): Mark[] {
  const opened = new Map(rows.filter(({ kind }) => kind === "reserve").map(({ jobId, seq }) => [jobId, seq]));
  const closed = new Map(
    rows.filter(({ kind }) => kind === "charge" || kind === "refund").map(({ jobId, seq }) => [jobId, seq]),
  );
  const granted = new Map(rows.filter(({ kind }) => kind === "grant").map((row) => [row.reference, row.seq]));
  const mark = (seq: number | undefined, at: number, isIn: boolean): Mark[] =>
    seq === undefined ? [] : [{ seq, at, isIn }];
  const ofCreates = [...grouped(entriesOf(history, "create"), ({ action: { key } }) => key).values()].flatMap(
    (asked) => {
      const jobId = asked.find(({ action }) => action.jobId !== null)?.action.jobId ?? null;
      return requested(asked, jobId === null ? undefined : opened.get(jobId), mark);
    },
  );
  const ofGrants = [...grouped(entriesOf(history, "grant"), ({ action: { reference } }) => reference)].flatMap(
    ([reference, asked]) => requested(asked, granted.get(reference), mark),
  );
  const ofEnds = history.flatMap((entry) =>
    seenIn(entry).flatMap(({ id, status }) =>
      status === "completed" || status === "failed" ? mark(closed.get(id), entry.endedAt, true) : [],
    ),
  );
  return [...ofCreates, ...ofGrants, ...ofEnds];
}

/** An entry is not written before the first request for it, and is written when a request has succeeded. */
function requested(
  asked: readonly Entry[],
  seq: number | undefined,
  mark: (seq: number | undefined, at: number, isIn: boolean) => Mark[],
): Mark[] {
  const acknowledged = asked.filter(({ outcome }) => outcome === "ok").map(({ endedAt }) => endedAt);
  return [
    ...mark(seq, Math.min(...asked.map(({ invokedAt }) => invokedAt)), false),
    ...(acknowledged.length === 0 ? [] : mark(seq, Math.min(...acknowledged), true)),
  ];
}

/** The least number of entries that gives this balance; null: none does */
function countOf(
  balances: readonly Balance[],
  { action: { seen } }: EntryOf<"credits">,
  least: number,
  most: number,
): number | null {
  for (let count = least; count <= most; count++) {
    const balance = balances[count];
    if (balance?.available === seen?.available && balance?.spent === seen?.spent) return count;
  }
  return null;
}

function messageOf(balances: readonly Balance[], read: EntryOf<"credits">, least: number, most: number): string {
  const { accountId, action } = read;
  const at = balances.flatMap(({ available, spent }, count) =>
    available === action.seen?.available && spent === action.seen.spent ? [count] : [],
  );
  const where = at.length === 0 ? "it is after no number of entries" : `it is after ${at.join(" or ")} entries`;
  return (
    `${accountId} read ${JSON.stringify(action.seen)}: ${where}, and has to be after ${least} to ${most}, ` +
    `from ${JSON.stringify(balances[least])} to ${JSON.stringify(balances[most])}`
  );
}

/** A grant that was acknowledged is in the ledger once; any other at most once. */
export function checkGrants({ history, final }: CheckedRun): Violation[] {
  return [...grouped(entriesOf(history, "grant"), ({ action: { reference } }) => reference)].flatMap(
    ([reference, asked]) => {
      const rows = final.entries.filter((row) => row.reference === reference);
      const least = asked.some(({ outcome }) => outcome === "ok") ? 1 : 0;
      const amount = asked[0]?.action.amount;
      const isRight = rows.length >= least && rows.length <= 1 && rows.every(({ available }) => available === amount);
      const message = `${reference} of ${amount} is in the ledger ${rows.length} times: ${JSON.stringify(rows)}`;
      return isRight ? [] : [{ message, history: asked }];
    },
  );
}
