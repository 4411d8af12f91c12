import type BetterSqlite3 from "better-sqlite3";
import { assert } from "../../../../core/assert.js";
import {
  type RowUpdate,
  type SqlValue,
  storable,
  type Table,
  type TransactionSession,
  insertText,
} from "../session.js";
import type { TableNames } from "../table-names.js";
import { addingClause, replacingClause } from "./upserts.js";

type Statement = BetterSqlite3.Statement<SqlValue[]>;

/** Compiling a statement costs more than running it; each connection keeps those it has seen. The texts are few. */
const statements = new WeakMap<BetterSqlite3.Database, WeakMap<TableNames, Map<string, Statement>>>();

/**
 * Prepared statements on one connection. better-sqlite3 is synchronous: each call is done when it returns, so several
 * rows are written fastest by one small statement per row (measured: a third less than with long lists of VALUES).
 */
export class SqliteSession implements TransactionSession {
  isOpen = true;
  private readonly prepared: Map<string, Statement>;

  constructor(
    private readonly connection: BetterSqlite3.Database,
    private readonly names: TableNames,
  ) {
    const byNames = statements.get(connection) ?? new WeakMap<TableNames, Map<string, Statement>>();
    statements.set(connection, byNames);
    this.prepared = byNames.get(names) ?? new Map<string, Statement>();
    byNames.set(names, this.prepared);
  }

  /** BEGIN, COMMIT and the like: also when the work is over. */
  async control(sql: string): Promise<void> {
    this.prepare(sql).run();
  }

  async all<Row>(sql: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    return this.statement(sql).all(...storable(values)) as Row[];
  }

  async run(sql: string, values: readonly SqlValue[] = []): Promise<number> {
    return this.statement(sql).run(...storable(values)).changes;
  }

  async allEach<Row>(sql: string, lists: readonly (readonly SqlValue[])[]): Promise<Row[]> {
    const statement = this.statement(sql);
    const [only] = lists;
    if (lists.length === 1 && only !== undefined) return statement.all(...storable(only)) as Row[];
    const rows: Row[] = [];
    for (const values of lists) rows.push(...(statement.all(...storable(values)) as Row[]));
    return rows;
  }

  async runEach(sql: string, lists: readonly (readonly SqlValue[])[]): Promise<number[]> {
    const statement = this.statement(sql);
    return lists.map((values) => statement.run(...storable(values)).changes);
  }

  async writeEach(sql: string, lists: readonly (readonly SqlValue[])[]): Promise<void> {
    await this.runEach(sql, lists);
  }

  async updateRows(table: string, by: readonly string[], updates: readonly RowUpdate[]): Promise<number> {
    const where = by.map((column) => `${column} = ?`).join(" AND ");
    let found = 0;
    for (const { key, columns, values } of updates) {
      const assignments = columns.map((column) => `${column} = ?`).join(", ");
      found += await this.run(`UPDATE {${table}} SET ${assignments} WHERE ${where}`, [...values, ...key]);
    }
    return found;
  }

  async insert<Row extends object>(table: Table<Row>, rows: readonly Row[]): Promise<void> {
    this.write(insertText(table), table, rows);
  }

  async upsert<Row extends object>(table: Table<Row>, rows: readonly Row[]): Promise<void> {
    this.write(insertText(table) + replacingClause(table), table, rows);
  }

  async upsertSums<Row extends object>(table: Table<Row>, rows: readonly Row[]): Promise<void> {
    this.write(insertText(table) + addingClause(table), table, rows);
  }

  private write<Row extends object>(text: string, table: Table<Row>, rows: readonly Row[]): void {
    const statement = this.statement(text);
    for (const row of rows) statement.run(...storable(table.columns.map((column) => row[column] as SqlValue)));
  }

  /** A part of the work that goes on after another one has failed would write outside of the transaction. */
  private statement(text: string): Statement {
    assert(this.isOpen, "a transaction is used only while its work runs");
    return this.prepare(text);
  }

  private prepare(text: string): Statement {
    let statement = this.prepared.get(text);
    if (statement === undefined) {
      // A connection of an embedding app may be set to return integers as bigint.
      statement = this.connection.prepare<SqlValue[]>(this.names.in(text)).safeIntegers(false);
      this.prepared.set(text, statement);
    }
    return statement;
  }
}
