import type { Knex } from "knex";
import type { PoolFigures } from "../../../../core/ports/opened-storage.js";
import type { HostTransaction } from "../../../../core/ports/unit-of-work.js";
import type { Connections, ConnectOptions, InstallationWork } from "../dialect.js";
import type { ConnectionSource } from "./connection-source.js";
import { isConnectionLost, isReadOnly } from "./errors.js";
import { joinMysql } from "./host-transaction.js";
import { MIGRATION_LOCK, MYSQL_LIMITS } from "./options.js";
import { MysqlPool } from "./pool.js";
import type { MysqlSession } from "./session.js";
import type { RowUpdate, Session, SqlValue, Table, TransactionSession } from "../session.js";
import type { TableNames } from "../table-names.js";

/** A lost connection is noticed at once, and the pool gives no other one that is as old. */
const READ_TRIES_MAX = 3;

/** Opens a pool on `mysql:` + `target`; nothing is sent yet. */
export async function connectMysql(target: string, options: ConnectOptions): Promise<Connections> {
  return new MysqlConnections(new MysqlPool(target, options), options.names);
}

/** The same statements on connections of any source. */
export class MysqlConnections implements Connections {
  readonly reader: Session;
  readonly file = null;

  constructor(
    private readonly source: ConnectionSource,
    private readonly names: TableNames,
  ) {
    this.reader = new PooledSession((work) => source.with(MYSQL_LIMITS.statementMs, work));
  }

  get write(): Knex {
    return this.source.handle;
  }

  get read(): Knex {
    return this.source.handle;
  }

  transaction<T>(work: (session: TransactionSession) => Promise<T>): Promise<T> {
    return this.source.with(MYSQL_LIMITS.statementMs, async (session, discard) => {
      await orDiscarded(discard, () => session.beginTransaction(this.source.begin));
      try {
        const result = await work(session);
        await session.commit();
        return result;
      } catch (error) {
        // A lock wait that timed out has undone one statement only; a COMMIT would keep the others.
        await rollBack(session, discard);
        throw error;
      }
    });
  }

  join<T>(transaction: HostTransaction, work: InstallationWork<T>): Promise<T> {
    return joinMysql(transaction, work, this.names);
  }

  snapshot<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.source.with(MYSQL_LIMITS.auditMs, async (session, discard) => {
      await orDiscarded(discard, async () => {
        for (const statement of BEGIN_SNAPSHOT) await session.run(statement);
      });
      try {
        return await work(session);
      } finally {
        await rollBack(session, discard);
      }
    });
  }

  /**
   * Holds a lock of the server on the connection that also migrates: both end with that connection. knex's own lock
   * would outlive a crash.
   */
  async alone<T>(work: (knex: Knex) => Promise<T>): Promise<T> {
    const { knex, close } = this.source.openForMigrations();
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

  pools(): readonly PoolFigures[] {
    return this.source.pools();
  }

  close(): Promise<void> {
    return this.source.close();
  }
}

const BEGIN_SNAPSHOT = [
  "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
  "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
];

/** A level holds for the next transaction of the connection: where ours does not begin, no other one may get it. */
async function orDiscarded(discard: () => void, begin: () => Promise<void>): Promise<void> {
  try {
    await begin();
  } catch (error) {
    discard();
    throw error;
  }
}

/** The server rolls back when a connection ends that cannot be rolled back. */
async function rollBack(session: MysqlSession, discard: () => void): Promise<void> {
  await session.rollBack().catch(discard);
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

  writeEach(sql: string, lists: readonly (readonly SqlValue[])[]): Promise<void> {
    return this.withSession((session) => session.writeEach(sql, lists));
  }

  updateRows(table: string, by: readonly string[], updates: readonly RowUpdate[]): Promise<number> {
    return this.withSession((session) => session.updateRows(table, by, updates));
  }

  insert<Row extends object>(table: Table<Row>, rows: readonly Row[]): Promise<void> {
    return this.withSession((session) => session.insert(table, rows));
  }

  upsert<Row extends object>(table: Table<Row>, rows: readonly Row[]): Promise<void> {
    return this.withSession((session) => session.upsert(table, rows));
  }

  upsertSums<Row extends object>(table: Table<Row>, rows: readonly Row[]): Promise<void> {
    return this.withSession((session) => session.upsertSums(table, rows));
  }

  private async read<T>(work: (session: Session) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.withSession(work);
      } catch (error) {
        // A server that hangs has used up the time of the caller.
        if (!(isConnectionLost(error) || isReadOnly(error)) || tries === READ_TRIES_MAX) throw error;
      }
    }
  }
}
