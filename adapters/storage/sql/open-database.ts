import type { Knex } from "knex";
import type { HostDatabase } from "../../../core/ports/host-database.js";
import type { Logger } from "../../../core/ports/logger.js";
import { KnexDatabase, UNPREFIXED_MIGRATIONS } from "./database.js";
import type { Connections, ConnectOptions, Dialect } from "./dialect.js";
import { findHostDatabase } from "./host-database.js";
import { MIGRATIONS } from "./migrations/index.js";
import { TableNames } from "./table-names.js";
import { mysqlDialect } from "./mysql/dialect.js";
import { sqliteDialect } from "./sqlite/dialect.js";

/** By scheme of `storage.url`. */
const DIALECTS: Readonly<Record<string, Dialect>> = { sqlite: sqliteDialect, mysql: mysqlDialect };

/** What the names of tables begin with in a new installation. */
export const TABLE_PREFIX = "fermata_";

export interface DatabaseOptions {
  /** `sqlite:PATH` or `mysql://USER:PASSWORD@HOST:PORT,…/DATABASE` */
  readonly url: string;
  readonly logger: Logger;
  /**
   * What the names of the tables begin with. Absent or null: as the installation in the database has it,
   * {@link TABLE_PREFIX} in a new one.
   */
  readonly tablePrefix?: string | null;
  /**
   * How long one attempt waits for a lock that another transaction holds; the dialect's own by default. A unit of work
   * tries five times.
   */
  readonly lockWaitMs?: number;
  /** Nothing is written: a server that only reads will do. */
  readonly readsOnly?: boolean;
}

/**
 * Opens the database, making a missing SQLite file with its folders; the schema is left as it is.
 *
 * @throws {Error} the URL names no engine that is known, the file cannot be opened, or it is not clear which
 * installation in the database is meant
 * @throws {ServiceUnavailableError} the storage cannot be reached
 */
export async function openDatabase(options: DatabaseOptions): Promise<KnexDatabase> {
  return openBy(connectorOf(options.url), options);
}

/**
 * Opens an app's own database: a file by connections of ours, a server by those of the app's pool.
 *
 * @throws {OperationRefusedError} it cannot be used; and as {@link openDatabase}
 */
export async function openHostDatabase(
  database: HostDatabase,
  options: Omit<DatabaseOptions, "url">,
): Promise<KnexDatabase> {
  const found = findHostDatabase(database);
  if (found.engine === "sqlite") return openBy(connectorOf(`sqlite:${found.path}`), options);
  const { borrowMysql } = await import("./mysql/borrowed-pool.js");
  return openBy({ dialect: mysqlDialect, connect: (connect) => borrowMysql(found.borrow, connect) }, options);
}

/** Connects to one database. */
interface Connector {
  readonly dialect: Dialect;
  connect(options: ConnectOptions): Promise<Connections>;
}

async function openBy(connector: Connector, options: Omit<DatabaseOptions, "url">): Promise<KnexDatabase> {
  const given = options.tablePrefix ?? null;
  const database = await openWith(connector, options, given ?? TABLE_PREFIX);
  try {
    if (!(await hasUnprefixed(database))) return database;
    const isThere = await database.hasTable(database.migrationsTable);
    if (given !== null && isThere) return database;
    if (given !== null || isThere) throw new Error(unclear(database.names.prefix, isThere));
  } catch (error) {
    await database.close();
    throw error;
  }
  await database.close();
  return openWith(connector, options, "");
}

/** Whether the database has an installation from before there was a prefix. */
async function hasUnprefixed(database: KnexDatabase): Promise<boolean> {
  if (!(await database.hasTable(UNPREFIXED_MIGRATIONS))) return false;
  const first = MIGRATIONS[0]?.name ?? null;
  const rows = await database.all(`SELECT 1 FROM ${UNPREFIXED_MIGRATIONS} WHERE name = ?`, [first]);
  return rows.length > 0;
}

function unclear(prefix: string, isThere: boolean): string {
  return isThere
    ? `The database has two installations: one whose tables begin with "${prefix}", and one without a prefix. ` +
        "Set storage.tablePrefix for the former, or move one to another database."
    : "The installation in the database is one without a table prefix, " +
        `but storage.tablePrefix is "${prefix}". Take the setting out; a second installation needs another database.`;
}

function connectorOf(url: string): Connector {
  const [scheme = "", target = ""] = splitOnce(url, ":");
  const dialect = DIALECTS[scheme];
  if (dialect === undefined || target === "") {
    const allowed = Object.values(DIALECTS).map((known) => known.urlForm);
    throw new Error(`A storage URL is ${allowed.join(" or ")}; got "${scheme}:…".`);
  }
  return { dialect, connect: (options) => dialect.connect(target, options) };
}

async function openWith(
  { dialect, connect }: Connector,
  { logger, lockWaitMs, readsOnly = false }: Omit<DatabaseOptions, "url">,
  prefix: string,
): Promise<KnexDatabase> {
  const names = new TableNames(prefix);
  const options = { log: knexLog(logger), lockWaitMs: lockWaitMs ?? dialect.lockWaitMs, names, readsOnly };
  return new KnexDatabase(dialect, names, await connect(options));
}

/** Without it knex writes to the console. */
function knexLog(logger: Logger): Knex.Logger {
  const log = logger.child({ component: "storage" });
  return {
    debug: (message: unknown) => log.debug(String(message)),
    warn: (message: unknown) => log.warn(String(message)),
    error: (message: unknown) => log.error(String(message)),
    deprecate: (method, alternative) => log.warn(`knex: ${method} is deprecated, use ${alternative}`),
  };
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + separator.length)];
}
