import { OperationRefusedError } from "../../../core/errors.js";
import type { HostDatabase } from "../../../core/ports/host-database.js";

const FORMS =
  "an open knex instance of the client mysql2 or better-sqlite3, a pool of mysql2, or a database of better-sqlite3";

/** Fewer could not run four writers and what they read meanwhile. */
const CONNECTIONS_MIN = 4;

/** A connection of the app's pool. */
export interface Borrowed {
  readonly connection: object;
  /** Gives it back to the pool. */
  release(): void;
  /** Ends it: the pool opens another one for the next caller. */
  discard(): void;
}

/** What an app's database is for the storage. */
export type FoundDatabase =
  | { readonly engine: "sqlite"; readonly path: string }
  | { readonly engine: "mysql"; readonly borrow: () => Promise<Borrowed> };

/** The members of a knex instance that are used here. */
interface KnexInstance {
  readonly client: {
    readonly driverName?: string;
    readonly connectionSettings?: { readonly filename?: string; readonly options?: { readonly readonly?: boolean } };
    readonly pool?: { readonly max?: number };
    acquireConnection(): Promise<object>;
    releaseConnection(connection: object): Promise<void>;
  };
  raw(sql: string): unknown;
}

/** The members of a pool of mysql2 that are used here, and of its connections. */
interface MysqlPool {
  readonly config: {
    readonly connectionLimit?: number;
    readonly waitForConnections?: boolean;
    /** Most callers that wait for a connection; 0: any number. */
    readonly queueLimit?: number;
  };
  getConnection(done: (error: Error | null, connection: MysqlPoolConnection) => void): void;
}

interface MysqlPoolConnection {
  release(): void;
  destroy(): void;
}

/** A database of better-sqlite3. */
interface SqliteDatabase {
  readonly name: string;
  readonly memory: boolean;
  readonly readonly: boolean;
  readonly open: boolean;
  pragma(text: string): unknown;
}

/** @throws {OperationRefusedError} it is no open database of an engine that is known, or too small a pool */
export function findHostDatabase(given: HostDatabase): FoundDatabase {
  // What a caller in JavaScript may give.
  const value: unknown = given;
  if ((typeof value !== "object" && typeof value !== "function") || value === null)
    throw refusedDatabase(`it is ${value === null ? "null" : typeof value}`);
  if (isKnex(value)) return ofKnex(value);
  if (isSqlite(value)) return ofSqlite(value);
  // A pool of mysql2/promise is in front of another one.
  const pool = (value as { readonly pool?: unknown }).pool ?? value;
  if (isMysqlPool(pool)) return ofMysqlPool(pool);
  throw refusedDatabase("it is none of these");
}

export function refusedDatabase(why: string, options?: ErrorOptions): OperationRefusedError {
  return new OperationRefusedError(`The database cannot be used: ${why}. Allowed: ${FORMS}.`, options);
}

function ofKnex({ client }: KnexInstance): FoundDatabase {
  if (client.driverName === "better-sqlite3") return ofSqliteKnex(client.connectionSettings);
  if (client.driverName !== "mysql2") throw refusedDatabase(`it is a knex instance of ${String(client.driverName)}`);
  checkSize(client.pool?.max);
  return {
    engine: "mysql",
    borrow: async () => {
      const connection = await client.acquireConnection();
      // knex gives no connection again that has ended.
      const discard = (): void => void (connection as MysqlPoolConnection).destroy();
      const release = (): void => void client.releaseConnection(connection);
      return { connection, release, discard: () => (discard(), release()) };
    },
  };
}

function ofSqliteKnex(settings: KnexInstance["client"]["connectionSettings"]): FoundDatabase {
  if (settings?.filename === undefined) throw refusedDatabase("its connection names no file");
  if (settings.options?.readonly === true) throw refusedDatabase("it is read-only");
  return ofFile(settings.filename);
}

function ofMysqlPool(pool: MysqlPool): FoundDatabase {
  const { connectionLimit, waitForConnections = true, queueLimit = 0 } = pool.config;
  checkSize(connectionLimit);
  // Fermata has more reads and transactions at once than a pool has connections.
  if (!waitForConnections) throw refusedDatabase("its pool has waitForConnections: false, and Fermata needs true");
  if (queueLimit > 0) throw refusedDatabase(`its pool has queueLimit: ${queueLimit}, and Fermata needs 0, no limit`);
  return {
    engine: "mysql",
    borrow: async () => {
      const connection = await new Promise<MysqlPoolConnection>((resolve, reject) =>
        pool.getConnection((error, found) => (error === null ? resolve(found) : reject(error))),
      );
      return { connection, release: () => connection.release(), discard: () => connection.destroy() };
    },
  };
}

function ofSqlite({ name, memory, readonly, open }: SqliteDatabase): FoundDatabase {
  if (!open) throw refusedDatabase("it is closed");
  if (readonly) throw refusedDatabase("it is read-only");
  return ofFile(memory ? ":memory:" : name);
}

function ofFile(path: string): FoundDatabase {
  if (path === "" || path.includes(":memory:"))
    throw refusedDatabase("it is in memory, where no other connection reaches it");
  return { engine: "sqlite", path };
}

function checkSize(limit: number | undefined): void {
  if (limit !== undefined && limit < CONNECTIONS_MIN)
    throw refusedDatabase(`its pool has at most ${limit} connections, and Fermata needs ${CONNECTIONS_MIN}`);
}

function isKnex(value: object): value is KnexInstance {
  const { client, raw, isTransaction } = value as Partial<KnexInstance> & { readonly isTransaction?: boolean };
  return typeof raw === "function" && typeof client === "object" && isTransaction !== true;
}

function isSqlite(value: object): value is SqliteDatabase {
  const { pragma, memory, name } = value as Partial<SqliteDatabase>;
  return typeof pragma === "function" && typeof memory === "boolean" && typeof name === "string";
}

function isMysqlPool(value: unknown): value is MysqlPool {
  if (typeof value !== "object" || value === null) return false;
  const { getConnection, config } = value as Partial<MysqlPool>;
  return typeof getConnection === "function" && typeof config === "object";
}
