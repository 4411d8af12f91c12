import type { Knex } from "knex";
import type { HostTransaction } from "../../../../core/ports/unit-of-work.js";
import type { Connections, ConnectOptions, InstallationWork } from "../dialect.js";
import { isConnectionLost } from "./errors.js";
import { joinMysql } from "./host-transaction.js";
import { MYSQL_LIMITS } from "./options.js";
import { type MigrationHandle, MysqlPool, openMigrationHandle, type PooledConnection } from "./pool.js";
import type { MysqlSession } from "./session.js";
import type { Session, SqlValue, Table, TransactionSession } from "../session.js";
import type { TableNames } from "../table-names.js";

/** A lost connection is noticed at once, and the pool gives no other one that is as old. */
const READ_TRIES_MAX = 3;

/** Names of locks are at most 64 characters long. */
const MIGRATION_LOCK = "CONCAT('fermata ', LEFT(SHA2(DATABASE(), 256), 32))";

/** Opens a pool on `mysql:` + `target`; nothing is sent yet. */
export async function connectMysql(target: string, options: ConnectOptions): Promise<Connections> {
  return new MysqlConnections(new MysqlPool(target, options), options.names, () =>
    openMigrationHandle(target, options.log),
  );
}

class MysqlConnections implements Connections {
  readonly reader: Session;

  constructor(
    private readonly pool: MysqlPool,
    private readonly names: TableNames,
    private readonly openForMigrations: () => MigrationHandle,
  ) {
    this.reader = new PooledSession((work) => pool.with(MYSQL_LIMITS.statementMs, work));
  }

  get write(): Knex {
    return this.pool.handle;
  }

  get read(): Knex {
    return this.pool.handle;
  }

  transaction<T>(work: (session: TransactionSession) => Promise<T>): Promise<T> {
    return this.pool.with(MYSQL_LIMITS.statementMs, async (session, connection) => {
      await session.run("START TRANSACTION");
      try {
        const result = await work(session);
        session.isOpen = false;
        await session.run("COMMIT");
        return result;
      } catch (error) {
        session.isOpen = false;
        // A lock wait that timed out has undone one statement only; a COMMIT would keep the others.
        await this.rollBack(session, connection);
        throw error;
      }
    });
  }

  join<T>(transaction: HostTransaction, work: InstallationWork<T>): Promise<T> {
    return joinMysql(transaction, work, this.names);
  }

  snapshot<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.pool.with(MYSQL_LIMITS.auditMs, async (session, connection) => {
      await session.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
      await session.run("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY");
      try {
        return await work(session);
      } finally {
        await this.rollBack(session, connection);
      }
    });
  }

  /**
   * Holds a lock of the server on the connection that also migrates: both end with that connection. knex's own lock
   * would outlive a crash.
   */
  async alone<T>(work: (knex: Knex) => Promise<T>): Promise<T> {
    const { knex, close } = this.openForMigrations();
    const seconds = MYSQL_LIMITS.migrationMs / 1000;
    try {
      const [rows] = await knex.raw<{ got: number | null }[][]>(`SELECT GET_LOCK(${MIGRATION_LOCK}, ?) AS got`, [
        seconds,
      ]);
      if (rows?.[0]?.got !== 1) throw new Error(`Another process has been migrating for more than ${seconds} s.`);
      return await work(knex);
    } finally {
      await close();
    }
  }

  close(): Promise<void> {
    return this.pool.close();
  }

  /** Discards a connection that cannot be rolled back: the server rolls back when it ends. */
  private async rollBack(session: MysqlSession, connection: PooledConnection): Promise<void> {
    try {
      await session.run("ROLLBACK");
    } catch {
      this.pool.discard(connection);
    }
  }
}

/** Takes a connection of the pool for each call. A read whose connection is lost is repeated on another one. */
class PooledSession implements Session {
  constructor(private readonly withSession: <T>(work: (session: Session) => Promise<T>) => Promise<T>) {}

  all<Row>(sql: string, values?: readonly SqlValue[]): Promise<Row[]> {
    return this.read((session) => session.all<Row>(sql, values));
  }

  run(sql: string, values?: readonly SqlValue[]): Promise<number> {
    return this.withSession((session) => session.run(sql, values));
  }

  allEach<Row>(sql: string, lists: readonly (readonly SqlValue[])[]): Promise<Row[]> {
    return this.read((session) => session.allEach<Row>(sql, lists));
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

  private async read<T>(work: (session: Session) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.withSession(work);
      } catch (error) {
        // A server that hangs has used up the time of the caller.
        if (!isConnectionLost(error) || tries === READ_TRIES_MAX) throw error;
      }
    }
  }
}
