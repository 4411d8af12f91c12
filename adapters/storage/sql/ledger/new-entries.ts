import type { LedgerViolation } from "../../../../core/ports/ledger-store.js";
import type { Session } from "../session.js";
import type { CheckpointRow } from "./ledger-checkpoints.js";
import { AMOUNTS } from "./ledger-invariants.js";
import {
  check,
  type Checked,
  JOB_COLUMNS,
  JOB_INVARIANTS,
  ON_STRETCH,
  onPage,
  type Place,
  withFound,
} from "./ledger-parts.js";
import type { LedgerEntryRow } from "./ledger-tables.js";
import { afterCheckpoint, openingsOf, REST_OF_ACCOUNT, type Stretch, walk, withOpening } from "./ledger-walk.js";

interface ReachedRow extends CheckpointRow {
  readonly account: string;
  readonly ledger_seq: number;
  /** null: no entry of the account was verified. */
  readonly seq: number;
}

/** Balances, and how far the entries of each were verified. */
const REACHED = `SELECT b.account_id AS account, b.ledger_seq, c.account_id, c.seq,
    ${AMOUNTS.map((name) => `c.${name}`).join(", ")}, c.checksum
  FROM (SELECT account_id, ledger_seq FROM {balances} WHERE account_id > ? ORDER BY account_id LIMIT ?) b
  LEFT JOIN {ledger_checkpoints} c ON c.account_id = b.account_id ORDER BY b.account_id`;

/** Of jobs that an earlier round has checked, those that ended since. */
const ENDED_JOBS = `(SELECT ${JOB_COLUMNS.join(", ")} FROM {jobs} WHERE id IN (SELECT job_id FROM {ledger_entries}
  WHERE account_id = ? AND seq > ? AND seq <= ? AND job_id <= ?)) j`;
const ON_ENDED_JOBS = onPage(JOB_INVARIANTS, "{jobs} j", ENDED_JOBS);

/** Goes through all balances, and of each through the entries that were not verified yet. */
export async function checkNewEntries(
  session: Session,
  { after, begun, jobsAfter }: Place,
  limit: number,
): Promise<Checked> {
  if (begun !== null) {
    const start = await withOpening(session, begun);
    const rows = await session.all<LedgerEntryRow>(REST_OF_ACCOUNT, [start.account, start.seq, limit]);
    const stretch = { start, rows, isOver: rows.length < limit };
    return checkStretches(session, [stretch], jobsAfter, after);
  }
  const reached = await session.all<ReachedRow>(REACHED, [after, limit]);
  const openings = await openingsOf(
    session,
    reached.map(({ account }) => account),
  );
  const stretches: Stretch[] = [];
  let left = limit;
  for (const row of reached) {
    if (left <= 0) break;
    const start = afterCheckpoint(
      row.account,
      row.account_id === null ? null : withoutBalance(row),
      openings.get(row.account),
    );
    const rows =
      row.ledger_seq === start.seq
        ? []
        : await session.all<LedgerEntryRow>(REST_OF_ACCOUNT, [row.account, start.seq, left]);
    const isOver = rows.length < left;
    left -= rows.length;
    stretches.push({ start, rows, isOver });
  }
  const isLast = reached.length < limit && stretches.length === reached.length;
  return checkStretches(session, stretches, jobsAfter, isLast ? null : (stretches.at(-1)?.start.account ?? after));
}

async function checkStretches(
  session: Session,
  stretches: readonly Stretch[],
  jobsAfter: string,
  after: string | null,
): Promise<Checked> {
  // What has neither an entry nor a checkpoint is checked with the balances.
  const walked = await walk(
    session,
    stretches.filter(({ start, rows }) => start.entries > 0 || rows.length > 0),
  );
  const found: LedgerViolation[] = [];
  const wrong = new Set<string>();
  for (const { start, rows } of stretches) {
    const last = rows.at(-1);
    if (last === undefined) continue;
    const range = [start.account, start.seq, last.seq];
    const violations = await check(session, ON_STRETCH, range);
    if (jobsAfter !== "") violations.push(...(await check(session, ON_ENDED_JOBS, [...range, jobsAfter])));
    if (violations.length > 0) wrong.add(start.account);
    found.push(...violations);
  }
  const { begun, ...checked } = withFound(walked, found, (account) => wrong.has(account));
  const rows = stretches.reduce((sum, stretch) => sum + stretch.rows.length, 0);
  const next = after === null ? null : { after, begun: null };
  return { ...checked, rows, next: begun === null ? next : { after: begun.account, begun } };
}

function withoutBalance({ account: _account, ledger_seq: _seq, ...checkpoint }: ReachedRow): CheckpointRow {
  return checkpoint;
}
