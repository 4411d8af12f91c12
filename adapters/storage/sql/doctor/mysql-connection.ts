import { failed, type CheckResult } from "../../../../core/ports/self-check.js";

/** What the driver said, from under what callers of the API would see. */
export function errorOf(error: unknown): { readonly errno: number; readonly code: string; readonly message: string } {
  const {
    errno = 0,
    code = "",
    message = "",
    cause,
  } = (error ?? {}) as { errno?: number; code?: string; message?: string; cause?: unknown };
  // Node's error for a name with several addresses has a code and no words.
  return cause === undefined ? { errno, code, message: message || code } : errorOf(cause);
}

/** Where a storage's URL leads, for messages: without the password. */
export function placeOf(target: string): { readonly user: string; readonly server: string; readonly database: string } {
  const url = new URL(`mysql:${target}`);
  return {
    user: decodeURIComponent(url.username),
    server: `${url.hostname}:${url.port || 3306}`,
    database: decodeURIComponent(url.pathname.slice(1)),
  };
}

/** Why no session could be opened, or why it ended. */
export function classifyRefusal(target: string, error: unknown): CheckResult {
  const { user, server, database } = placeOf(target);
  const { errno, code, message } = errorOf(error);
  const account = `'${user}'@'%'`;
  const privileges = "SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, INDEX, DROP";
  const grant = `GRANT ${privileges} ON ${quoted(database)}.* TO ${account};`;
  const admit =
    `Correct user and password in storage.url, or as an administrator: CREATE USER ${account} ` +
    `IDENTIFIED BY '…'; ${grant}`;
  const fixes: Readonly<Record<number, string>> = {
    1045: admit,
    1698: admit,
    1044: `As an administrator: ${grant}`,
    1049: `As an administrator: CREATE DATABASE ${quoted(database)} CHARACTER SET utf8mb4; ${grant}`,
    1040: "Raise max_connections, or end unused connections.",
    1203: "Raise max_user_connections of the user, or run fewer processes.",
  };
  const usual = "Start the server, or correct host and port in storage.url.";
  const withoutTls = "Take ssl=true out of storage.url, or let the server speak TLS.";
  const fix = fixes[errno] ?? (code === "HANDSHAKE_NO_SSL_SUPPORT" ? withoutTls : usual);
  return failed("mysql connection", `No session at ${server}: ${message.replace(/\.$/, "")}.`, fix);
}

/** A name as statements have it. */
export function quoted(name: string): string {
  return /^\w+$/.test(name) ? name : `\`${name.replaceAll("`", "``")}\``;
}
