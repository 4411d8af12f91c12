/**
 * What is true at every instant that another connection can see, as queries that return no row. Each is one pass over a
 * table, joined through indexes. A row says whose data break the invariant (`subject`) and, in its other columns, what
 * was found.
 *
 * @see reliability, section 4
 */
export interface Invariant {
  /** kebab-case, the promise in few words */
  readonly name: string;
  readonly query: string;
}

export const AMOUNTS = ["monthly", "pack", "reserved_monthly", "reserved_pack", "spent"] as const;

const ENTRIES_BY_ACCOUNT =
  `(SELECT account_id, COUNT(*) AS entries, MIN(seq) AS first_seq, MAX(seq) AS last_seq, ` +
  `${AMOUNTS.map((name) => `SUM(${name}) AS ${name}`).join(", ")} FROM {ledger_entries} GROUP BY account_id)`;

/** Of all entries of an account, the archived ones too. */
const summed = (name: string): string => `(COALESCE(e.${name}, 0) + COALESCE(o.${name}, 0))`;
const FIRST_NUMBER = "CASE WHEN o.account_id IS NULL THEN e.first_seq ELSE 1 END";
const LAST_NUMBER = "CASE WHEN o.last_seq > e.last_seq THEN o.last_seq ELSE e.last_seq END";

const LIVE_JOBS_BY_ACCOUNT =
  "(SELECT account_id, COUNT(*) AS jobs, SUM(reserved_monthly) AS monthly, SUM(reserved_pack) AS pack " +
  "FROM {jobs} WHERE status IN ('queued', 'processing') GROUP BY account_id)";

const ACCOUNTS: readonly Invariant[] = [
  {
    name: "account-has-balance",
    query: `SELECT a.id AS subject, 'none' AS balance FROM {accounts} a
      LEFT JOIN {balances} b ON b.account_id = a.id WHERE b.account_id IS NULL`,
  },
  {
    name: "balance-has-account",
    query: `SELECT b.account_id AS subject, 'none' AS account FROM {balances} b
      LEFT JOIN {accounts} a ON a.id = b.account_id WHERE a.id IS NULL`,
  },
  {
    name: "balance-is-not-negative",
    query: `SELECT account_id AS subject, ${AMOUNTS.join(", ")}, running_jobs FROM {balances} b
      WHERE ${[...AMOUNTS, "running_jobs"].map((name) => `${name} < 0`).join(" OR ")}`,
  },
  {
    name: "balance-equals-sum-of-entries",
    query: `SELECT b.account_id AS subject,
        ${AMOUNTS.map((name) => `b.${name} AS ${name}, ${summed(name)} AS entries_${name}`).join(", ")}
      FROM {balances} b LEFT JOIN ${ENTRIES_BY_ACCOUNT} e ON e.account_id = b.account_id
      LEFT JOIN {ledger_openings} o ON o.account_id = b.account_id
      WHERE ${AMOUNTS.map((name) => `b.${name} <> ${summed(name)}`).join(" OR ")}`,
  },
  {
    name: "entries-are-numbered-without-gaps",
    query: `SELECT e.account_id AS subject, ${summed("entries")} AS entries, ${FIRST_NUMBER} AS first_number,
      ${LAST_NUMBER} AS last_number,
        b.ledger_seq AS ledger_seq
      FROM ${ENTRIES_BY_ACCOUNT} e LEFT JOIN {balances} b ON b.account_id = e.account_id
      LEFT JOIN {ledger_openings} o ON o.account_id = e.account_id
      WHERE ${FIRST_NUMBER} <> 1 OR ${LAST_NUMBER} <> ${summed("entries")} OR b.account_id IS NULL
        OR b.ledger_seq <> ${LAST_NUMBER}
      UNION ALL
      SELECT b.account_id, COALESCE(o.entries, 0), NULL, NULL, b.ledger_seq FROM {balances} b
      LEFT JOIN {ledger_openings} o ON o.account_id = b.account_id
      WHERE b.ledger_seq <> COALESCE(o.entries, 0)
        AND NOT EXISTS (SELECT 1 FROM {ledger_entries} e WHERE e.account_id = b.account_id)`,
  },
  {
    name: "running-jobs-are-the-live-jobs",
    query: `SELECT b.account_id AS subject, b.running_jobs AS running_jobs, COALESCE(j.jobs, 0) AS live_jobs
      FROM {balances} b LEFT JOIN ${LIVE_JOBS_BY_ACCOUNT} j ON j.account_id = b.account_id
      WHERE b.running_jobs <> COALESCE(j.jobs, 0)`,
  },
  {
    name: "reserved-is-what-live-jobs-hold",
    query: `SELECT b.account_id AS subject, b.reserved_monthly AS reserved_monthly,
      COALESCE(j.monthly, 0) AS jobs_monthly,
        b.reserved_pack AS reserved_pack, COALESCE(j.pack, 0) AS jobs_pack
      FROM {balances} b LEFT JOIN ${LIVE_JOBS_BY_ACCOUNT} j ON j.account_id = b.account_id
      WHERE b.reserved_monthly <> COALESCE(j.monthly, 0) OR b.reserved_pack <> COALESCE(j.pack, 0)`,
  },
];

