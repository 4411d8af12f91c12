import type { Dialect } from "../dialect.js";
import { SQLITE_TIME } from "../storage-time.js";
import { isLostRace, isUnavailable } from "./errors.js";
import { addingClause } from "./upserts.js";

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
  keepsSize: () => "",
  joinBehind: "CROSS JOIN",
  unionAll: (queries) => queries.map((query) => `SELECT * FROM (${query})`).join(" UNION ALL "),
  addingClause,
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
    blanks: null,
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
  sizes: {
    // The table of each page is known by an optional part of SQLite, which better-sqlite3 is built with.
    tables: `SELECT m.tbl_name AS name, NULL AS row_count, SUM(s.pgsize) AS bytes, NULL AS free_bytes
      FROM dbstat AS s JOIN sqlite_schema AS m ON m.name = s.name WHERE s.aggregate = TRUE GROUP BY m.tbl_name`,
    areRowsEstimated: false,
    tablesWithoutBytes: `SELECT name, NULL AS row_count, NULL AS bytes, NULL AS free_bytes
      FROM sqlite_schema WHERE type = 'table'`,
    isWithoutBytes: (error) => error instanceof Error && error.message === "no such table: dbstat",
    whole: `SELECT page_count * page_size AS bytes, freelist_count * page_size AS free_bytes
      FROM pragma_page_count, pragma_page_size, pragma_freelist_count`,
  },
  isLostRace,
  // A process that holds the lock holds up every writer.
  isLockWait: () => false,
  isUnavailable,
  // The driver is loaded where it is needed.
  connect: async (target, options) => (await import("./connections.js")).connectSqlite(target, options),
};
