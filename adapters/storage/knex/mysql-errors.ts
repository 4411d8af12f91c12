/** What MySQL and MariaDB say, by number: mysql2 names some of MariaDB's wrongly. */
const LOST_RACE = new Set([
  1213, // deadlock: everything was rolled back
  1205, // lock wait: only the statement was rolled back
  1020, // the row changed since the snapshot (MariaDB)
  1062, // duplicate key
]);

const CANNOT_WRITE = new Set([
  1290, // --read-only, after a failover
  1836, // read-only mode
  1792, // read-only transaction
  1021, // disk full
  1114, // table full
  1040, // too many connections
  1203, // too many connections of this user
  1053, // server shuts down
  1927, // connection killed (MariaDB)
  1317, // query interrupted
]);

const CONNECTION_LOST = new Set([
  "PROTOCOL_CONNECTION_LOST",
  "PROTOCOL_SEQUENCE_TIMEOUT",
  "PROTOCOL_ENQUEUE_AFTER_FATAL_ERROR",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
]);

const CANNOT_CONNECT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "ENOENT", "HANDSHAKE_NO_SSL_SUPPORT"]);

interface DriverError {
  readonly errno?: unknown;
  readonly code?: unknown;
  readonly name?: unknown;
  readonly message?: unknown;
}

/** The connection broke in the middle: whether the last statement took effect is not known. */
export function isConnectionLost(error: unknown): boolean {
  const { code, message } = (error ?? {}) as DriverError;
  if (typeof code === "string" && CONNECTION_LOST.has(code)) return true;
  // What mysql2 says of a connection it gave up before carries no code.
  return typeof message === "string" && /connection is in clos|closed state|Connection lost/i.test(message);
}

/**
 * The whole transaction may work when it runs again with the same ids. That includes a lost connection: had the commit taken effect
 * after all, the second run finds what the first one wrote.
 */
export function isLostRace(error: unknown): boolean {
  const { errno } = (error ?? {}) as DriverError;
  return (typeof errno === "number" && LOST_RACE.has(errno)) || isConnectionLost(error);
}

export function isUnavailable(error: unknown): boolean {
  const { errno, code, name } = (error ?? {}) as DriverError;
  if (isConnectionLost(error) || name === "KnexTimeoutError") return true;
  if (typeof errno === "number" && (CANNOT_WRITE.has(errno) || errno === 1213 || errno === 1205 || errno === 1020)) return true;
  return typeof code === "string" && CANNOT_CONNECT.has(code);
}

/** A connection on which this happened is of no further use. */
export function spoilsConnection(error: unknown): boolean {
  const { errno } = (error ?? {}) as DriverError;
  return isConnectionLost(error) || errno === 1290 || errno === 1836 || errno === 1053 || errno === 1927;
}
