import BetterSqlite3 from "better-sqlite3";
import { SqliteSession } from "../sqlite/session.js";
import { SQLITE_TIME } from "../storage-time.js";
import type { DedicatedConnection, ConnectionOptions } from "./dedicated-connection.js";

const LOCK_WAIT_MS = 1_000;

/** @throws {Error} there is no such file, or it cannot be opened */
export async function openSqliteConnection({ target, names }: ConnectionOptions): Promise<DedicatedConnection> {
  const connection = new BetterSqlite3(target, { fileMustExist: true, timeout: LOCK_WAIT_MS });
  // A renewal that a power cut undoes is one of a process that the same power cut has ended: nothing waits for the
  // disk.
  connection.pragma("synchronous = NORMAL");
  // Left to the connection that writes the rest: its checkpoints are durable.
  connection.pragma("wal_autocheckpoint = 0");
  return {
    session: new SqliteSession(connection, names),
    timeQuery: SQLITE_TIME,
    get isOpen() {
      return connection.open;
    },
    // The one lock there is covers all rows.
    isRowLocked: () => false,
    close: async () => void connection.close(),
  };
}
