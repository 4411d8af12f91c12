import BetterSqlite3 from "better-sqlite3";
import { query } from "../mysql-server.js";

const DAY_MS = 86_400_000;
/** Rows older than this are made so much older, as nothing can be kept for less than a month. */
const KEPT_MS = 180_000;
const AGED_MS = 40 * DAY_MS;

/** What retention deletes, by the column that it goes by. */
const AGED: Readonly<Record<string, string>> = {
  fermata_request_log: "created_at",
  fermata_webhook_events: "created_at",
  fermata_provider_callbacks: "received_at",
};

/** What is kept for a while: as many rows for each job of the last minutes at the end as at the beginning. */
const SHORT_LIVED = [
  ...Object.keys(AGED),
  "fermata_webhook_deliveries",
  "fermata_webhook_tries",
  "fermata_idempotency_records",
];

/** What does not grow, however much there is to do. */
const BOUNDED = ["fermata_rate_counts", "fermata_search_due", "fermata_search_segments", "fermata_file_deletions"];

/** What is kept: as many rows for each job at the end as at the beginning. */
const KEPT = ["fermata_ledger_entries", "fermata_job_attempts", "fermata_tracks", "fermata_track_assets"] as const;

/** The tables of one installation, read and aged without Fermata's code. */
export interface Tables {
  all<Row>(sql: string): Promise<Row[]>;
  run(sql: string): Promise<void>;
}

export function mysqlTables(url: string): Tables {
  return {
    all: <Row>(sql: string) => query<Row>(url, sql),
    run: async (sql) => void (await query(url, sql)),
  };
}

export function sqliteTables(file: string): Tables {
  const within = <T>(work: (database: BetterSqlite3.Database) => T): Promise<T> => {
    const database = new BetterSqlite3(file, { timeout: 10_000 });
    try {
      return Promise.resolve(work(database));
    } finally {
      database.close();
    }
  };
  return {
    all: <Row>(sql: string) => within((database) => database.prepare(sql).all() as Row[]),
    run: (sql) => within((database) => void database.exec(sql)),
  };
}

/** As if the time that is kept had passed for all but the newest rows; the product deletes them. */
export async function ageRows({ run }: Tables, now: number): Promise<void> {
  for (const [table, column] of Object.entries(AGED)) {
    const [from, to] = [now - AGED_MS / 2, now - KEPT_MS];
    await run(`UPDATE ${table} SET ${column} = ${column} - ${AGED_MS} WHERE ${column} > ${from} AND ${column} < ${to}`);
  }
}

/** A figure, and by what it is compared. */
export interface Size {
  readonly name: string;
  readonly kind: "bounded" | "per job";
  readonly value: number;
}

/** Rows of the bounded tables; of the others, rows for each job. */
export async function sizesOf({ all }: Tables, now: number): Promise<Size[]> {
  const countOf = async (table: string, where = "1 = 1"): Promise<number> =>
    Number((await all<{ readonly count: number }>(`SELECT COUNT(*) AS count FROM ${table} WHERE ${where}`))[0]?.count);
  const sizes: Size[] = [];
  for (const table of BOUNDED)
    sizes.push({ name: `rows of ${nameOf(table)}`, kind: "bounded", value: await countOf(table) });
  const recent = Math.max(1, await countOf("fermata_jobs", `created_at > ${now - KEPT_MS}`));
  for (const table of SHORT_LIVED)
    sizes.push({ name: `${nameOf(table)} per recent job`, kind: "per job", value: (await countOf(table)) / recent });
  const jobs = Math.max(1, await countOf("fermata_jobs"));
  for (const table of KEPT)
    sizes.push({ name: `${nameOf(table)} per job`, kind: "per job", value: (await countOf(table)) / jobs });
  sizes.push({ name: "open jobs", kind: "bounded", value: await countOf("fermata_jobs", "phase <> 'ended'") });
  return sizes;
}

function nameOf(table: string): string {
  return table.replace("fermata_", "").replaceAll("_", " ");
}
