import type { LedgerPage } from "../../../../core/ports/ledger-store.js";
import type { Session } from "../session.js";
import type { CheckpointRow } from "./ledger-checkpoints.js";
import { AMOUNTS } from "./ledger-invariants.js";
import {
  byKey,
  check,
  type Checked,
  type CheckedKind,
  type CheckPart,
  JOB_COLUMNS,
  JOB_INVARIANTS,
  named,
  ON_NEXT_ACCOUNTS,
  ON_REST_OF_ACCOUNT,
  type PartName,
  type Place,
  withFound,
} from "./ledger-parts.js";
import { nextStretches, walk, type Walked } from "./ledger-walk.js";
import { checkNewEntries } from "./new-entries.js";

/** A page of the audit, and what it found out. */
export interface AuditedPage extends LedgerPage {
  readonly kind: CheckedKind;
  readonly verified: readonly CheckpointRow[];
}

/**
 * Checks the next rows of the accounts, balances, entries and jobs by the invariants of `INVARIANTS` that are about
 * them, on one view of the data.
 *
 * @param cursor `next` of the page before, or `resume` of an earlier round; null begins with all rows
 * @param limit how many rows to check at most
 */
export async function auditPage(session: Session, cursor: string | null, limit: number): Promise<AuditedPage> {
  const place = placeOf(cursor);
  const { part, after } = place;
  const { kind, check, then } = PARTS[part];
  const { rows, violations, verified = [], next } = await check(session, place, limit);
  const page = { kind, checked: rows, violations, verified, resume: null };
  if (next !== null) return { ...page, next: JSON.stringify({ ...place, ...next }) };
  const { jobsAfter } = place;
  if (then !== null) return { ...page, next: JSON.stringify(startOf(then, jobsAfter)) };
  // The jobs of the last page once more, the next time: one may be committed later than one with a higher id.
  return { ...page, next: null, resume: JSON.stringify(startOf("new-balances", after === "" ? jobsAfter : after)) };
}

/** A round of its own for the sums and checksums of all entries. */
export async function walkPage(
  session: Session,
  cursor: string | null,
  limit: number,
): Promise<Walked & { readonly next: string | null }> {
  const place = cursor === null ? startOf("entries") : placeOf(cursor);
  const { walked, next } = await walkAll(session, place, limit);
  return { ...walked, next: next === null ? null : JSON.stringify({ ...place, ...next }) };
}

interface Part {
  readonly kind: CheckedKind;
  readonly check: CheckPart;
  /** What is checked afterwards. */
  readonly then: PartName | null;
}

const withOpening = (name: string): string => `b.${name} AS ${name}, COALESCE(o.${name}, 0) AS entries_${name}`;

const BALANCES: CheckPart = smaller(
  byKey(
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
        query: `SELECT b.account_id AS subject, ${AMOUNTS.map(withOpening).join(", ")} FROM {balances} b
        LEFT JOIN {ledger_openings} o ON o.account_id = b.account_id
        WHERE (${AMOUNTS.map((name) => `b.${name} <> COALESCE(o.${name}, 0)`).join(" OR ")})
        AND NOT EXISTS (SELECT 1 FROM {ledger_entries} e WHERE e.account_id = b.account_id)`,
      },
      {
        name: "entries-are-numbered-without-gaps",
        query: `SELECT b.account_id AS subject, COALESCE(o.entries, 0) AS entries, b.ledger_seq FROM {balances} b
        LEFT JOIN {ledger_openings} o ON o.account_id = b.account_id
        WHERE b.ledger_seq <> COALESCE(o.entries, 0)
        AND NOT EXISTS (SELECT 1 FROM {ledger_entries} e WHERE e.account_id = b.account_id)`,
      },
    ],
  ),
);

const JOBS: CheckPart = byKey("jobs j", "id", JOB_COLUMNS, JOB_INVARIANTS);

/** A round of all rows, then one of what is new since an earlier round. */
const PARTS: Readonly<Record<PartName, Part>> = {
  accounts: {
    kind: "accounts",
    check: byKey("accounts a", "id", ["id"], [named("account-has-balance")]),
    then: "balances",
  },
  balances: { kind: "accounts", check: BALANCES, then: "entries" },
  entries: { kind: "entries", check: checkEntries, then: "jobs" },
  jobs: { kind: "jobs", check: JOBS, then: null },
  "new-balances": { kind: "accounts", check: BALANCES, then: "new-entries" },
  "new-entries": { kind: "entries", check: checkNewEntries, then: "new-jobs" },
  "new-jobs": {
    kind: "jobs",
    check: (session, place, limit) => {
      const after = place.after === "" ? place.jobsAfter : place.after;
      return JOBS(session, { ...place, after }, limit);
    },
    then: null,
  },
};

/** One that another version wrote, which has other parts, begins again. */
function placeOf(cursor: string | null): Place {
  if (cursor === null) return startOf("accounts");
  const place = JSON.parse(cursor) as Place;
  const isKnown = Object.hasOwn(PARTS, place.part) && typeof place.jobsAfter === "string";
  return isKnown ? place : startOf("accounts");
}

/** Where a round that begins now leaves off; its last jobs are gone through once more. */
export async function resumeAfter(session: Session): Promise<string> {
  const [row] = await session.all<{ readonly id: string }>(LATE_JOB);
  return JSON.stringify(startOf("new-balances", row?.id ?? ""));
}

/** More than are committed later than one with a higher id. */
const LATE_JOB = "SELECT id FROM {jobs} ORDER BY id DESC LIMIT 1 OFFSET 1000";

function startOf(part: PartName, jobsAfter = ""): Place {
  return { part, after: "", begun: null, jobsAfter };
}

/** Of balances each is compared with all live jobs of its account. */
function smaller(part: CheckPart): CheckPart {
  return (session, place, limit) => part(session, place, Math.ceil(limit / 10));
}

async function checkEntries(session: Session, place: Place, limit: number): Promise<Checked> {
  const { after, begun } = place;
  const { walked, next, rows } = await walkAll(session, place, limit);
  const violations =
    begun === null
      ? await check(session, ON_NEXT_ACCOUNTS, [after, limit])
      : await check(session, ON_REST_OF_ACCOUNT, [begun.account, begun.seq, limit]);
  const found = withFound(walked, violations, () => violations.length > 0);
  return { ...found, rows, next: next === null ? null : { ...next, begun: found.begun } };
}

async function walkAll(
  session: Session,
  { after, begun }: Place,
  limit: number,
): Promise<{ readonly walked: Walked; readonly rows: number; readonly next: Checked["next"] }> {
  const stretches = await nextStretches(session, after, begun, limit);
  const walked = await walk(session, stretches);
  const rows = stretches.reduce((sum, stretch) => sum + stretch.rows.length, 0);
  const last = stretches.at(-1)?.start.account ?? after;
  if (walked.begun !== null) return { walked, rows, next: { after: last, begun: walked.begun } };
  // A page of the rest of one account ends with it, whatever follows.
  return { walked, rows, next: begun === null ? null : { after: last, begun: null } };
}
