import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type BetterSqlite3 from "better-sqlite3";
import knex, { type Knex } from "knex";
import type { PoolFigures } from "../../../../core/ports/opened-storage.js";
import type { HostTransaction } from "../../../../core/ports/unit-of-work.js";
import type { ConnectOptions, Connections, InstallationWork } from "../dialect.js";
import { poolFiguresOf } from "../pool-figures.js";
import type { Session, TransactionSession } from "../session.js";
import type { TableNames } from "../table-names.js";
import { SqliteClient } from "./client.js";
import { isDriverUnusable, isUnavailable, REBUILD_DRIVER } from "./errors.js";
import { joinSqlite } from "./host-transaction.js";
import { SqliteSession } from "./session.js";

/** How long a transaction waits for the one before it in this process. */
const ACQUIRE_TIMEOUT_MS = 10_000;

/** Of processes that migrate at once, the others wait for the first. */
const MIGRATION_TRIES_MAX = 60;
const MIGRATION_WAIT_MS = 100;

/** How often the end of a transaction of the embedding app is looked for. */
const JOINED_LOOK_MS = 5;

/** Connections: SQLite has one writer; of the readers one is for prepared reads, and the other for what runs long. */
const WRITERS = 1;
const READERS = 2;

type Database = BetterSqlite3.Database;

/** Opens the file at `path`; what is missing of it and its folders is created, and closed to other users. */
export async function connectSqlite(path: string, { log, lockWaitMs, names }: ConnectOptions): Promise<Connections> {
  await createPrivateFile(path);
  const pragmas = ["journal_mode = WAL", "synchronous = FULL", "foreign_keys = OFF", `busy_timeout = ${lockWaitMs}`];
  // A checkpoint writes a page once, however often it changed: every 16 MB costs a tenth less than every 4 (measured).
  const write = openHandle(path, log, [...pragmas, "wal_autocheckpoint = 4000"], WRITERS);
  // The second connection is for what runs long on one view of the data: prepared reads keep the first. Searches of a
  // large library read more than the 2 MB that SQLite keeps in memory by itself: with up to 64, a third faster
  // (measured).
  const read = openHandle(path, log, [...pragmas, "query_only = ON", "cache_size = -64000"], READERS);
  try {
    await write.raw("SELECT 1");
    return new SqliteConnections(write, read, await acquire(read), { path, names, lockWaitMs });
  } catch (error) {
    await Promise.all([write.destroy(), read.destroy()]);
    throw refusalOf(path, error);
  }
}

/** SQLite would create it by the umask. Its companions, `-wal` and `-shm`, take the rights of the file itself. */
async function createPrivateFile(path: string): Promise<void> {
  if (path === ":memory:") return;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    await (await open(path, "wx", 0o600)).close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw refusalOf(path, error);
  }
}

function refusalOf(path: string, cause: unknown): Error {
  if (isDriverUnusable(cause)) {
    const { node, modules } = process.versions;
    return new Error(`better-sqlite3 was not built for Node ${node} (ABI ${modules}). ${REBUILD_DRIVER}`, { cause });
  }
  return new Error(`The SQLite file ${path} cannot be opened: ${(cause as Error).message}`, { cause });
}

function openHandle(path: string, log: Knex.Logger, pragmas: readonly string[], connections: number): Knex {
  return knex({
    client: SqliteClient,
    connection: { filename: path },
    useNullAsDefault: true,
    acquireConnectionTimeout: ACQUIRE_TIMEOUT_MS,
    log,
    pool: {
      min: 1,
      max: connections,
      afterCreate(connection: Database, done: (error: unknown, connection: Database) => void): void {
        for (const pragma of pragmas) connection.pragma(pragma);
        done(null, connection);
      },
    },
  });
}

class SqliteConnections implements Connections {
  readonly reader: Session;
  readonly file: string | null;
  private readonly names: TableNames;
  private readonly lockWaitMs: number;
  /** Connections of the embedding app, until their transactions have ended. */
  private readonly joined = new Set<Database>();

  constructor(
    readonly write: Knex,
    readonly read: Knex,
    private readonly readerConnection: Database,
    { path, names, lockWaitMs }: Pick<ConnectOptions, "names" | "lockWaitMs"> & { readonly path: string },
  ) {
    this.file = path === ":memory:" ? null : path;
    this.names = names;
    this.lockWaitMs = lockWaitMs;
    this.reader = new SqliteSession(readerConnection, names);
  }

  /**
   * knex's own transaction costs as much as the commit itself (measured: 2.3 k/s against 4.8 k/s), so this begins by
   * hand.
   */
  async transaction<T>(work: (session: TransactionSession) => Promise<T>): Promise<T> {
    // better-sqlite3 never lets go of the thread, a commit included: without this turn, transactions in a row would
    // keep out the requests that are to share the next one.
    await nextTurn();
    await this.afterJoined();
    const connection = await acquire(this.write);
    const session = new SqliteSession(connection, this.names);
    try {
      await session.control("BEGIN IMMEDIATE");
      const result = await work(session);
      session.isOpen = false;
      await session.control("COMMIT");
      return result;
    } finally {
      session.isOpen = false;
      // Some failures (a full disk) have rolled back by themselves.
      if (connection.inTransaction) await session.control("ROLLBACK");
      await release(this.write, connection);
    }
  }

  join<T>(transaction: HostTransaction, work: InstallationWork<T>): Promise<T> {
    return joinSqlite(transaction, work, {
      names: this.names,
      joined: (connection) => void this.joined.add(connection),
    });
  }

  async snapshot<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const connection = await acquire(this.read);
    const session = new SqliteSession(connection, this.names);
    try {
      await session.control("BEGIN");
      return await work(session);
    } finally {
      session.isOpen = false;
      if (connection.inTransaction) await session.control("ROLLBACK");
      await release(this.read, connection);
    }
  }

  /** The write lock itself keeps others away, and a process that dies in the middle leaves nothing behind. */
  async alone<T>(work: (knex: Knex) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.write.transaction((tx) => work(tx));
      } catch (error) {
        if (!isUnavailable(error) || tries === MIGRATION_TRIES_MAX) throw error;
        await sleep(MIGRATION_WAIT_MS);
      }
    }
  }

  /**
   * Waits for the end of the transactions of the embedding app that were joined. To wait for their locks would keep
   * this thread, and the app could not commit.
   */
  private async afterJoined(): Promise<void> {
    const endsAt = performance.now() + this.lockWaitMs;
    while (this.joined.size > 0 && performance.now() < endsAt) {
      for (const connection of this.joined)
        if (!connection.open || !connection.inTransaction) this.joined.delete(connection);
      if (this.joined.size > 0) await sleep(JOINED_LOOK_MS);
    }
  }

  pools(): readonly PoolFigures[] {
    return [poolFiguresOf("write", this.write, WRITERS), poolFiguresOf("read", this.read, READERS)];
  }

  async close(): Promise<void> {
    await release(this.read, this.readerConnection);
    await Promise.all([this.read.destroy(), this.write.destroy()]);
  }
}

async function acquire(handle: Knex): Promise<Database> {
  return (await (handle.client as Knex.Client).acquireConnection()) as Database;
}

async function release(handle: Knex, connection: Database): Promise<void> {
  await (handle.client as Knex.Client).releaseConnection(connection);
}
