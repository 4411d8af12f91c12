import { assert } from "../../../core/assert.js";
import type { Transaction } from "../../../core/ports/unit-of-work.js";

/** Flags are 0 and 1: SQLite has no booleans. */
export type SqlValue = string | number | Buffer | null;

/** A value that no column takes: a bug, or a number that was not checked where it came in. Nothing was sent. */
export class UnstorableValueError extends Error {
  override readonly name = "UnstorableValueError";
}

/**
 * Every value goes by here before it is bound. A number that is not finite would become the name of a column in the
 * text of MySQL, and an object a list of assignments; SQLite would store infinity.
 *
 * @throws {UnstorableValueError} naming what it is, not what it holds
 */
export function storable(values: readonly SqlValue[]): readonly SqlValue[] {
  for (let index = 0; index < values.length; index++) {
    const value: unknown = values[index];
    if (typeof value === "string" || value === null || Number.isFinite(value) || Buffer.isBuffer(value)) continue;
    const what = typeof value === "number" ? String(value) : typeof value;
    throw new UnstorableValueError(`The value ${index + 1} of ${values.length} cannot be stored: ${what}.`);
  }
  return values;
}

/** The columns of a table, in the order in which rows are written. */
export interface Table<Row extends object> {
  /** Without the storage's prefix. */
  readonly name: string;
  readonly columns: readonly (keyof Row & string)[];
  /** The columns of the primary key. */
  readonly key: readonly (keyof Row & string)[];
}

/** New values of some columns of a row. */
export interface RowUpdate {
  /** Of the columns that name it. */
  readonly key: readonly SqlValue[];
  readonly columns: readonly string[];
  /** Of the columns, in their order. */
  readonly values: readonly SqlValue[];
}

/**
 * Runs SQL text, its `?` filled in from a list of values, in the caller's context: inside one transaction, or as single
 * reads. Names of tables and indexes are in braces (`TableNames`). Texts are the same for all engines; how they travel
 * (prepared and cached, several in one packet) is the engine's business. Errors are the driver's own.
 *
 * Statements of a transaction are carried out in the order in which they are given, also those that are given before
 * the ones before have returned. What returns nothing may be carried out together with a later one, at the latest with
 * the commit: its error is then the error of that one.
 */
export interface Session {
  all<Row>(sql: string, values?: readonly SqlValue[]): Promise<Row[]>;
  /** @returns how many rows the statement found to change */
  run(sql: string, values?: readonly SqlValue[]): Promise<number>;
  /** Runs a query once per list of values. @returns all rows, one after another */
  allEach<Row>(sql: string, lists: readonly (readonly SqlValue[])[]): Promise<Row[]>;
  /** Runs a statement once per list of values. @returns how many rows each found to change */
  runEach(sql: string, lists: readonly (readonly SqlValue[])[]): Promise<number[]>;
  /** The same where it does not matter how many there were. */
  writeEach(sql: string, lists: readonly (readonly SqlValue[])[]): Promise<void>;
  /**
   * Changes rows, each named by its values of the columns `by`: the primary key, and what else has to hold.
   *
   * @param table without the storage's prefix
   * @returns how many of them were found
   */
  updateRows(table: string, by: readonly string[], updates: readonly RowUpdate[]): Promise<number>;
  insert<Row extends object>(table: Table<Row>, rows: readonly Row[]): Promise<void>;
  /** Adds the rows; one whose key exists replaces what is there. */
  upsert<Row extends object>(table: Table<Row>, rows: readonly Row[]): Promise<void>;
  /** Adds the rows; the columns of one whose key exists that are not of the key are added to what is there. */
  upsertSums<Row extends object>(table: Table<Row>, rows: readonly Row[]): Promise<void>;
}

/** The part of a session that reads. */
export type Reads = Pick<Session, "all" | "allEach">;

/** A session inside a transaction that has not ended. */
export interface TransactionSession extends Session {
  readonly isOpen: boolean;
}

export function toTransaction(session: TransactionSession): Transaction {
  return session as unknown as Transaction;
}

/** The session behind a transaction handle. */
export function sessionOf(tx: Transaction): Session {
  const session = tx as unknown as TransactionSession;
  assert(session.isOpen, "a transaction is used only while its work runs");
  return session;
}

const insertTexts = new WeakMap<Table<never>, string>();

/** `INSERT INTO {t} (a, b) VALUES (?, ?)` for one row. */
export function insertText<Row extends object>(table: Table<Row>): string {
  let text = insertTexts.get(table);
  if (text === undefined) {
    const marks = table.columns.map(() => "?").join(", ");
    text = `INSERT INTO {${table.name}} (${table.columns.join(", ")}) VALUES (${marks})`;
    insertTexts.set(table, text);
  }
  return text;
}

/** The table's columns for a SELECT; under `alias` where several tables are read. */
export function columnsOf<Row extends object>(table: Table<Row>, alias?: string): string {
  return table.columns.map((column) => (alias === undefined ? column : `${alias}.${column}`)).join(", ");
}
