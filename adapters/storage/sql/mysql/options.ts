import type { ConnectionOptions } from "mysql2";
import { hostUrls } from "../../../../core/host-urls.js";

/** Most connections of a process. */
export const POOL_MAX = 12;

/**
 * Time limits. A caller of the API gets an error for an unavailable storage within a second: because there is no
 * connection to be had (the check of an old one and the opening of a new one included), or because a statement is late
 * and the server does not greet a newcomer either.
 */
export const MYSQL_LIMITS = {
  /** For the first connection of a process, and for that of a migration: others may be starting on the same machine. */
  firstMs: 10_000,
  /** For a connection, from whichever source. */
  acquireMs: 850,
  /** For one of the pool of an embedding app, which may be at work for that app. */
  borrowMs: 2_000,
  /** For opening one. */
  connectMs: 750,
  /** For the sign of life of one that was idle. */
  pingMs: 350,
  /** After that a statement is late: it waits for a lock, or the server hangs. */
  lateMs: 350,
  /** For the greeting of a new connection, which the probe checks. */
  probeMs: 350,
  /** For what is sent in one packet to a server that is there: more than the longest wait for a lock. */
  statementMs: 5_000,
  /** For a lock, in a transaction of an embedding app, where the server counts in seconds. */
  joinedLockWaitSeconds: 5,
  /** For what reads all of the data. */
  auditMs: 600_000,
  /** For the migration of another process. */
  migrationMs: 120_000,
} as const;

/**
 * Prepared statements of a connection; beyond them the one that was used least recently ends. All connections of twenty
 * processes stay below the 16,382 that a server holds by default.
 */
const PREPARED_MAX = 60;

/** Names of locks are at most 64 characters long. */
export const MIGRATION_LOCK = "CONCAT('fermata ', LEFT(SHA2(DATABASE(), 256), 32))";

/**
 * The server ends a session that was silent for so long: a process that hangs in a transaction keeps its locks no
 * longer.
 */
const SILENCE_SECONDS = 60;

/** For a change of the schema: a migration holds a table for a moment, and needs to be waited for longer than a row. */
export const SCHEMA_WAIT_SECONDS = 3;

export const SQL_MODE =
  "STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,NO_ZERO_DATE,NO_ZERO_IN_DATE";

/**
 * Of sessions on MariaDB: since 11.6 a statement that waited for a row fails when the row has changed meanwhile (1020),
 * unless this is off. Ours read a row again once they have its lock.
 */
export const SNAPSHOT_ISOLATION = "innodb_snapshot_isolation";

/** Only for servers of MariaDB that have it in each of their releases. */
export function whereSnapshots(text: string): string {
  return ` /*M!110402 ${text} */`;
}

/** What every connection agrees on with the server before it is used, in one packet. */
export function sessionSetup(lockWaitSeconds: number): string {
  const values = [
    "time_zone = '+00:00'",
    `sql_mode = '${SQL_MODE}'`,
    `innodb_lock_wait_timeout = ${lockWaitSeconds}`,
    `lock_wait_timeout = ${Math.max(lockWaitSeconds, SCHEMA_WAIT_SECONDS)}`,
    `wait_timeout = ${SILENCE_SECONDS}`,
  ];
  const snapshots = whereSnapshots(`, ${SNAPSHOT_ISOLATION} = OFF`);
  return `SET SESSION ${values.join(", ")}${snapshots}; SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED`;
}

/** One server of a URL. */
export interface MysqlHost {
  /** Host and port, for messages. */
  readonly place: string;
  /** The driver's. */
  readonly options: ConnectionOptions;
}

/** @param target what follows `mysql:` in a URL @throws {Error} its list of hosts is wrong */
export function hostsOf(target: string): readonly MysqlHost[] {
  return hostUrls(`mysql:${target}`).map((one) => {
    const url = new URL(one);
    return { place: `${url.hostname}:${url.port || 3306}`, options: connectionOf(url) };
  });
}

function connectionOf(url: URL): ConnectionOptions {
  const ssl = url.searchParams.get("ssl") === "true" ? { ssl: {} } : {};
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? 3306 : Number(url.port),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)),
    timezone: "Z",
    charset: "utf8mb4",
    supportBigNumbers: true,
    decimalNumbers: true,
    connectTimeout: MYSQL_LIMITS.firstMs,
    multipleStatements: true,
    maxPreparedStatements: PREPARED_MAX,
    ...ssl,
  };
}
