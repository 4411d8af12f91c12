import type { Dialect } from "../dialect.js";
import { MYSQL_TIME } from "../storage-time.js";
import { TABLE_COMMENT } from "../migrations/migration.js";
import { keepsSize } from "./room.js";
import { isLockWait, isLostRace, isUnavailable } from "./errors.js";
import { addingClause } from "./upserts.js";

const ASCII = "character set ascii collate ascii_bin";
const UNICODE = "character set utf8mb4 collate utf8mb4_bin";
/**
 * Trailing blanks count. Each server has a collation of its own for that, and reads only its own kind of these comments
 * (MariaDB skips those for MySQL 5.7 to 9).
 */
const EXACT = "character set utf8mb4 /*M! collate utf8mb4_nopad_bin */ /*!80017 collate utf8mb4_0900_bin */";

const TABLE_SIZES = `SELECT table_name AS name, table_rows AS row_count, data_length + index_length AS bytes,
  data_free AS free_bytes FROM information_schema.tables
  WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'`;

/** MySQL 8.0 and later, MariaDB 10.6 and later. */
export const mysqlDialect: Dialect = {
  name: "mysql",
  urlForm: "mysql://USER:PASSWORD@HOST:PORT,…/DATABASE",
  lockWaitMs: 1_000,
  concurrentWriters: 2,
  forUpdate: " FOR UPDATE",
  forClaim: " FOR UPDATE SKIP LOCKED",
  useIndex: (name) => ` FORCE INDEX ({${name}})`,
  usePrimaryKey: " FORCE INDEX (PRIMARY)",
  keepsSize,
  joinBehind: "STRAIGHT_JOIN",
  unionAll: (queries) => queries.map((query) => `(${query})`).join(" UNION ALL "),
  addingClause,
  probe: "SELECT 1",
  timeQuery: MYSQL_TIME,
  findTable: "SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?",
  findForeignTable:
    "SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ? " +
    `AND table_comment <> '${TABLE_COMMENT}'`,
  columns: {
    id: (table, name, length = 40) => table.specificType(name, `varchar(${length}) ${ASCII}`),
    words: (table, name, length) => table.specificType(name, `varchar(${length}) ${EXACT}`),
    text: (table, name) => table.specificType(name, `mediumtext ${UNICODE}`),
    json: (table, name) => table.specificType(name, `mediumtext ${UNICODE}`),
    bytes: (table, name, length) => table.specificType(name, `varbinary(${length})`),
    integer: (table, name) => table.bigInteger(name),
    blanks: (table, name, length) => table.specificType(name, `varchar(${length}) ${ASCII}`),
    indexWhereSet(_knex, table, columns, _column, { name, unique = false }) {
      // A unique index takes any number of rows whose column is not set.
      if (unique) table.unique([...columns], { indexName: name });
      else table.index([...columns], name);
    },
    clustered: "",
    async hasIndex(knex, table, name) {
      const [rows] = await knex.raw<object[][]>(`SHOW INDEX FROM ?? WHERE Key_name = ?`, [table, name]);
      return rows !== undefined && rows.length > 0;
    },
  },
  sizes: {
    // As of the engine's last look at each table, which MySQL keeps for up to a day.
    tables: TABLE_SIZES,
    areRowsEstimated: true,
    tablesWithoutBytes: TABLE_SIZES,
    isWithoutBytes: () => false,
    whole: null,
  },
  isLostRace,
  isLockWait,
  isUnavailable,
  // The driver is loaded where it is needed.
  connect: async (target, options) => (await import("./connections.js")).connectMysql(target, options),
};
