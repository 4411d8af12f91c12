/** What MySQL and MariaDB say, by number: mysql2 names some of MariaDB's wrongly. */
const LOST_RACE = new Set([
  1213, // deadlock: everything was rolled back
  1205, // lock wait: only the statement was rolled back
  1020, // the row changed since the snapshot (MariaDB)
  1062, // duplicate key
  3101, // another member of the cluster committed first
]);

const LOCK_WAIT = new Set([1205]);

const READ_ONLY_TRANSACTION = new Set([1792]);

/** After a failover the connection leads to a server that only reads; a new one leads to its successor. */
const READ_ONLY = new Set([
  1047, // the node of a Galera cluster is not ready, or in no majority
  1290, // --read-only
  1836, // read-only mode
  ...READ_ONLY_TRANSACTION, // the server's setting, as no transaction of ours that writes asks for it
]);

/** What is left to say before the server ends the connection. */
const ENDING = new Set([
  1053, // server shuts down
  1317, // query interrupted: killed
  1927, // connection killed (MariaDB)
  4031, // silent for too long
]);

const CANNOT_SERVE = new Set([
  1021, // disk full
  1114, // table full
  1040, // too many connections
  1203, // too many connections of this user
  1226, // the user's share is used up
  1969, // statement took too long (MariaDB)
  3024, // statement took too long
]);

/** A prepared statement cannot be had, where the same text would be run. */
const CANNOT_PREPARE = new Set([
  1243, // unknown statement: a proxy sent it to another connection of the server
  1295, // not supported as a prepared statement
  1461, // the server holds as many as it may
  1615, // the schema changes too fast
]);

const CONNECTION_LOST = new Set([
  "PROTOCOL_CONNECTION_LOST",
  "PROTOCOL_ENQUEUE_AFTER_FATAL_ERROR",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ERR_STREAM_DESTROYED", // written to in the moment between the loss of the socket and its event
]);

const CANNOT_CONNECT = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
  "HANDSHAKE_NO_SSL_SUPPORT",
]);

/** No connection is available: nothing was begun. */
export class NoConnectionError extends Error {
  override readonly name = "NoConnectionError";
}

/** No host of the URL takes writes: nothing was begun. */
export class NoHostError extends Error {
  override readonly name = "NoHostError";
}

/** The server took a statement and says nothing more: it hangs, or the network does. */
export class NoResponseError extends Error {
  override readonly name = "NoResponseError";
}

interface DriverError {
  readonly errno?: unknown;
  readonly code?: unknown;
  readonly name?: unknown;
  readonly message?: unknown;
}

/** @param cause what the pool or the driver said; an operator reads it */
export function cannotConnect(cause: Error): NoConnectionError {
  return new NoConnectionError(`There is no connection to the database: ${cause.message}`, { cause });
}

/** The connection broke in the middle: whether the last statement took effect is not known. */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof NoConnectionError || error instanceof NoResponseError) return false;
  const { code, message } = (error ?? {}) as DriverError;
  if (hasNumber(error, ENDING) || (typeof code === "string" && CONNECTION_LOST.has(code))) return true;
  // What mysql2 says of a connection it gave up before carries no code.
  return typeof message === "string" && /connection is in clos|closed state|Connection lost/i.test(message);
}

/** The server takes no writes, which another one may do by now. */
export function isReadOnly(error: unknown): boolean {
  return hasNumber(error, READ_ONLY);
}

/** The transaction is read-only, and was to write. */
export function isReadOnlyTransaction(error: unknown): boolean {
  return hasNumber(error, READ_ONLY_TRANSACTION);
}

/**
 * The whole transaction may work when it runs again with the same ids. That includes a lost connection and a commit
 * without a response: if it took effect, the second run finds what the first one wrote.
 */
export function isLostRace(error: unknown): boolean {
  return (
    hasNumber(error, LOST_RACE) ||
    hasNumber(error, READ_ONLY) ||
    error instanceof NoResponseError ||
    isConnectionLost(error)
  );
}

/** The statement waited for a lock as long as it may. */
export function isLockWait(error: unknown): boolean {
  return hasNumber(error, LOCK_WAIT);
}

export function isUnavailable(error: unknown): boolean {
  if (error instanceof NoConnectionError || error instanceof NoResponseError || isConnectionLost(error)) return true;
  if (error instanceof NoHostError) return true;
  if (hasNumber(error, CANNOT_SERVE) || hasNumber(error, READ_ONLY)) return true;
  // Another attempt may succeed; a duplicate key is final.
  if (hasNumber(error, LOST_RACE)) return (error as DriverError).errno !== 1062;
  const { code, name } = (error ?? {}) as DriverError;
  return name === "KnexTimeoutError" || (typeof code === "string" && CANNOT_CONNECT.has(code));
}

/** The same statement may run as a text. */
export function cannotPrepare(error: unknown): boolean {
  return hasNumber(error, CANNOT_PREPARE);
}

/** A connection on which this happened is of no further use. */
export function spoilsConnection(error: unknown): boolean {
  return error instanceof NoResponseError || isConnectionLost(error) || hasNumber(error, READ_ONLY);
}

function hasNumber(error: unknown, numbers: ReadonlySet<number>): boolean {
  const { errno } = (error ?? {}) as DriverError;
  return typeof errno === "number" && numbers.has(errno);
}
