import { assert } from "../../../../core/assert.js";
import type { LedgerPage, LedgerViolation } from "../../../../core/ports/ledger-store.js";
import type { Session, SqlValue } from "../session.js";
import { type BrokenRow, toViolation } from "./ledger-audit.js";
import { AMOUNTS, INVARIANTS, OF_JOBS } from "./ledger-invariants.js";

type Amounts = Readonly<Record<(typeof AMOUNTS)[number], number>>;

/** What was summed up of an account's entries, up to the number `seq`. */
interface Begun extends Amounts {
  readonly entries: number;
  readonly firstSeq: number;
  readonly seq: number;
}

/** What is checked next: the rows behind `after`, in the order of the primary key. */
interface Place {
  readonly part: "accounts" | "balances" | "entries" | "jobs";
  readonly after: string;
  /** In the middle of the entries of the account `after`. */
  readonly begun: Begun | null;
}

interface Checked {
  readonly rows: number;
  readonly violations: readonly LedgerViolation[];
  /** null: the part is over. */
  readonly next: Place | null;
}

type CheckPart = (session: Session, place: Place, limit: number) => Promise<Checked>;

/**
 * Checks the next rows of the accounts, balances, entries and jobs by the invariants of `INVARIANTS` that are about
 * them, on one view of the data.
 *
 * @param cursor `next` of the page before; null begins
 * @param limit how many rows to check at most
 */
export async function auditPage(session: Session, cursor: string | null, limit: number): Promise<LedgerPage> {
  const place = placeOf(cursor);
  const { rows, violations, next } = await PARTS[place.part](session, place, limit);
  const order = Object.keys(PARTS) as Place["part"][];
  const following = order[order.indexOf(place.part) + 1];
  const then = next ?? (following === undefined ? null : startOf(following));
  return { checked: rows, violations, next: then === null ? null : JSON.stringify(then) };
}

const PARTS: Readonly<Record<Place["part"], CheckPart>> = {
  accounts: byKey("accounts", "accounts a", "id", ["id"], [named("account-has-balance")]),
  balances: smaller(
    byKey(
      "balances",
      "balances b",
      "account_id",
      ["account_id", ...AMOUNTS, "running_jobs", "ledger_seq"],
      [
        named("balance-has-account"),
        named("balance-is-not-negative"),
        {
          name: "running-jobs-are-the-live-jobs",
          query: `SELECT account_id AS subject, running_jobs, live_jobs FROM (SELECT b.account_id, b.running_jobs,
        (SELECT COUNT(*) FROM {jobs} j WHERE j.account_id = b.account_id AND j.status IN ('queued', 'processing'))
          AS live_jobs FROM {balances} b) counted WHERE running_jobs <> live_jobs`,
        },
        {
          name: "reserved-is-what-live-jobs-hold",
          query: `SELECT account_id AS subject, reserved_monthly, jobs_monthly, reserved_pack, jobs_pack
        FROM (SELECT b.account_id, b.reserved_monthly, b.reserved_pack, ${["monthly", "pack"]
          .map(
            (bucket) => `(SELECT COALESCE(SUM(j.reserved_${bucket}), 0) FROM {jobs} j
              WHERE j.account_id = b.account_id AND j.status IN ('queued', 'processing')) AS jobs_${bucket}`,
          )
          .join(", ")} FROM {balances} b) summed
        WHERE reserved_monthly <> jobs_monthly OR reserved_pack <> jobs_pack`,
        },
        // The sums of entries are checked by the entries; an account without any is not among them.
        {
          name: "balance-equals-sum-of-entries",
          query: `SELECT b.account_id AS subject, ${AMOUNTS.map((name) => `b.${name}`).join(", ")}, 0 AS entries
        FROM {balances} b WHERE (${AMOUNTS.map((name) => `b.${name} <> 0`).join(" OR ")})
        AND NOT EXISTS (SELECT 1 FROM {ledger_entries} e WHERE e.account_id = b.account_id)`,
        },
        {
          name: "entries-are-numbered-without-gaps",
          query: `SELECT b.account_id AS subject, 0 AS entries, b.ledger_seq FROM {balances} b
        WHERE b.ledger_seq <> 0
        AND NOT EXISTS (SELECT 1 FROM {ledger_entries} e WHERE e.account_id = b.account_id)`,
        },
      ],
    ),
  ),
  entries: checkEntries,
  jobs: byKey(
    "jobs",
    "jobs j",
    "id",
    [
      ...["id", "account_id", "kind", "status", "phase", "reserved_monthly", "reserved_pack", "credits_charged"],
      ...["due_at", "lease_owner", "completed_at", "erased_at", "tracks_deleted_at"],
    ],
    [
      ...OF_JOBS,
      {
        name: "job-is-reserved-and-settled-at-most-once",
        // A LEFT JOIN: it begins at the page, where SQLite would begin at the index of the entries.
        query: `SELECT j.id AS subject, e.phase AS phase, COUNT(*) AS entries FROM {jobs} j
          LEFT JOIN {ledger_entries} e ON e.job_id = j.id GROUP BY j.id, e.phase HAVING COUNT(*) > 1`,
      },
    ],
  ),
};

interface PagedInvariant {
  readonly name: string;
  readonly query: string;
}

function named(name: string): PagedInvariant {
  const found = INVARIANTS.find((invariant) => invariant.name === name);
  assert(found !== undefined, "the invariant is one of the audit's");
  return found;
}

