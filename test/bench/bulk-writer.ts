import { Readable } from "node:stream";
import BetterSqlite3 from "better-sqlite3";
import { type Connection, createConnection, type ResultSetHeader, type RowDataPacket } from "mysql2/promise";
import { TABLE_PREFIX } from "../../adapters/storage/sql/index.js";
import type { SqlValue, Table } from "../../adapters/storage/sql/session.js";

const LINES_AT_ONCE = 500;

/**
 * Writes rows directly, and the indexes of the tables that it writes to when it is closed: sorted at once, they take a
 * fraction of the time.
 */
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
  const tables = new Set<string>();
  const indexes: string[] = [];
  const takeIndexes = (table: string): void => {
    const find = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL";
    for (const { name, sql } of database.prepare(find).all(table) as {
      readonly name: string;
      readonly sql: string;
    }[]) {
      indexes.push(sql);
      database.exec(`DROP INDEX ${name}`);
    }
  };
  return {
    async write(table, rows) {
      const name = `${TABLE_PREFIX}${table.name}`;
      if (!tables.has(name)) takeIndexes(name);
      tables.add(name);
      const marks = table.columns.map(() => "?").join(", ");
      const statement = database.prepare(`INSERT INTO ${name} (${table.columns.join(", ")}) VALUES (${marks})`);
      database.transaction(() => {
        for (const row of rows) statement.run(...table.columns.map((column) => row[column]));
      })();
    },
    async close() {
      for (const sql of indexes) database.exec(sql);
      database.pragma("wal_checkpoint(TRUNCATE)");
      database.close();
    },
  };
}

async function mysqlWriter(url: string): Promise<Writer> {
  const connection = await createConnection(url);
  await connection.query("SET autocommit = 0, unique_checks = 0");
  const indexes = new Map<string, readonly string[]>();
  return {
    async write(table, rows) {
      const name = `${TABLE_PREFIX}${table.name}`;
      if (!indexes.has(name)) indexes.set(name, await takeIndexes(connection, name));
      if (rows.length === 0) return;
      const lines = rows.map((row) => table.columns.map((column) => fieldOf(row[column] as SqlValue)).join("\t"));
      const [{ affectedRows }] = await connection.query<ResultSetHeader>({
        sql: `LOAD DATA LOCAL INFILE 'rows' INTO TABLE ${name} CHARACTER SET utf8mb4 (${table.columns.join(", ")})`,
        infileStreamFactory: () => Readable.from(packetsOf(lines)),
      });
      // What is wrong with a row is but a warning.
      if (affectedRows !== rows.length) {
        const [[warning]] = await connection.query<RowDataPacket[]>("SHOW WARNINGS LIMIT 1");
        throw new Error(`${name} took ${affectedRows} of ${rows.length} rows: ${String(warning?.["Message"])}`);
      }
      await connection.query("COMMIT");
    },
    async close() {
      for (const [name, keys] of indexes)
        if (keys.length > 0)
          await connection.query(`ALTER TABLE ${name} ${keys.map((definition) => `ADD ${definition}`).join(", ")}`);
      await connection.end();
    },
  };
}

/** Drops the indexes of a table, all but the primary key. @returns their definitions */
async function takeIndexes(connection: Connection, table: string): Promise<string[]> {
  const [[created]] = await connection.query<RowDataPacket[]>(`SHOW CREATE TABLE ${table}`);
  const lines = String(created?.["Create Table"]).split("\n");
  const definitions = lines.map((line) => line.trim().replace(/,$/, "")).filter((line) => /^(UNIQUE )?KEY /.test(line));
  const names = definitions.map((definition) => /`[^`]+`/.exec(definition)?.[0]);
  if (names.length > 0)
    await connection.query(`ALTER TABLE ${table} ${names.map((name) => `DROP KEY ${name}`).join()}`);
  return definitions;
}

/** Each is below the 16 MB of a packet. */
function* packetsOf(lines: readonly string[]): Generator<Buffer> {
  for (let start = 0; start < lines.length; start += LINES_AT_ONCE)
    yield Buffer.from(`${lines.slice(start, start + LINES_AT_ONCE).join("\n")}\n`);
}

/** As the server reads it from a file of values that tabs separate. */
function fieldOf(value: SqlValue): string {
  if (value === null) return "\\N";
  if (typeof value === "number") return String(value);
  if (typeof value !== "string") throw new Error("Bytes are not written in this way.");
  return /[\\\t\n\r\0]/.test(value) ? value.replace(/[\\\t\n\r\0]/g, (found) => ESCAPES[found] ?? found) : value;
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "\t": "\\t",
  "\n": "\\n",
  "\r": "\\r",
  "\0": "\\0",
};
