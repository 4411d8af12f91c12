import type { LedgerAudit, LedgerViolation } from "../../../../core/ports/ledger-store.js";
import type { Session } from "../session.js";
import type { CheckpointRow } from "./ledger-checkpoints.js";
import { INVARIANTS, type Invariant, OF_OTHERS } from "./ledger-invariants.js";
import { auditPage, resumeAfter, walkPage } from "./ledger-pages.js";
import { type BrokenRow, toViolation } from "./violations.js";

/** Most rows reported for one invariant. */
const ROWS_MAX = 1_000;
/** Rows read at once: no request waits for them. */
const PAGE_ROWS = 5_000;

/** How an audit reads, and what becomes of what it has verified. */
export interface Auditor {
  /** Runs its work on one view of the data. */
  readonly snapshot: <T>(work: (session: Session) => Promise<T>) => Promise<T>;
  /** How many queries may run side by side. */
  readonly atOnce: number;
  readonly keep: (verified: readonly CheckpointRow[]) => Promise<void>;
}

/** @param since {@link LedgerAudit.resume} of an earlier audit: only what is new since; null: all rows */
export function auditLedger(auditor: Auditor, since: string | null): Promise<LedgerAudit> {
  return since === null ? auditAll(auditor) : auditNew(auditor, since);
}

/** Runs every query of `INVARIANTS`, each on one view of the data, then adds up all entries for their checksums. */
async function auditAll(auditor: Auditor): Promise<LedgerAudit> {
  const { snapshot } = auditor;
  const checked = snapshot(async (session) => ({
    accounts: await count(session, "balances"),
    entries: await count(session, "ledger_entries"),
    jobs: await count(session, "jobs"),
  }));
  const resume = snapshot(resumeAfter);
  const [counts, marker, found] = await Promise.all([checked, resume, runAll(auditor, INVARIANTS)]);
  const violations = [...found];
  for (let cursor: string | null = null; ;) {
    const page: Awaited<ReturnType<typeof walkPage>> = await snapshot((session) =>
      walkPage(session, cursor, PAGE_ROWS),
    );
    // The other invariants of entries have been checked.
    violations.push(...page.violations.filter(({ invariant }) => invariant === "verified-entries-are-unchanged"));
    if (found.length === 0) await auditor.keep(page.verified);
    cursor = page.next;
    if (cursor === null) return { checked: counts, violations, resume: marker };
  }
}

async function auditNew(auditor: Auditor, since: string): Promise<LedgerAudit> {
  const checked = { accounts: 0, entries: 0, jobs: 0 };
  const violations: LedgerViolation[] = [...(await runAll(auditor, OF_OTHERS))];
  for (let cursor = since; ;) {
    const page = await auditor.snapshot((session) => auditPage(session, cursor, PAGE_ROWS));
    await auditor.keep(page.verified);
    violations.push(...page.violations);
    checked[page.kind] += page.checked;
    if (page.next === null) return { checked, violations, resume: page.resume ?? since };
    cursor = page.next;
  }
}

async function runAll({ snapshot, atOnce }: Auditor, invariants: readonly Invariant[]): Promise<LedgerViolation[]> {
  const found = invariants.map((): LedgerViolation[] => []);
  const left = invariants.entries();
  const runNext = async (): Promise<void> => {
    for (const [index, { name, query }] of left) {
      const rows = await snapshot((session) => session.all<BrokenRow>(`${query} LIMIT ${ROWS_MAX}`));
      found[index] = rows.map((row) => toViolation(name, row));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, runNext));
  return found.flat();
}

async function count(session: Session, table: string): Promise<number> {
  const [row] = await session.all<{ total: number }>(`SELECT COUNT(*) AS total FROM {${table}}`);
  return row?.total ?? 0;
}