/** One that another version wrote, which has other parts, begins again. */
function placeOf(cursor: string | null): Place {
  const place = cursor === null ? startOf("accounts") : (JSON.parse(cursor) as Place);
  return Object.hasOwn(PARTS, place.part) ? place : startOf("accounts");
}

function startOf(part: Place["part"]): Place {
  return { part, after: "", begun: null };
}

/**
 * Invariants of single rows of a table whose key is one column. Their queries read the page in place of the table: it
 * has a LIMIT, so that it is read by the primary key, and nothing else of the table is.
 *
 * @param table with its alias, as the queries name it
 */
function byKey(
  part: Place["part"],
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
      next: last === null || total < limit ? null : { part, after: last, begun: null },
    };
  };
}

/** Of balances each is compared with all live jobs of its account. */
function smaller(part: CheckPart): CheckPart {
  return (session, place, limit) => part(session, place, Math.ceil(limit / 10));
}

function onPage(invariants: readonly PagedInvariant[], table: string, page: string): PagedInvariant[] {
  return invariants.map(({ name, query }) => {
    assert(query.split(table).length === 2, "a query reads its table once, under the alias of the page");
    return { name, query: query.replace(table, page) };
  });
}

async function check(
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

const ENTRY_COLUMNS = ["account_id", "seq", "kind", "job_id", ...AMOUNTS].join(", ");
/** Two pages, since no engine reads `(account_id, seq) > (?, ?)` as well by the key. */
const REST_OF_ACCOUNT = `(SELECT ${ENTRY_COLUMNS} FROM {ledger_entries} WHERE account_id = ? AND seq > ?
  ORDER BY seq LIMIT ?)`;
const NEXT_ACCOUNTS = `(SELECT ${ENTRY_COLUMNS} FROM {ledger_entries} WHERE account_id > ?
  ORDER BY account_id, seq LIMIT ?)`;

interface SumRow extends Amounts {
  readonly account_id: string;
  readonly entries: number;
  readonly first_seq: number;
  readonly last_seq: number;
}

const BALANCE = `SELECT account_id, ${AMOUNTS.join(", ")}, ledger_seq FROM {balances} WHERE account_id = ?`;

/**
 * Entries are never changed: what was summed up of the earlier pages of an account holds, and with its last page it is
 * what the balance has to be that the same view shows.
 */
async function checkEntries(session: Session, { after, begun }: Place, limit: number): Promise<Checked> {
  const page = begun === null ? NEXT_ACCOUNTS : REST_OF_ACCOUNT;
  const values = begun === null ? [after, limit] : [after, begun.seq, limit];
  const rows = await session.all<SumRow>(
    `SELECT account_id, COUNT(*) AS entries, MIN(seq) AS first_seq, MAX(seq) AS last_seq,
      ${AMOUNTS.map((name) => `SUM(${name}) AS ${name}`).join(", ")}
      FROM ${page} e GROUP BY account_id ORDER BY account_id`,
    values,
  );
  const violations = await check(session, onPage(OF_ENTRIES, "{ledger_entries} e", `${page} e`), values);
  const total = rows.reduce((sum, { entries }) => sum + Number(entries), 0);
  const sums = new Map(rows.map((row) => [row.account_id, joined(null, row)]));
  if (begun !== null) sums.set(after, joined(begun, rows[0] ?? null));
  const last = [...sums.keys()].at(-1);
  const isFull = total === limit;
  for (const [account, sum] of sums)
    if (!isFull || account !== last) violations.push(...(await compare(session, account, sum)));
  if (isFull && last !== undefined)
    return { rows: total, violations, next: { part: "entries", after: last, begun: sums.get(last) ?? null } };
  return { rows: total, violations, next: begun === null ? null : { part: "entries", after, begun: null } };
}

const OF_ENTRIES = [named("entry-moves-credits-as-its-kind-says"), named("entry-has-a-job-of-its-account")];

function joined(begun: Begun | null, row: SumRow | null): Begun {
  const sum = (name: (typeof AMOUNTS)[number]): number => (begun?.[name] ?? 0) + Number(row?.[name] ?? 0);
  return {
    monthly: sum("monthly"),
    pack: sum("pack"),
    reserved_monthly: sum("reserved_monthly"),
    reserved_pack: sum("reserved_pack"),
    spent: sum("spent"),
    entries: (begun?.entries ?? 0) + Number(row?.entries ?? 0),
    firstSeq: begun?.firstSeq ?? row?.first_seq ?? 0,
    seq: row?.last_seq ?? begun?.seq ?? 0,
  };
}

async function compare(session: Session, account: string, sum: Begun): Promise<LedgerViolation[]> {
  const [balance] = await session.all<Amounts & { readonly ledger_seq: number }>(BALANCE, [account]);
  const violations: LedgerViolation[] = [];
  const { entries, firstSeq, seq } = sum;
  const numbers = { entries, first_number: firstSeq, last_number: seq, ledger_seq: balance?.ledger_seq ?? null };
  if (firstSeq !== 1 || seq !== entries || balance?.ledger_seq !== seq)
    violations.push(toViolation("entries-are-numbered-without-gaps", { subject: account, ...numbers }));
  if (balance === undefined || AMOUNTS.every((name) => balance[name] === sum[name])) return violations;
  const amounts = AMOUNTS.flatMap((name) => [[name, balance[name]] as const, [`entries_${name}`, sum[name]] as const]);
  return [
    ...violations,
    toViolation("balance-equals-sum-of-entries", { subject: account, ...Object.fromEntries(amounts) }),
  ];
}
