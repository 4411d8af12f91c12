import type { Dialect } from "./dialect.js";
import { connectSqlite } from "./sqlite-connections.js";

const LOST_RACE = ["SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY"];
const UNAVAILABLE = ["SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_FULL", "SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_READONLY"];

/** One file, one writer at a time. */
export const sqliteDialect: Dialect = {
  name: "sqlite",
  hasRowLocks: false,
  concurrentWriters: 1,
  forUpdate: "",
  forClaim: "",
  probe: "SELECT COUNT(*) AS objects FROM sqlite_schema",
  columns: {
    id: (table, name, length = 40) => table.string(name, length),
    words: (table, name, length) => table.string(name, length),
    text: (table, name) => table.text(name),
    json: (table, name) => table.text(name),
    integer: (table, name) => table.bigInteger(name),
    indexWhereSet(knex, table, columns, column, { name, unique = false }) {
      const predicate = knex.queryBuilder().whereNotNull(column);
      if (unique) table.unique([...columns], { indexName: name, predicate });
      else table.index([...columns], name, { predicate });
    },
  },
  upsertClause(table) {
    const changes = table.columns.filter((column) => !table.key.includes(column));
    return ` ON CONFLICT (${table.key.join(", ")}) DO UPDATE SET ${changes.map((column) => `${column} = excluded.${column}`).join(", ")}`;
  },
  isLostRace: (error) => hasCode(error, LOST_RACE),
  isUnavailable: (error) => hasCode(error, UNAVAILABLE) || isClosed(error),
  connect: connectSqlite,
};

/** Extended codes begin with the plain one: SQLITE_BUSY_SNAPSHOT is a SQLITE_BUSY. */
function hasCode(error: unknown, codes: readonly string[]): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && codes.some((known) => code === known || code.startsWith(`${known}_`));
}

function isClosed(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === "KnexTimeoutError" || /connection is not open|unable to acquire a connection|aborted/i.test(error.message);
}