const ENTRIES: readonly Invariant[] = [
  {
    name: "entry-moves-credits-as-its-kind-says",
    query: `SELECT account_id AS subject, seq AS number, kind, ${AMOUNTS.join(", ")} FROM {ledger_entries} e
      WHERE NOT (CASE kind
        WHEN 'grant' THEN monthly >= 0 AND pack >= 0 AND reserved_monthly = 0 AND reserved_pack = 0 AND spent = 0
        WHEN 'renew' THEN monthly >= 0 AND pack = 0 AND reserved_monthly = 0 AND reserved_pack = 0 AND spent = 0
        WHEN 'expire' THEN monthly < 0 AND pack = 0 AND reserved_monthly = 0 AND reserved_pack = 0 AND spent = 0
        WHEN 'charge' THEN monthly = 0 AND pack = 0 AND reserved_monthly <= 0 AND reserved_pack <= 0
          AND spent = -reserved_monthly - reserved_pack
        WHEN 'refund' THEN monthly = -reserved_monthly AND pack = -reserved_pack AND monthly >= 0 AND pack >= 0
        AND spent = 0
        ELSE monthly = -reserved_monthly AND pack = -reserved_pack AND monthly <= 0 AND pack <= 0 AND spent = 0
      END)`,
  },
  {
    name: "entry-has-a-job-of-its-account",
    query: `SELECT e.job_id AS subject, e.account_id AS entry_account, e.seq AS number, j.account_id AS job_account
      FROM {ledger_entries} e LEFT JOIN {jobs} j ON j.id = e.job_id
      WHERE e.job_id IS NOT NULL AND (j.id IS NULL OR j.account_id <> e.account_id)`,
  },
  {
    name: "job-is-reserved-and-settled-at-most-once",
    query: `SELECT job_id AS subject, phase, COUNT(*) AS entries FROM {ledger_entries}
      WHERE job_id IS NOT NULL GROUP BY job_id, phase HAVING COUNT(*) > 1`,
  },
];

/** Of single jobs: each query reads `{jobs} j`. */
export const OF_JOBS: readonly Invariant[] = [
  {
    name: "job-has-its-reservation",
    query: `SELECT j.id AS subject, j.reserved_monthly AS monthly, e.reserved_monthly AS entry_monthly,
        j.reserved_pack AS pack, e.reserved_pack AS entry_pack
      FROM {jobs} j LEFT JOIN {ledger_entries} e ON e.job_id = j.id AND e.phase = 'open'
      WHERE j.ledger_archived_at IS NULL
        AND (e.job_id IS NULL OR e.reserved_monthly <> j.reserved_monthly OR e.reserved_pack <> j.reserved_pack)`,
  },
  {
    name: "ended-job-is-settled-in-full",
    query: `SELECT j.id AS subject, j.reserved_monthly AS monthly, e.reserved_monthly AS entry_monthly,
        j.reserved_pack AS pack, e.reserved_pack AS entry_pack
      FROM {jobs} j LEFT JOIN {ledger_entries} e ON e.job_id = j.id AND e.phase = 'close'
      WHERE j.status IN ('completed', 'failed') AND j.ledger_archived_at IS NULL
        AND (e.job_id IS NULL OR e.reserved_monthly <> -j.reserved_monthly OR e.reserved_pack <> -j.reserved_pack)`,
  },
  {
    name: "archived-job-has-ended-and-no-entries",
    query: `SELECT j.id AS subject, j.status AS status, e.kind AS entry FROM {jobs} j
      LEFT JOIN {ledger_entries} e ON e.job_id = j.id
      WHERE j.ledger_archived_at IS NOT NULL AND (j.status IN ('queued', 'processing') OR e.job_id IS NOT NULL)`,
  },
  {
    name: "live-job-is-not-settled",
    query: `SELECT j.id AS subject, j.status AS status, e.kind AS entry FROM {jobs} j
      JOIN {ledger_entries} e ON e.job_id = j.id AND e.phase = 'close' WHERE j.status IN ('queued', 'processing')`,
  },
  {
    name: "job-is-charged-only-when-completed",
    query: `SELECT j.id AS subject, j.status AS status, e.kind AS entry FROM {jobs} j
      JOIN {ledger_entries} e ON e.job_id = j.id AND e.phase = 'close'
      WHERE (j.status = 'completed' AND e.kind <> 'charge') OR (j.status = 'failed' AND e.kind <> 'refund')`,
  },
  {
    name: "credits-charged-is-what-the-job-costs",
    query: `SELECT id AS subject, status, credits_charged, reserved_monthly, reserved_pack FROM {jobs} j
      WHERE credits_charged <> CASE status WHEN 'failed' THEN 0 ELSE reserved_monthly + reserved_pack END`,
  },
  {
    name: "status-agrees-with-phase",
    query: `SELECT id AS subject, status, phase FROM {jobs} j
      WHERE (status = 'queued' AND phase <> 'waiting') OR (status = 'processing' AND phase = 'ended')
        OR (status IN ('completed', 'failed') AND phase <> 'ended')`,
  },
  {
    name: "ended-job-has-no-lease",
    query: `SELECT id AS subject, status, due_at, lease_owner, completed_at FROM {jobs} j
      WHERE status IN ('completed', 'failed')
      AND (due_at IS NOT NULL OR lease_owner IS NOT NULL OR completed_at IS NULL)`,
  },
  {
    name: "live-job-is-due-some-time",
    query: `SELECT id AS subject, status, due_at, completed_at FROM {jobs} j
      WHERE status IN ('queued', 'processing') AND (due_at IS NULL OR completed_at IS NOT NULL)`,
  },
  {
    name: "completed-music-has-a-mix",
    query: `SELECT j.id AS subject, 'none' AS mix FROM {jobs} j
      WHERE j.status = 'completed' AND j.kind = 'music' AND j.erased_at IS NULL AND j.tracks_deleted_at IS NULL
      AND NOT EXISTS (
        SELECT 1 FROM {tracks} t JOIN {track_assets} a ON a.track_id = t.id AND a.role = 'mix' WHERE t.job_id = j.id)`,
  },
];

