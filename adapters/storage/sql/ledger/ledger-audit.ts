import type { LedgerAudit, LedgerViolation } from "../../../../core/ports/ledger-store.js";
import { INVARIANTS } from "./ledger-invariants.js";
import type { Session } from "../session.js";

/** Most rows reported for one invariant. */
const ROWS_MAX = 1_000;

export type BrokenRow = Readonly<Record<string, string | number | null>> & { readonly subject: string };

/**
 * Runs every query of `INVARIANTS`, each on one view of the data; what holds at every instant holds on each of them.
 *
 * @param snapshot runs its work on one view
 * @param atOnce how many queries may run side by side
 */
export async function auditLedger(
  snapshot: <T>(work: (session: Session) => Promise<T>) => Promise<T>,
  atOnce: number,
): Promise<LedgerAudit> {
  const checked = snapshot(async (session) => ({
    accounts: await count(session, "balances"),
    entries: await count(session, "ledger_entries"),
    jobs: await count(session, "jobs"),
  }));
  const found = INVARIANTS.map((): LedgerViolation[] => []);
  const left = INVARIANTS.entries();
  const auditor = async (): Promise<void> => {
    for (const [index, { name, query }] of left) {
      const rows = await snapshot((session) => session.all<BrokenRow>(`${query} LIMIT ${ROWS_MAX}`));
      found[index] = rows.map((row) => toViolation(name, row));
    }
  };
  await Promise.all([checked, ...Array.from({ length: atOnce }, auditor)]);
  return { checked: await checked, violations: found.flat() };
}

async function count(session: Session, table: string): Promise<number> {
  const [row] = await session.all<{ total: number }>(`SELECT COUNT(*) AS total FROM {${table}}`);
  return row?.total ?? 0;
}

/**
 * `reserved_monthly 5, live_jobs_monthly 0`: what a query selects in addition to the subject, under the names it gives.
 */
export function toViolation(invariant: string, { subject, ...found }: BrokenRow): LedgerViolation {
  const words = Object.entries(found).map(([name, value]) => `${name} ${value ?? "none"}`);
  return { invariant, subject, found: words.join(", ") };
}
