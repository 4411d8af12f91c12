import mysql, { type Connection, type QueryOptions, type TypeCastField, type TypeCastNext } from "mysql2";
import type { SqlValue } from "../session.js";
import { MysqlSession } from "./session.js";

/** The bit of a client that gets the number of rows found. @see MySQL's protocol, capability flags */
const FOUND_ROWS = 2;

/** Why statements would not do on a connection what they do on one of our own; null: they do. */
export function unfitness(connection: object): string | null {
  const { query, execute, config } = connection as Partial<Connection>;
  if (typeof query !== "function" || typeof execute !== "function" || typeof config !== "object")
    return "it is none of mysql2";
  const { queryFormat, clientFlags } = config as unknown as {
    readonly queryFormat?: unknown;
    readonly clientFlags: number;
  };
  if (typeof queryFormat === "function") return "its connection has a queryFormat of its own";
  return (clientFlags & FOUND_ROWS) === 0 ? "its connection was opened without FOUND_ROWS" : null;
}

/**
 * A character set on the way between the driver and the server that would change our texts; null: there is none. The
 * driver encodes by what the connection was opened with, and hears of a later change only where the server reports it.
 *
 * @param sets of the session, by the server's variables
 */
export function unfitCharacterSet(connection: object, sets: readonly (string | null)[]): string | null {
  for (const set of sets) if (set !== "utf8mb4") return set ?? "NULL";
  const { charsetNumber = -1 } = (connection as Connection).config;
  const encoding = mysql.CharsetToEncoding[charsetNumber];
  return encoding === "utf8" ? null : String(encoding);
}

/**
 * Statements on a connection of the embedding app: never several in one packet, and read as ours are, whatever the app
 * has set.
 */
export class HostMysqlSession extends MysqlSession {
  protected override readonly packetStatements = 1;

  protected override options(sql: string, values: SqlValue[]): QueryOptions {
    return { ...AS_OURS, sql, values };
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
