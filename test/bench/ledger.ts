import BetterSqlite3 from "better-sqlite3";
import { createConnection } from "mysql2/promise";

const ACCOUNTS = 1_000;
const COST = 10;
const NOON = Date.UTC(2026, 5, 1, 12);

/** `0 … count-1`, built from crossed digits: in SQL that every engine understands. */
function numbers(count: number): string {
  const ten =
    "(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT " +
    "5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)";
  const digits = String(count - 1).length;
  const names = Array.from({ length: digits }, (_, index) => `d${index}`);
  const value = names.map((name, index) => `${name}.d * ${10 ** index}`).join(" + ");
  return `(SELECT n FROM (SELECT ${value} AS n FROM ${names.map((name) => `${ten} ${name}`).join(", ")}) AS crossed
    WHERE n < ${count})`;
}

/**
 * Fills an empty storage with the ledger of a busy year: `jobs` ended jobs of a thousand accounts, every tenth
 * refunded, each with its two entries, tracks and files, and the idempotency records of every tenth.
 */
export async function fillLedger(url: string, jobs: number): Promise<void> {
  const each = jobs / ACCOUNTS;
  const jobId = `CONCAT('job_', 100000000 + n)`;
  const accountId = (n: string): string => `CONCAT('acct_', 10000 + ${n})`;
  const owner = accountId(`n % ${ACCOUNTS}`);
  const turn = `(n - n % ${ACCOUNTS}) / ${ACCOUNTS}`;
  const isFailed = "n % 10 = 0";
  const granted = each * COST;
  const spent = (n: string): string => `CASE WHEN ${n} % 10 = 0 THEN 0 ELSE ${granted} END`;
  const all = numbers(jobs);
  const accounts = numbers(ACCOUNTS);
  const statements = [
    `INSERT INTO fermata_accounts (id, name, tier, email_verified, terms_accepted_at, created_at)
     SELECT ${accountId("n")}, CONCAT('Account ', n), 'pro', 1, ${NOON}, ${NOON} FROM ${accounts} AS a`,
    `INSERT INTO fermata_balances (account_id, monthly, pack, reserved_monthly, reserved_pack, spent,
      running_jobs, ledger_seq)
     SELECT ${accountId("n")}, 0, ${granted} - (${spent("n")}), 0, 0, ${spent("n")}, 0, ${2 * each + 1}
     FROM ${accounts} AS a`,
    `INSERT INTO fermata_ledger_entries (account_id, seq, kind, job_id, phase, monthly, pack, reserved_monthly,
      reserved_pack, spent, external_ref, created_at)
     SELECT ${accountId("n")}, 1, 'grant', NULL, NULL, 0, ${granted}, 0, 0, 0, NULL, ${NOON} FROM ${accounts} AS a`,
    `INSERT INTO fermata_ledger_entries (account_id, seq, kind, job_id, phase, monthly, pack, reserved_monthly,
      reserved_pack, spent, external_ref, created_at)
     SELECT ${owner}, 2 * ${turn} + 2, 'reserve', ${jobId}, 'open', 0, ${-COST}, 0, ${COST}, 0, NULL, ${NOON} + n
     FROM ${all} AS j`,
    `INSERT INTO fermata_ledger_entries (account_id, seq, kind, job_id, phase, monthly, pack, reserved_monthly,
      reserved_pack, spent, external_ref, created_at)
     SELECT ${owner}, 2 * ${turn} + 3, CASE WHEN ${isFailed} THEN 'refund' ELSE 'charge' END, ${jobId}, 'close', 0,
       CASE WHEN ${isFailed} THEN ${COST} ELSE 0 END, 0, ${-COST}, CASE WHEN ${isFailed} THEN 0
       ELSE ${COST} END, NULL, ${NOON} + n FROM ${all} AS j`,
    `INSERT INTO fermata_jobs (id, account_id, kind, operation, provider_id, model_id, request_id, reserved_monthly,
      reserved_pack, credits_charged, status,
       phase, attempt, refusals, crashes, fence, lease_owner, due_at, created_at, completed_at, error, request)
     SELECT ${jobId}, ${owner}, 'music', 'generation', 'synth', 'synth/song', CONCAT('req_', n), 0, ${COST}, CASE
     WHEN ${isFailed} THEN 0 ELSE ${COST} END,
       CASE WHEN ${isFailed} THEN 'failed'
       ELSE 'completed' END, 'ended', 1, 0, 0, 1, NULL, NULL, ${NOON} + n, ${NOON} + n + 20000,
       CASE WHEN ${isFailed} THEN '{"code":"generation_failed","message":"The provider failed."}' END,
       '{"prompt":"slow rain on a tin roof,
       brushed drums","lyrics":null,"durationSeconds":30,"instrumental":true,"client":"web","metadata":null}'
     FROM ${all} AS j`,
    `INSERT INTO fermata_tracks (id, account_id, job_id, position, title, artist_label, bpm, prompt, visibility,
      created_at)
     SELECT CONCAT('trk_', 100000000 + n), ${owner}, ${jobId}, 0, 'Slow rain', 'Synth', 96, 'slow rain on a tin roof',
     'private', ${NOON} + n
     FROM ${all} AS j WHERE NOT (${isFailed})`,
    `INSERT INTO fermata_track_assets (track_id, position, role, label, audio_key, content_type, size_bytes,
      duration_ms)
     SELECT CONCAT('trk_', 100000000 + n), 0, 'mix', 'full', CONCAT('job_', n, '/1/mix.mp3'), 'audio/mpeg', 480000,
     30000
     FROM ${all} AS j WHERE NOT (${isFailed})`,
    `INSERT INTO fermata_idempotency_records (account_id, key_hash, shape_hash, body_hash, job_id, status, response,
      created_at, expires_at)
     SELECT ${owner}, CONCAT('key', n), 'shape', 'body', ${jobId}, 202, '{}', ${NOON} + n, ${NOON} + n + 86400000
     FROM ${all} AS j WHERE n % 10 = 1`,
  ];
  if (url.startsWith("sqlite:")) return fillSqlite(url.slice("sqlite:".length), statements);
  const connection = await createConnection(url);
  for (const statement of statements) await connection.query(statement);
  await connection.end();
}

function fillSqlite(file: string, statements: readonly string[]): void {
  const database = new BetterSqlite3(file);
  for (const statement of statements) database.exec(statement);
  database.close();
}
