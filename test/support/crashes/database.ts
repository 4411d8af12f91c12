import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { createMigratedFile } from "../databases.js";
import { borrowMysqlDatabase } from "../mysql.js";
import { query } from "../mysql-server.js";

export const ENGINES = ["sqlite", "mysql"] as const;
export type Engine = (typeof ENGINES)[number];

/** The database of one run, read without Fermata's code. */
export interface CrashDatabase {
  readonly url: string;
  all<Row extends object>(sql: string): Promise<Row[]>;
  close(): Promise<void>;
}

export async function openCrashDatabase(engine: Engine, dataDir: string): Promise<CrashDatabase> {
  if (engine === "mysql") {
    const { url, drop } = await borrowMysqlDatabase();
    return { url, all: (sql) => query(url, sql), close: drop };
  }
  const file = join(dataDir, "fermata.sqlite");
  await createMigratedFile(file);
  const database = new BetterSqlite3(file, { readonly: true });
  return {
    url: `sqlite:${file}`,
    all: async <Row extends object>(sql: string) => database.prepare(sql).all() as Row[],
    close: async () => void database.close(),
  };
}
