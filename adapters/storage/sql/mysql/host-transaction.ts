import type { ResultSetHeader } from "mysql2";
import type { HostTransaction } from "../../../../core/ports/unit-of-work.js";
import type { InstallationWork } from "../dialect.js";
import {
  checkInstallation,
  type HostConnection,
  hostConnectionOf,
  type InstallationRow,
  inTurn,
  refusedTransaction,
} from "../host-transaction.js";
import type { TableNames } from "../table-names.js";
import { isReadOnlyTransaction } from "./errors.js";
import { HostMysqlSession, unfitCharacterSet, unfitness } from "./host-session.js";
import { MYSQL_LIMITS, SQL_MODE } from "./options.js";
import type { MysqlConnection, MysqlSession } from "./session.js";

/** Bits of the server's status in its response to a statement. @see MySQL's protocol, SERVER_STATUS_flags_enum */
const IN_TRANSACTION = 1;
const AUTOCOMMIT = 2;

/**
 * What the app set is left alone, for two round trips more than a transaction of our own has; the savepoint takes two.
 */
const OUR_MODES = `SET @fermata_sql_mode = @@SESSION.sql_mode,
  @fermata_lock_wait = @@SESSION.innodb_lock_wait_timeout,
  SESSION sql_mode = '${SQL_MODE}',
  SESSION innodb_lock_wait_timeout = ${MYSQL_LIMITS.joinedLockWaitSeconds}`;
const THEIR_MODES = `SET SESSION sql_mode = @fermata_sql_mode,
  SESSION innodb_lock_wait_timeout = @fermata_lock_wait`;

/** The id of the installation, and in the same round trip what texts are read, kept and sent in. */
const FIND_INSTALLATION = `SELECT value, @@character_set_client AS client, @@character_set_connection AS literals,
  @@character_set_results AS results FROM {installation} WHERE name = 'id'`;

interface FoundInstallation extends InstallationRow {
  readonly client: string;
  readonly literals: string;
  readonly results: string | null;
}

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
  const unfit = unfitness(connection);
  if (unfit !== null) throw refusedTransaction(unfit);
  const session = new JoinedMysqlSession(connection as MysqlConnection, names);
  const status = await session.begin();
  try {
    if ((status & IN_TRANSACTION) === 0 && (status & AUTOCOMMIT) !== 0)
      throw refusedTransaction("the connection has no open transaction");
    await checkTables(session, connection, installationId);
    const result = await session.keptWhole(work);
    afterCommit(() => committed(result));
    return result;
  } catch (error) {
    // The app or its session made it so: run again, it would fail again.
    throw isReadOnlyTransaction(error) ? refusedTransaction("it is read-only", { cause: error }) : error;
  } finally {
    await session.end();
  }
}

/** @throws {OperationRefusedError} the tables are another installation's, or texts would reach them changed */
async function checkTables(session: MysqlSession, connection: object, id: string): Promise<void> {
  const { client, literals, results } = await checkInstallation<FoundInstallation>(session, id, FIND_INSTALLATION);
  const set = unfitCharacterSet(connection, [client, literals, results]);
  if (set !== null) throw refusedTransaction(`its connection uses the character set ${set}, not utf8mb4`);
}

/** Statements in a transaction of the app, which waits for them as long as they take. */
class JoinedMysqlSession extends HostMysqlSession {
  constructor(host: MysqlConnection, names: TableNames) {
    super(host, { limitMs: Infinity, names });
  }

  /** @returns the server's status */
  async begin(): Promise<number> {
    return ((await this.query(OUR_MODES, [])) as ResultSetHeader).serverStatus;
  }

  /** What the work wrote is taken back when it throws, and the transaction goes on. */
  async keptWhole<T>(work: (session: MysqlSession) => Promise<T>): Promise<T> {
    await this.control("SAVEPOINT fermata");
    try {
      const result = await work(this);
      this.isOpen = false;
      await this.control("RELEASE SAVEPOINT fermata");
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

  /** What is undone by the loss of the connection need not be undone. The app learns of it by its own statements. */
  private async unlessGone(sql: string): Promise<void> {
    await this.query(sql, []).catch(() => undefined);
  }
}
