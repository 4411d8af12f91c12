import { createRequire } from "node:module";
import type { Knex } from "knex";

// knex has no types for its clients, and its transactions begin DEFERRED: one that reads before it writes fails at once
// with SQLITE_BUSY_SNAPSHOT when another process wrote in between, with any busy_timeout. Beginning IMMEDIATE waits for
// its turn.
type Constructor = new (...parameters: unknown[]) => object;
interface Query {
  query(connection: unknown, sql: string): unknown;
}

const require = createRequire(import.meta.url);
const KnexSqliteClient = require("knex/lib/dialects/better-sqlite3/index.js") as Constructor;
const KnexSqliteTransaction = require("knex/lib/dialects/sqlite3/execution/sqlite-transaction.js") as Constructor;

class ImmediateTransaction extends KnexSqliteTransaction {
  begin(connection: unknown): unknown {
    return (this as unknown as Query).query(connection, "BEGIN IMMEDIATE;");
  }
}

class ImmediateSqliteClient extends KnexSqliteClient {
  transaction(...parameters: unknown[]): object {
    return new ImmediateTransaction(this, ...parameters);
  }
}

/** knex's better-sqlite3 client, whose transactions take the write lock when they begin. */
export const SqliteClient = ImmediateSqliteClient as unknown as typeof Knex.Client;
