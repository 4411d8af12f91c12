import { INVARIANTS } from "../../../adapters/storage/sql/ledger/ledger-invariants.js";
import { OPEN_STATES } from "../../../core/attempts/attempt-states.js";
import type { MemoryDatabase } from "../memory-database.js";
import { NAMES } from "./storage.js";

interface Broken {
  readonly invariant: string;
  readonly subject: string;
}

interface JobNow {
  readonly id: string;
  readonly status: string;
  readonly phase: string;
  readonly fence: number;
  readonly credits_charged: number;
}

const OPEN = `(${OPEN_STATES.map((state) => `'${state}'`).join()})`;

/**
 * What holds after every commit, in queries of our own: each returns what breaks it. The numbers are those of section 4
 * of the reliability design.
 */
export const QUERIES: Readonly<Record<string, string>> = {
  "1: a balance is the sum of its entries": `SELECT b.account_id AS subject FROM fermata_balances b
    LEFT JOIN (SELECT account_id, SUM(pack) AS pack, SUM(monthly) AS monthly, SUM(spent) AS spent,
      SUM(reserved_pack + reserved_monthly) AS reserved FROM fermata_ledger_entries GROUP BY account_id) e
    ON e.account_id = b.account_id
    WHERE b.pack <> e.pack OR b.monthly <> e.monthly OR b.spent <> e.spent
      OR b.reserved_pack + b.reserved_monthly <> e.reserved OR b.pack < 0 OR b.monthly < 0 OR b.reserved_pack < 0`,
  "6, 7: a job is reserved once, and closed once when it has ended": `SELECT j.id AS subject FROM fermata_jobs j
    LEFT JOIN fermata_ledger_entries e ON e.job_id = j.id GROUP BY j.id HAVING SUM(e.phase = 'open') <> 1
      OR SUM(e.phase = 'close') <> MAX(j.phase = 'ended') OR SUM(e.kind = 'charge') <> MAX(j.status = 'completed')`,
  "8: charges are what completed jobs cost": `SELECT account_id AS subject FROM fermata_balances b WHERE spent <>
    (SELECT COALESCE(SUM(credits_charged), 0) FROM fermata_jobs j
      WHERE j.account_id = b.account_id AND status = 'completed')`,
  "10: running jobs are counted": `SELECT account_id AS subject FROM fermata_balances b WHERE running_jobs <>
    (SELECT COUNT(*) FROM fermata_jobs j WHERE j.account_id = b.account_id AND j.phase <> 'ended')`,
  "11: an ended job has no lease": `SELECT id AS subject FROM fermata_jobs
    WHERE (phase = 'ended') <> (due_at IS NULL) OR (phase = 'ended' AND lease_owner IS NOT NULL)`,
  "15: a key leads to one job": `SELECT job_id AS subject FROM fermata_idempotency_records
    GROUP BY job_id HAVING COUNT(*) > 1`,
  "17, 18: an ended job has one event, delivered to each endpoint": `SELECT j.id AS subject FROM fermata_jobs j
    LEFT JOIN fermata_webhook_events e ON e.job_id = j.id LEFT JOIN fermata_webhook_deliveries d ON d.event_id = e.id
    GROUP BY j.id HAVING COUNT(DISTINCT e.id) <> MAX(j.phase = 'ended') OR COUNT(d.id) <> MAX(j.phase = 'ended')`,
  "attempts are numbered from 1": `SELECT j.id AS subject FROM fermata_jobs j
    LEFT JOIN fermata_job_attempts a ON a.job_id = j.id GROUP BY j.id
    HAVING COUNT(a.id) <> MAX(j.attempt) OR COALESCE(MAX(a.number), 0) <> MAX(j.attempt)`,
  "one attempt at most is open": `SELECT job_id AS subject FROM fermata_job_attempts
    WHERE state IN ${OPEN} AND provider_id IN ('look', 'sign')
    GROUP BY job_id HAVING COUNT(*) > 1`,
  "a completed job has one completed attempt": `SELECT j.id AS subject FROM fermata_jobs j
    JOIN fermata_job_attempts a ON a.job_id = j.id WHERE j.status = 'completed'
    GROUP BY j.id HAVING SUM(a.outcome = 'completed') <> 1`,
  "a completed generation has one track": `SELECT j.id AS subject FROM fermata_jobs j LEFT JOIN fermata_tracks t
    ON t.job_id = j.id GROUP BY j.id HAVING COUNT(t.id) <> MAX(j.status = 'completed' AND j.kind = 'music')`,
  "a completed split has two stems": `SELECT j.id AS subject FROM fermata_jobs j LEFT JOIN fermata_job_outputs o
    ON o.job_id = j.id GROUP BY j.id HAVING COUNT(o.job_id) <> 2 * MAX(j.status = 'completed' AND j.kind <> 'music')`,
  "a completed job costs its price, once; a failed one nothing": `SELECT j.id AS subject FROM fermata_jobs j
    JOIN fermata_ledger_entries e ON e.job_id = j.id WHERE j.phase = 'ended' GROUP BY j.id
    HAVING SUM(e.monthly + e.pack) <> -MAX(CASE WHEN j.status = 'completed' THEN j.credits_charged ELSE 0 END)
      OR SUM(e.kind = 'refund') <> MAX(j.status = 'failed') OR SUM(e.kind = 'charge') <> MAX(j.status = 'completed')`,
  "a job moves to a fallback only while no attempt is open": `SELECT a.job_id AS subject FROM fermata_job_attempts a
    JOIN fermata_jobs j ON j.id = a.job_id WHERE a.state IN ${OPEN} AND a.provider_id <> j.provider_id`,
};

const JOBS = "SELECT id, status, phase, fence, credits_charged FROM fermata_jobs";
const DELIVERIES = "SELECT id, state FROM fermata_webhook_deliveries";

/** The checks of commits, on the connection of the simulated storage itself. */
export class InstantChecks {
  private readonly known = new Map<string, JobNow>();
  private readonly ended = new Map<string, string>();

  constructor(private readonly database: MemoryDatabase) {}

  /** @returns what is broken now; null: nothing */
  find(): string | null {
    for (const [name, query] of Object.entries(QUERIES)) {
      const row = this.database.prepared(`${query} LIMIT 1`).get() as Broken | undefined;
      if (row !== undefined) return `${name}: ${row.subject}`;
    }
    return this.findChanged();
  }

  /** The product's own invariants. */
  findOfProduct(): string | null {
    for (const { name, query } of INVARIANTS) {
      const row = this.database.prepared(`${NAMES.in(query)} LIMIT 1`).get();
      if (row !== undefined) return `${name}: ${JSON.stringify(row)}`;
    }
    return null;
  }

  /** An end is final, of jobs and of deliveries, and a fence never falls. */
  private findChanged(): string | null {
    for (const job of this.database.all<JobNow>(JOBS)) {
      const before = this.known.get(job.id);
      if (before?.phase === "ended" && (job.status !== before.status || job.credits_charged !== before.credits_charged))
        return `the end of ${job.id} changed from ${before.status} to ${job.status}`;
      if (before !== undefined && job.fence < before.fence) return `the fence of ${job.id} fell`;
      if (before?.phase !== "ended") this.known.set(job.id, job);
    }
    for (const { id, state } of this.database.all<{ readonly id: string; readonly state: string }>(DELIVERIES)) {
      const before = this.ended.get(id) ?? state;
      if (before !== state) return `the end of the delivery ${id} changed from ${before} to ${state}`;
      if (state !== "pending") this.ended.set(id, state);
    }
    return null;
  }
}
