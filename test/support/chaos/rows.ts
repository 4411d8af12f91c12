import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { createConnection, type RowDataPacket } from "mysql2/promise";

export interface JobRow {
  readonly id: string;
  readonly account_id: string;
  readonly provider_id: string;
  readonly model_id: string;
  readonly status: string;
  readonly phase: string;
  readonly attempt: number;
  readonly crashes: number;
  readonly collections_begun: number;
  readonly fence: number;
  readonly lease_owner: string | null;
  readonly due_at: number | null;
  readonly credits_charged: number;
  readonly request: { readonly prompt: string };
}

export interface AttemptRow {
  readonly id: string;
  readonly job_id: string;
  readonly number: number;
  readonly provider_id: string;
  readonly outcome: string | null;
}

/** The rows in the storage, read without Fermata's code. */
export interface Rows {
  readonly jobs: readonly JobRow[];
  readonly entries: readonly { readonly job_id: string | null; readonly kind: string }[];
  readonly attempts: readonly AttemptRow[];
  readonly tracks: readonly { readonly job_id: string }[];
  readonly assets: readonly { readonly audio_key: string }[];
  readonly balances: readonly {
    readonly account_id: string;
    readonly running_jobs: number;
    readonly reserved_monthly: number;
    readonly reserved_pack: number;
  }[];
}

const SELECTS: { readonly [table in keyof Rows]: string } = {
  jobs: "SELECT * FROM fermata_jobs ORDER BY id",
  entries: "SELECT job_id, kind FROM fermata_ledger_entries ORDER BY account_id, seq",
  attempts: "SELECT id, job_id, number, provider_id, outcome FROM fermata_job_attempts ORDER BY job_id, number",
  tracks: "SELECT job_id FROM fermata_tracks",
  assets: "SELECT audio_key FROM fermata_track_assets ORDER BY audio_key",
  balances: "SELECT account_id, running_jobs, reserved_monthly, reserved_pack FROM fermata_balances",
};

/** The rows in the file of a data directory. */
export function readRows(dataDir: string): Rows {
  const database = new BetterSqlite3(join(dataDir, "fermata.sqlite"), { readonly: true });
  try {
    return toRows(Object.entries(SELECTS).map(([table, sql]) => [table, database.prepare(sql).all()]));
  } finally {
    database.close();
  }
}

/** The rows in a database of MySQL or MariaDB, as `storage.url` names it. */
export async function readMysqlRows(url: string): Promise<Rows> {
  const connection = await createConnection(url);
  try {
    await connection.query("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY");
    const tables: [string, unknown][] = [];
    for (const [table, sql] of Object.entries(SELECTS))
      tables.push([table, (await connection.query<RowDataPacket[]>(sql))[0]]);
    return toRows(tables);
  } finally {
    await connection.end();
  }
}

function toRows(tables: readonly (readonly [string, unknown])[]): Rows {
  const rows = Object.fromEntries(tables) as unknown as Rows;
  // Some drivers parse JSON, others return text.
  const parsed = (request: JobRow["request"] | string): JobRow["request"] =>
    typeof request === "string" ? (JSON.parse(request) as JobRow["request"]) : request;
  return { ...rows, jobs: rows.jobs.map((job) => ({ ...job, request: parsed(job.request) })) };
}
