import type BetterSqlite3 from "better-sqlite3";
import type { HostTransaction } from "../../../../core/ports/unit-of-work.js";
import type { InstallationWork } from "../dialect.js";
import {
  checkInstallation,
  type HostConnection,
  hostConnectionOf,
  inTurn,
  refusedTransaction,
} from "../host-transaction.js";
import type { TableNames } from "../table-names.js";
import { SqliteSession } from "./session.js";

type Database = BetterSqlite3.Database;

interface JoiningStorage {
  readonly names: TableNames;
  /** Called before anything is written on the connection. */
  joined(connection: Database): void;
}

/** Runs the work inside the transaction of a connection of the app's own better-sqlite3. */
export async function joinSqlite<T>(
  transaction: HostTransaction,
  work: InstallationWork<T>,
  storage: JoiningStorage,
): Promise<T> {
  const host = await hostConnectionOf(transaction);
  return inTurn(host.connection, () => joinConnection(host, work, storage));
}

async function joinConnection<T>(
  { connection, afterCommit }: HostConnection,
  { work, committed, installationId }: InstallationWork<T>,
  { names, joined }: JoiningStorage,
): Promise<T> {
  if (!isDatabase(connection)) throw refusedTransaction("it is none of SQLite");
  if (!connection.inTransaction) throw refusedTransaction("the connection has no open transaction");
  const session = new SqliteSession(connection, names);
  await checkInstallation(session, installationId);
  joined(connection);
  await session.control("SAVEPOINT fermata");
  let isDone = false;
  try {
    const result = await work(session);
    session.isOpen = false;
    await session.control("RELEASE fermata");
    isDone = true;
    afterCommit(() => committed(result));
    return result;
  } finally {
    session.isOpen = false;
    // Some failures (a full disk) have rolled back all of it by themselves.
    if (!isDone && connection.inTransaction) {
      await session.control("ROLLBACK TO fermata");
      await session.control("RELEASE fermata");
    }
  }
}

function isDatabase(connection: object): connection is Database {
  const { inTransaction, prepare } = connection as Partial<Database>;
  return typeof inTransaction === "boolean" && typeof prepare === "function";
}
