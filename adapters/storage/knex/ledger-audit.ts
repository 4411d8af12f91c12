import type { LedgerAudit, LedgerViolation } from "../../../core/ports/ledger-store.js";
import { INVARIANTS } from "./ledger-invariants.js";
import type { Session } from "./session.js";

/** Most rows reported for one invariant. */
const ROWS_MAX = 1_000;

type BrokenRow = Readonly<Record<string, string | number | null>> & { readonly subject: string };

/** Runs every query of `INVARIANTS`. @param session on one view of the data */
export async function auditLedger(session: Session): Promise<LedgerAudit> {
  const checked = {
    accounts: await count(session, "balances"),
    entries: await count(session, "ledger_entries"),
    jobs: await count(session, "jobs"),
  };
  const violations: LedgerViolation[] = [];
  for (const { name, query } of INVARIANTS) {
    const rows = await session.all<BrokenRow>(`${query} LIMIT ${ROWS_MAX}`);
    violations.push(...rows.map((row) => toViolation(name, row)));
  }
  return { checked, violations };
}

async function count(session: Session, table: string): Promise<number> {
  const [row] = await session.all<{ total: number }>(`SELECT COUNT(*) AS total FROM ${table}`);
  return row?.total ?? 0;
}

/** `reserved_monthly 5, live_jobs_monthly 0`: what a query selects beside the subject, under the names it gives. */
function toViolation(invariant: string, { subject, ...found }: BrokenRow): LedgerViolation {
  const words = Object.entries(found).map(([name, value]) => `${name} ${value ?? "none"}`);
  return { invariant, subject, found: words.join(", ") };
}
