import { assert } from "../../../../core/assert.js";
import type { LedgerViolation } from "../../../../core/ports/ledger-store.js";
import type { Session, SqlValue } from "../session.js";
import { type BrokenRow, toViolation } from "./violations.js";
import type { CheckpointRow } from "./ledger-checkpoints.js";
import { AMOUNTS, INVARIANTS, OF_JOBS } from "./ledger-invariants.js";
import type { Begun, Walked } from "./ledger-walk.js";

/** What is checked next: the rows behind `after`, in the order of the primary key. */
export interface Place {
  readonly part: PartName;
  readonly after: string;
  /** In the middle of the entries of an account. */
  readonly begun: Begun | null;
  /** Jobs up to this id were checked by an earlier round. */
  readonly jobsAfter: string;
}

export type PartName = "accounts" | "balances" | "entries" | "jobs" | "new-balances" | "new-entries" | "new-jobs";

export type CheckedKind = "accounts" | "entries" | "jobs";

export interface Checked {
  readonly rows: number;
  readonly violations: readonly LedgerViolation[];
  /** What of the accounts is verified from now on. */
  readonly verified?: readonly CheckpointRow[];
  /** Where the part goes on; null: it is over. */
  readonly next: Pick<Place, "after" | "begun"> | null;
}

export type CheckPart = (session: Session, place: Place, limit: number) => Promise<Checked>;

export interface PagedInvariant {
  readonly name: string;
  readonly query: string;
}

export function named(name: string): PagedInvariant {
  const found = INVARIANTS.find((invariant) => invariant.name === name);
  assert(found !== undefined, "the invariant is one of the audit's");
  return found;
}

/**
 * Invariants of single rows of a table whose key is one column. Their queries read the page in place of the table: it
 * has a LIMIT, so that it is read by the primary key, and nothing else of the table is.
 *
 * @param table with its alias, as the queries name it
 */
export function byKey(
  table: string,
  key: string,
  columns: readonly string[],
  invariants: readonly PagedInvariant[],
): CheckPart {
  const [name = "", alias = ""] = table.split(" ");
  const page = `(SELECT ${columns.join(", ")} FROM {${name}} WHERE ${key} > ? ORDER BY ${key} LIMIT ?)`;
  const queries = onPage(invariants, `{${name}} ${alias}`, `${page} ${alias}`);
  return async (session, { after }, limit) => {
    const [read] = await session.all<{ total: number; last: string | null }>(
      `SELECT COUNT(*) AS total, MAX(${key}) AS last FROM ${page} page`,
      [after, limit],
    );
    assert(read !== undefined, "a count is one row");
    const violations = await check(session, queries, [after, limit]);
    const { total, last } = read;
    return {
      rows: total,
      violations,
      next: last === null || total < limit ? null : { after: last, begun: null },
    };
  };
}

export function onPage(invariants: readonly PagedInvariant[], table: string, page: string): PagedInvariant[] {
  return invariants.map(({ name, query }) => {
    assert(query.split(table).length === 2, "a query reads its table once, under the alias of the page");
    return { name, query: query.replace(table, page) };
  });
}

export async function check(
  session: Session,
  queries: readonly PagedInvariant[],
  values: readonly SqlValue[],
): Promise<LedgerViolation[]> {
  const violations: LedgerViolation[] = [];
  for (const { name, query } of queries) {
    const rows = await session.all<BrokenRow>(query, values);
    violations.push(...rows.map((row) => toViolation(name, row)));
  }
  return violations;
}

/** The columns that the invariants of jobs read. */
export const JOB_COLUMNS = [
  ...["id", "account_id", "kind", "status", "phase", "reserved_monthly", "reserved_pack", "credits_charged"],
  ...["due_at", "lease_owner", "completed_at", "erased_at", "tracks_deleted_at", "ledger_archived_at"],
];

export const JOB_INVARIANTS: readonly PagedInvariant[] = [
  ...OF_JOBS,
  {
    name: "job-is-reserved-and-settled-at-most-once",
    // A LEFT JOIN: it begins at the page, where SQLite would begin at the index of the entries.
    query: `SELECT j.id AS subject, e.phase AS phase, COUNT(*) AS entries FROM {jobs} j
      LEFT JOIN {ledger_entries} e ON e.job_id = j.id GROUP BY j.id, e.phase HAVING COUNT(*) > 1`,
  },
];

/** The columns that the invariants of entries read. */
const ENTRY_COLUMNS = ["account_id", "seq", "kind", "job_id", ...AMOUNTS].join(", ");
const OF_ENTRIES = [named("entry-moves-credits-as-its-kind-says"), named("entry-has-a-job-of-its-account")];
const entriesOn = (where: string): PagedInvariant[] =>
  onPage(OF_ENTRIES, "{ledger_entries} e", `(SELECT ${ENTRY_COLUMNS} FROM {ledger_entries} WHERE ${where}) e`);
export const ON_REST_OF_ACCOUNT = entriesOn("account_id = ? AND seq > ? ORDER BY seq LIMIT ?");
export const ON_NEXT_ACCOUNTS = entriesOn("account_id > ? ORDER BY account_id, seq LIMIT ?");
export const ON_STRETCH = entriesOn("account_id = ? AND seq > ? AND seq <= ?");

/** Nothing counts as verified of the accounts with which something is wrong. @param isWrong by account */
export function withFound(
  { violations, verified, begun }: Walked,
  found: readonly LedgerViolation[],
  isWrong: (account: string) => boolean,
): Pick<Required<Checked>, "violations" | "verified"> & { readonly begun: Begun | null } {
  return {
    violations: [...violations, ...found],
    verified: verified.filter((checkpoint) => !isWrong(checkpoint.account_id)),
    begun: begun !== null && isWrong(begun.account) ? { ...begun, isBroken: true } : begun,
  };
}
