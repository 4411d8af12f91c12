/** The thread that audits an SQLite file. It loads no more than it needs: no knex, and the driver of its engine. */
import { once } from "node:events";
import { parentPort, workerData } from "node:worker_threads";
import BetterSqlite3 from "better-sqlite3";
import { assert } from "../../../../../core/assert.js";
import type { Session } from "../../session.js";
import { SqliteSession } from "../../sqlite/session.js";
import { TableNames } from "../../table-names.js";
import { auditLedger } from "../ledger-audit.js";
import type { CheckpointRow } from "../ledger-checkpoints.js";
import type { AuditOrder, FromAuditThread } from "./messages.js";

const LOCK_WAIT_MS = 1_000;

const port = parentPort;
assert(port !== null, "this file is the first of a thread");
const { file, tablePrefix, since } = workerData as AuditOrder;
const names = new TableNames(tablePrefix);
const connection = new BetterSqlite3(file, { fileMustExist: true, timeout: LOCK_WAIT_MS });
connection.pragma("query_only = ON");
connection.pragma("cache_size = -64000");

const send = (message: FromAuditThread): void => port.postMessage(message);

async function snapshot<T>(work: (session: Session) => Promise<T>): Promise<T> {
  connection.exec("BEGIN");
  try {
    return await work(new SqliteSession(connection, names));
  } finally {
    connection.exec("ROLLBACK");
  }
}

/** One view at a time: there is one connection. */
let before: Promise<unknown> = Promise.resolve();
function inTurn<T>(work: (session: Session) => Promise<T>): Promise<T> {
  const turn = before.then(() => snapshot(work));
  before = turn.catch(() => undefined);
  return turn;
}

async function keep(checkpoints: readonly CheckpointRow[]): Promise<void> {
  if (checkpoints.length === 0) return;
  const kept = once(port as NonNullable<typeof port>, "message");
  send({ kind: "verified", checkpoints });
  await kept;
}

try {
  send({ kind: "done", audit: await auditLedger({ snapshot: inTurn, atOnce: 1, keep }, since) });
} catch (error) {
  // An error of the driver would arrive as an object without its message.
  send({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
} finally {
  connection.close();
  port.close();
}
