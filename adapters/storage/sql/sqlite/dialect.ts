import type { Dialect } from "../dialect.js";
import { SQLITE_TIME } from "../storage-time.js";
import { isLostRace, isUnavailable } from "./errors.js";

/** One file, one writer at a time. */
export const sqliteDialect: Dialect = {
  name: "sqlite",
  urlForm: "sqlite:PATH",
  // The wait holds up the event loop, so it is short; the unit of work tries again.
  lockWaitMs: 1_000,
  concurrentWriters: 1,
  forUpdate: "",
  forClaim: "",
  useIndex: (name) => ` INDEXED BY {${name}}`,
  usePrimaryKey: "",
  probe: "SELECT COUNT(*) AS objects FROM sqlite_schema",
  timeQuery: SQLITE_TIME,
  findTable: "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?",
  findForeignTable: "SELECT 1 FROM sqlite_schema WHERE type IN ('table', 'view') AND name = ? COLLATE NOCASE",
  columns: {
    id: (table, name, length = 40) => table.string(name, length),
    words: (table, name, length) => table.string(name, length),
    text: (table, name) => table.text(name),
    json: (table, name) => table.text(name),
    bytes: (table, name) => table.binary(name),
    integer: (table, name) => table.bigInteger(name),
    indexWhereSet(knex, table, columns, column, { name, unique = false }) {
      const predicate = knex.queryBuilder().whereNotNull(column);
      if (unique) table.unique([...columns], { indexName: name, predicate });
      else table.index([...columns], name, { predicate });
    },
    clustered: " WITHOUT ROWID",
    async hasIndex(knex, table, name) {
      return (await knex("sqlite_schema").where({ type: "index", tbl_name: table, name }).first("name")) !== undefined;
    },
  },
  isLostRace,
  // A process that holds the lock holds up every writer.
  isLockWait: () => false,
  isUnavailable,
  // The driver is loaded where it is needed.
  connect: async (target, options) => (await import("./connections.js")).connectSqlite(target, options),
};
