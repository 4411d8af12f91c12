import { FermataError } from "../../../../core/errors.js";
import { failed, type CheckResult } from "../../../../core/ports/self-check.js";
import { hostsOf } from "../mysql/options.js";

interface DriverError {
  readonly errno?: number;
  readonly code?: string;
  readonly message?: string;
  readonly sqlMessage?: string;
  readonly cause?: unknown;
}

/** What the server says of a user without a privilege: on the database, a table, a column, an administrator's. */
const DENIED = new Set([1044, 1142, 1143, 1227]);

/** What is wrong with the server, the user or the URL, and not with a statement. */
const REFUSED = new Set([...DENIED, 1045, 1698, 1049, 1040, 1203, 1130, 3159]);

const TLS_CODES = new Set(["HANDSHAKE_NO_SSL_SUPPORT", "HANDSHAKE_SSL_ERROR"]);

/** Whether an operator has to correct `storage.url`, the user's privileges or the server. */
export function isRefusal(error: unknown): boolean {
  const { errno, code } = errorOf(error);
  return (FermataError.is(error) && error.code === "service_unavailable") || REFUSED.has(errno) || TLS_CODES.has(code);
}

/** What the driver said, from under what callers of the API would see. */
export function errorOf(error: unknown): { readonly errno: number; readonly code: string; readonly message: string } {
  const { errno = 0, code = "", message = "", sqlMessage = "", cause } = (error ?? {}) as DriverError;
  // knex puts the statement before the server's words. Node's error for a name with several addresses has no words.
  return cause === undefined ? { errno, code, message: sqlMessage || message || code } : errorOf(cause);
}

/** Where a storage's URL leads, for messages: without the password. */
export function placeOf(target: string): { readonly user: string; readonly server: string; readonly database: string } {
  const hosts = hostsOf(target);
  const { user = "", database = "" } = hosts[0]?.options ?? {};
  return { user, server: hosts.map(({ place }) => place).join(", "), database };
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
  const denied = Object.fromEntries([...DENIED].map((number) => [number, `As an administrator: ${grant}`]));
  const fixes: Readonly<Record<number, string>> = {
    ...denied,
    1045: admit,
    1698: admit,
    1130: `Let the server take connections of '${user}' from this machine. ${admit}`,
    3159: "Add ?ssl=true to storage.url: the server takes connections by TLS alone.",
    1049: `As an administrator: CREATE DATABASE ${quoted(database)} CHARACTER SET utf8mb4; ${grant}`,
    1040: "Raise max_connections, or end unused connections.",
    1203: "Raise max_user_connections of the user, or run fewer processes.",
  };
  const usual = "Start the server, or correct host and port in storage.url.";
  const byCode: Readonly<Record<string, string>> = {
    HANDSHAKE_NO_SSL_SUPPORT: "Take ssl=true out of storage.url, or let the server speak TLS.",
    HANDSHAKE_SSL_ERROR:
      "Give the server a certificate for the host of storage.url that this machine trusts (NODE_EXTRA_CA_CERTS names " +
      "a file of further authorities), or take ssl=true out of storage.url.",
  };
  const fix = fixes[errno] ?? byCode[code] ?? usual;
  const begun = DENIED.has(errno) && errno !== 1044 ? "Refused by" : "No session at";
  return failed("mysql connection", `${begun} ${server}: ${message.replace(/\.$/, "")}.`, fix);
}

/** A name as statements have it. */
export function quoted(name: string): string {
  return /^\w+$/.test(name) ? name : `\`${name.replaceAll("`", "``")}\``;
}
