import BetterSqlite3 from "better-sqlite3";
import { createConnection } from "mysql2/promise";
import { TABLE_PREFIX } from "../../adapters/storage/sql/index.js";
import type { Table } from "../../adapters/storage/sql/session.js";

/** Writes rows directly, in the largest batches that the engine accepts. */
export interface Writer {
  write<Row extends object>(table: Table<Row>, rows: readonly Row[]): Promise<void>;
  close(): Promise<void>;
}

export async function openWriter(url: string): Promise<Writer> {
  return url.startsWith("sqlite:") ? sqliteWriter(url.slice("sqlite:".length)) : mysqlWriter(url);
}

function sqliteWriter(file: string): Writer {
  const database = new BetterSqlite3(file);
  database.pragma("synchronous = OFF");
  database.pragma("cache_size = -1000000");
  return {
    async write(table, rows) {
      const marks = table.columns.map(() => "?").join(", ");
      const statement = database.prepare(
        `INSERT INTO ${TABLE_PREFIX}${table.name} (${table.columns.join(", ")}) VALUES (${marks})`,
      );
      database.transaction(() => {
        for (const row of rows) statement.run(...table.columns.map((column) => row[column]));
      })();
    },
    async close() {
      database.pragma("wal_checkpoint(TRUNCATE)");
      database.close();
    },
  };
}

async function mysqlWriter(url: string): Promise<Writer> {
  const connection = await createConnection(url);
  await connection.query("SET autocommit = 0, unique_checks = 0");
  return {
    async write(table, rows) {
      for (let start = 0; start < rows.length; start += 2_000) {
        const values = rows.slice(start, start + 2_000).map((row) => table.columns.map((column) => row[column]));
        await connection.query(`INSERT INTO ${TABLE_PREFIX}${table.name} (${table.columns.join(", ")}) VALUES ?`, [
          values,
        ]);
      }
      await connection.query("COMMIT");
    },
    close: () => connection.end(),
  };
}
