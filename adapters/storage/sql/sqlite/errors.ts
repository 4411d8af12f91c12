const LOST_RACE = ["SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY"];
const UNAVAILABLE = [
  "SQLITE_BUSY",
  "SQLITE_LOCKED",
  "SQLITE_FULL",
  "SQLITE_IOERR",
  "SQLITE_CANTOPEN",
  "SQLITE_READONLY",
];

/** Another process holds the lock, or the key was taken first. */
export function isLostRace(error: unknown): boolean {
  return hasCode(error, LOST_RACE);
}

export function isUnavailable(error: unknown): boolean {
  return hasCode(error, UNAVAILABLE) || isClosed(error);
}

/** The driver's binary is of another Node, or was never built: the file has nothing to do with it. */
export function isDriverUnusable(error: unknown): boolean {
  const { code, message = "", cause } = (error ?? {}) as { code?: unknown; message?: string; cause?: unknown };
  if (code === "ERR_DLOPEN_FAILED" || message.startsWith("Could not locate the bindings file")) return true;
  return cause !== undefined && isDriverUnusable(cause);
}

/** What brings a driver for this Node. */
export const REBUILD_DRIVER =
  "Run `npm rebuild better-sqlite3` where Fermata is installed, with the Node that runs it.";

/** Extended codes begin with the plain one: SQLITE_BUSY_SNAPSHOT is a SQLITE_BUSY. */
function hasCode(error: unknown, codes: readonly string[]): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && codes.some((known) => code === known || code.startsWith(`${known}_`));
}

// These have no code: the driver's and the pool's words after close, and the pool's when all connections stay taken.
const CLOSED = /^(The database connection is not open|Unable to acquire a connection|aborted)$/;

function isClosed(error: unknown): boolean {
  return error instanceof Error && (error.name === "KnexTimeoutError" || CLOSED.test(error.message));
}
