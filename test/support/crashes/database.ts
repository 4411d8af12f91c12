import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { createMigratedFile } from "../databases.js";
import { borrowMysqlDatabase } from "../mysql.js";
import { setUpEngine } from "../engine-setup.js";
import { query, startPrivateMysql } from "../mysql-server.js";
import { afterAllTests } from "../setup.js";

export const ENGINES = ["sqlite", "mysql", "mysql9"] as const;
export type Engine = (typeof ENGINES)[number];

/** The database of one run, without Fermata's code. */
export interface CrashDatabase {
  readonly url: string;
  all<Row extends object>(sql: string): Promise<Row[]>;
  close(): Promise<void>;
}

export interface ChangeableDatabase extends CrashDatabase {
  /** Runs a statement that changes rows. */
  run(sql: string): Promise<void>;
}

export async function openCrashDatabase(engine: Engine, dataDir: string): Promise<ChangeableDatabase> {
  if (engine !== "sqlite") {
    const { url, drop } = await borrowMysqlDatabase(engine === "mysql9" ? await mysql9() : undefined);
    return { url, all: (sql) => query(url, sql), run: async (sql) => void (await query(url, sql)), close: drop };
  }
  const file = join(dataDir, "fermata.sqlite");
  await createMigratedFile(file);
  const database = new BetterSqlite3(file);
  return {
    url: `sqlite:${file}`,
    all: async <Row extends object>(sql: string) => database.prepare(sql).all() as Row[],
    run: async (sql) => void database.prepare(sql).run(),
    close: async () => void database.close(),
  };
}

let server: Promise<string> | undefined;

/** `FERMATA_TEST_MYSQL9`, or a private server that is set up as for `npm run test:mysql`, and ends with the tests. */
function mysql9(): Promise<string> {
  server ??= (async () => {
    const named = process.env["FERMATA_TEST_MYSQL9"];
    if (named !== undefined) return named;
    const own = await startPrivateMysql([], await setUpEngine("mysql-9"));
    afterAllTests(() => own.close());
    return own.server;
  })();
  return server;
}
