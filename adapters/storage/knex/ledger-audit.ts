import type { LedgerAudit, LedgerViolation } from "../../../core/ports/ledger-store.js";
import type { Session } from "./session.js";

/** Most rows reported for one invariant. */
const ROWS_MAX = 1_000;

interface Invariant {
  readonly name: string;
  /** Returns `subject` and `found` for each row that breaks it. */
  readonly query: string;
}

const INVARIANTS: readonly Invariant[] = [];

export async function auditLedger(session: Session): Promise<LedgerAudit> {
  const violations: LedgerViolation[] = [];
  for (const { name, query } of INVARIANTS) {
    const rows = await session.all<Omit<LedgerViolation, "invariant">>(`${query} LIMIT ${ROWS_MAX}`);
    violations.push(...rows.map((row) => ({ invariant: name, subject: row.subject, found: row.found })));
  }
  const checked = {
    accounts: await count(session, "balances"),
    entries: await count(session, "ledger_entries"),
    jobs: await count(session, "jobs"),
  };
  return { checked, violations };
}

async function count(session: Session, table: string): Promise<number> {
  const [row] = await session.all<{ total: number }>(`SELECT COUNT(*) AS total FROM ${table}`);
  return row?.total ?? 0;
}
