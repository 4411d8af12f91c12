import type { Connection, QueryError, QueryOptions, ResultSetHeader, TypeCastField, TypeCastNext } from "mysql2";
import type { HostTransaction } from "../../../../core/ports/unit-of-work.js";
import type { InstallationWork } from "../dialect.js";
import {
  checkInstallation,
  type HostConnection,
  hostConnectionOf,
  inTurn,
  refusedTransaction,
} from "../host-transaction.js";
import { type SqlValue, storable } from "../session.js";
import type { TableNames } from "../table-names.js";
import { MYSQL_LIMITS, SQL_MODE } from "./options.js";
import { type MysqlResult, MysqlSession } from "./session.js";

/** Bits of the server's status in its response to a statement. @see MySQL's protocol, SERVER_STATUS_flags_enum */
const IN_TRANSACTION = 1;
const AUTOCOMMIT = 2;
/** The bit of a client that gets the number of rows found. @see MySQL's protocol, capability flags */
const FOUND_ROWS = 2;

/**
 * What the app set is left alone, for two round trips more than a transaction of our own has; the savepoint takes two.
 */
const OUR_MODES = `SET @fermata_sql_mode = @@SESSION.sql_mode,
  @fermata_lock_wait = @@SESSION.innodb_lock_wait_timeout,
  SESSION sql_mode = '${SQL_MODE}',
  SESSION innodb_lock_wait_timeout = ${MYSQL_LIMITS.joinedLockWaitSeconds}`;
const THEIR_MODES = `SET SESSION sql_mode = @fermata_sql_mode,
  SESSION innodb_lock_wait_timeout = @fermata_lock_wait`;

/** Runs the work inside the transaction of a connection of the app's own mysql2. */
export async function joinMysql<T>(
  transaction: HostTransaction,
  work: InstallationWork<T>,
  names: TableNames,
): Promise<T> {
  const host = await hostConnectionOf(transaction);
  return inTurn(host.connection, () => joinConnection(host, work, names));
}

async function joinConnection<T>(
  { connection, afterCommit }: HostConnection,
  { work, committed, installationId }: InstallationWork<T>,
  names: TableNames,
): Promise<T> {
  const session = new JoinedMysqlSession(checked(connection), names);
  const status = await session.begin();
  try {
    if ((status & IN_TRANSACTION) === 0 && (status & AUTOCOMMIT) !== 0)
      throw refusedTransaction("the connection has no open transaction");
    await checkInstallation(session, installationId);
    const result = await session.keptWhole(work);
    afterCommit(() => committed(result));
    return result;
  } finally {
    await session.end();
  }
}

/** @throws {OperationRefusedError} statements would not do on it what they do on a connection of our own */
function checked(connection: object): Connection {
  const { query, execute, config } = connection as Partial<Connection>;
  if (typeof query !== "function" || typeof execute !== "function" || typeof config !== "object")
    throw refusedTransaction("it is none of mysql2");
  const { queryFormat, clientFlags } = config as unknown as {
    readonly queryFormat?: unknown;
    readonly clientFlags: number;
  };
  if (typeof queryFormat === "function") throw refusedTransaction("its connection has a queryFormat of its own");
  if ((clientFlags & FOUND_ROWS) === 0) throw refusedTransaction("its connection was opened without FOUND_ROWS");
  return connection as Connection;
}

/** Statements among those of the app: never several in one packet, and read as ours are, whatever the app has set. */
class JoinedMysqlSession extends MysqlSession {
  protected override readonly packetStatements = 1;

  constructor(
    private readonly host: Connection,
    names: TableNames,
  ) {
    super(host as ConstructorParameters<typeof MysqlSession>[0], { limitMs: Infinity, names });
  }

  /** @returns the server's status */
  async begin(): Promise<number> {
    return ((await this.query(OUR_MODES, [])) as ResultSetHeader).serverStatus;
  }

  /** What the work wrote is taken back when it throws, and the transaction goes on. */
  async keptWhole<T>(work: (session: MysqlSession) => Promise<T>): Promise<T> {
    await this.run("SAVEPOINT fermata");
    try {
      const result = await work(this);
      this.isOpen = false;
      await this.run("RELEASE SAVEPOINT fermata");
      return result;
    } catch (error) {
      this.isOpen = false;
      // After a deadlock the server has rolled back everything, the savepoint included.
      await this.unlessGone("ROLLBACK TO SAVEPOINT fermata");
      throw error;
    }
  }

  async end(): Promise<void> {
    await this.unlessGone(THEIR_MODES);
  }

  protected override query(sql: string, values: readonly SqlValue[]): Promise<MysqlResult> {
    const options: QueryOptions = { ...AS_OURS, sql, values: [...storable(values)] };
    return new Promise((resolve, reject) => {
      this.host.query<MysqlResult & ResultSetHeader>(options, (error: QueryError | null, result) =>
        error === null ? resolve(result) : reject(error),
      );
    });
  }

  /** What is undone by the loss of the connection need not be undone. The app learns of it by its own statements. */
  private async unlessGone(sql: string): Promise<void> {
    await this.query(sql, []).catch(() => undefined);
  }
}

/** Options of one query, which win over those of the connection. */
const AS_OURS: Omit<QueryOptions, "sql"> = { rowsAsArray: false, nestTables: false as never, typeCast: asOurs };

const NUMBERS: ReadonlySet<string> = new Set([
  ...["TINY", "SHORT", "INT24", "LONG", "LONGLONG"],
  ...["FLOAT", "DOUBLE", "DECIMAL", "NEWDECIMAL"],
]);

/** Numbers are below 2^53, whatever the app has set for its own. */
function asOurs(field: TypeCastField, next: TypeCastNext): unknown {
  if (!NUMBERS.has(field.type)) return next();
  const text = field.string();
  return text === null ? null : Number(text);
}
