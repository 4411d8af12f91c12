import knex, { type Knex } from "knex";
import type { Connection } from "mysql2";
import type { Connections, ConnectOptions } from "./dialect.js";
import { spoilsConnection } from "./mysql-errors.js";
import { MysqlSession } from "./mysql-session.js";
import type { Session, SqlValue, Table, TransactionSession } from "./session.js";

/** An answer of 503 comes within a second: that long a request waits for a connection. */
const ACQUIRE_TIMEOUT_MS = 900;
const CONNECT_TIMEOUT_MS = 800;
const POOL_MAX = 12;
/** The longest a process waits for another one's migration. */
const MIGRATION_WAIT_SECONDS = 120;
const MIGRATION_LOCK = "fermata migrations";

const SQL_MODE = "STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,NO_ZERO_DATE,NO_ZERO_IN_DATE";

/** Opens a pool on `mysql:` + `target`; nothing is sent yet. */
export async function connectMysql(target: string, { log, lockWaitMs }: ConnectOptions): Promise<Connections> {
  const setup = [
    `SET SESSION time_zone = '+00:00', sql_mode = '${SQL_MODE}', innodb_lock_wait_timeout = ${Math.max(1, Math.round(lockWaitMs / 1000))}`,
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
  ];
  const handle = knex({
    client: "mysql2",
    connection: connectionOf(target),
    acquireConnectionTimeout: ACQUIRE_TIMEOUT_MS,
    log,
    pool: {
      min: 0,
      max: POOL_MAX,
      // An unreachable server is known at once; asking again is the caller's business.
      propagateCreateError: true,
      afterCreate(connection: Connection, done: (error: unknown, connection: Connection) => void): void {
        const session = new MysqlSession(connection);
        session
          .run(setup[0] as string)
          .then(() => session.run(setup[1] as string))
          .then(
            () => done(null, connection),
            (error: unknown) => done(error, connection),
          );
      },
    },
  });
  return new MysqlConnections(handle);
}

function connectionOf(target: string): Knex.MySql2ConnectionConfig & { readonly multipleStatements: boolean } {
  const url = new URL(`mysql:${target}`);
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
    connectTimeout: CONNECT_TIMEOUT_MS,
    multipleStatements: true,
    ...ssl,
  };
}

class MysqlConnections implements Connections {
  readonly reader: Session;

  constructor(private readonly handle: Knex) {
    this.reader = new PooledSession((work) => this.withConnection(work));
  }

  get write(): Knex {
    return this.handle;
  }

  get read(): Knex {
    return this.handle;
  }

  transaction<T>(work: (session: TransactionSession) => Promise<T>): Promise<T> {
    return this.withConnection(async (session) => {
      await session.run("START TRANSACTION");
      try {
        const result = await work(session);
        session.isOpen = false;
        await session.run("COMMIT");
        return result;
      } catch (error) {
        session.isOpen = false;
        // A lock wait that ran out has undone one statement only; a COMMIT now would keep the others.
        if (!spoilsConnection(error)) await session.run("ROLLBACK");
        throw error;
      }
    });
  }

  snapshot<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.withConnection(async (session) => {
      await session.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
      await session.run("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY");
      try {
        return await work(session);
      } finally {
        await session.run("ROLLBACK");
      }
    });
  }

  /** A lock of the server's own, which dies with its connection; knex's lock table would outlive a crash. */
  alone<T>(work: (knex: Knex) => Promise<T>): Promise<T> {
    return this.withConnection(async (session) => {
      const [lock] = await session.all<{ got: number | null }>("SELECT GET_LOCK(CONCAT(?, DATABASE()), ?) AS got", [
        MIGRATION_LOCK,
        MIGRATION_WAIT_SECONDS,
      ]);
      if (lock?.got !== 1) throw new Error(`Another process has been migrating for more than ${MIGRATION_WAIT_SECONDS} s.`);
      try {
        return await work(this.handle);
      } finally {
        await session.run("DO RELEASE_LOCK(CONCAT(?, DATABASE()))", [MIGRATION_LOCK]);
      }
    });
  }

  async close(): Promise<void> {
    await this.handle.destroy();
  }

  private async withConnection<T>(work: (session: MysqlSession) => Promise<T>): Promise<T> {
    const client = this.handle.client as Knex.Client;
    const connection = (await client.acquireConnection()) as Connection & { __knex__disposed?: unknown };
    try {
      return await work(new MysqlSession(connection));
    } catch (error) {
      // knex's pool throws a connection with this mark away.
      if (spoilsConnection(error)) connection.__knex__disposed = error;
      throw error;
    } finally {
      await client.releaseConnection(connection);
    }
  }
}

/** Takes a connection of the pool for each call. */
class PooledSession implements Session {
  constructor(private readonly withSession: <T>(work: (session: Session) => Promise<T>) => Promise<T>) {}

  all<Row>(sql: string, values?: readonly SqlValue[]): Promise<Row[]> {
    return this.withSession((session) => session.all<Row>(sql, values));
  }

  run(sql: string, values?: readonly SqlValue[]): Promise<number> {
    return this.withSession((session) => session.run(sql, values));
  }

  allEach<Row>(sql: string, lists: readonly (readonly SqlValue[])[]): Promise<Row[]> {
    return this.withSession((session) => session.allEach<Row>(sql, lists));
  }

  runEach(sql: string, lists: readonly (readonly SqlValue[])[]): Promise<number[]> {
    return this.withSession((session) => session.runEach(sql, lists));
  }

  insert<Row extends object>(table: Table<Row>, rows: readonly Row[]): Promise<void> {
    return this.withSession((session) => session.insert(table, rows));
  }

  upsert<Row extends object>(table: Table<Row>, rows: readonly Row[]): Promise<void> {
    return this.withSession((session) => session.upsert(table, rows));
  }
}