const RECORDS: readonly Invariant[] = [
  {
    name: "idempotency-record-has-a-job-of-its-account",
    query: `SELECT r.job_id AS subject, r.account_id AS record_account, j.account_id AS job_account
      FROM {idempotency_records} r LEFT JOIN {jobs} j ON j.id = r.job_id
      WHERE j.id IS NULL OR j.account_id <> r.account_id`,
  },
];

const WEBHOOKS: readonly Invariant[] = [
  {
    name: "webhook-delivery-has-an-event",
    query: `SELECT d.id AS subject, d.event_id AS event FROM {webhook_deliveries} d
      LEFT JOIN {webhook_events} e ON e.id = d.event_id WHERE e.id IS NULL`,
  },
  {
    name: "webhook-delivery-stays-in-its-account",
    query: `SELECT d.id AS subject, e.account_id AS event_account, p.account_id AS endpoint_account
      FROM {webhook_deliveries} d JOIN {webhook_events} e ON e.id = d.event_id
      JOIN {webhook_endpoints} p ON p.id = d.endpoint_id
      WHERE p.account_id <> e.account_id`,
  },
  {
    name: "webhook-event-has-a-job-of-its-account",
    query: `SELECT e.id AS subject, e.account_id AS event_account, e.job_id AS job, j.account_id AS job_account
      FROM {webhook_events} e LEFT JOIN {jobs} j ON j.id = e.job_id
      WHERE e.job_id IS NOT NULL AND (j.id IS NULL OR j.account_id <> e.account_id)`,
  },
  {
    name: "webhook-try-has-a-delivery",
    query: `SELECT t.delivery_id AS subject, t.number AS number FROM {webhook_tries} t
      LEFT JOIN {webhook_deliveries} d ON d.id = t.delivery_id WHERE d.id IS NULL`,
  },
  {
    name: "pending-webhook-delivery-is-due-some-time",
    query: `SELECT id AS subject, due_at, ended_at FROM {webhook_deliveries}
      WHERE state = 'pending' AND (due_at IS NULL OR ended_at IS NOT NULL)`,
  },
  {
    name: "ended-webhook-delivery-has-no-lease",
    query: `SELECT id AS subject, state, due_at, lease_owner, ended_at FROM {webhook_deliveries}
      WHERE state <> 'pending' AND (due_at IS NOT NULL OR lease_owner IS NOT NULL OR ended_at IS NULL)`,
  },
  {
    name: "disabled-webhook-endpoint-says-since-when",
    query: `SELECT id AS subject, status, disabled_at, disabled_by FROM {webhook_endpoints}
      WHERE (status = 'disabled' AND (disabled_at IS NULL OR disabled_by IS NULL))
        OR (status = 'active' AND (disabled_at IS NOT NULL OR disabled_by IS NOT NULL))`,
  },
];

/** Neither of entries nor of what they are about: what is checked has an end of its own. */
export const OF_OTHERS: readonly Invariant[] = [...RECORDS, ...WEBHOOKS];

export const INVARIANTS: readonly Invariant[] = [...ACCOUNTS, ...ENTRIES, ...OF_JOBS, ...OF_OTHERS];
