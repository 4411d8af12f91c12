import type { Socket } from "node:net";
import type { Connection, QueryError, QueryOptions, ResultSetHeader, RowDataPacket } from "mysql2";
import { assert } from "../../../../core/assert.js";
import { cannotPrepare, NoResponseError } from "./errors.js";
import { GatheredStatements } from "./gathered-statements.js";
import { joined, PACKET_CHARACTERS, packetsOf, rowPacketsOf } from "./packets.js";
import { updateStatements } from "./row-updates.js";
import { addingClause, replacingClause } from "./upserts.js";
import { afterWaiting, type LateResponses } from "./waits.js";
import {
  insertText,
  type RowUpdate,
  type SqlValue,
  storable,
  type Table,
  type TransactionSession,
} from "../session.js";
import type { TableNames } from "../table-names.js";

/** Statements in one packet, and rows in one statement, at most: far below `max_allowed_packet`. */
const PACKET_STATEMENTS = 100;
const GATHERED_STATEMENTS = 400;
const INSERT_ROWS = 50;

export interface MysqlSessionOptions {
  /** How long the server may take to respond to one packet; then the connection is closed. */
  readonly limitMs: number;
  readonly late?: LateResponses;
  /** True: reads by texts alone, such as ids, are prepared statements. The connection holds those used last. */
  readonly prepares?: boolean;
  /** Absent where no statement names a table of ours. */
  readonly names?: TableNames;
}

/** A connection of the driver with its socket, which its types do not know. */
export type MysqlConnection = Connection & { readonly stream: Socket };

export type MysqlResult = RowDataPacket[] | ResultSetHeader;

/**
 * Statements on one connection. Several of the same text travel in one packet, and in a transaction those of several
 * texts, so that a group costs a few round trips, not one per row. Texts are constants of the stores; values are only
 * ever bound.
 */
export class MysqlSession implements TransactionSession {
  /** False: the connection is another one's, or about to be; no statement but those of control reaches it. */
  isOpen = true;
  protected readonly packetStatements: number = PACKET_STATEMENTS;
  /** Of the transaction that is open; null outside of one, and where each statement is a packet of its own. */
  private gathered: GatheredStatements<MysqlResult> | null = null;

  constructor(
    private readonly connection: MysqlConnection,
    private readonly given: MysqlSessionOptions,
  ) {}

  /** Whether the server still responds. */
  async ping(): Promise<boolean> {
    try {
      await this.withinLimit<void>((done) => this.connection.ping((error) => done(error, undefined)));
      return true;
    } catch {
      return false; // the pool opens another connection, and reports why when it cannot
    }
  }

  /** Begins a transaction; on connections of our own together with what it does first. */
  async beginTransaction(statements: readonly string[]): Promise<void> {
    if (this.packetStatements === 1) {
      for (const statement of statements) await this.control(statement);
      return;
    }
    const limits = { statements: GATHERED_STATEMENTS, characters: PACKET_CHARACTERS };
    this.gathered = new GatheredStatements((texts, values) => this.sendPacket(texts, values), limits);
    for (const statement of statements) await this.gathered.later(statement, []);
  }

  /** Commits together with what was not sent yet. Nothing comes after it. */
  async commit(): Promise<void> {
    this.isOpen = false;
    await (this.gathered === null ? this.control("COMMIT") : this.gathered.resultOf("COMMIT", []));
  }

  /** Whatever is not sent yet stays so. */
  async rollBack(): Promise<void> {
    this.isOpen = false;
    this.gathered?.end();
    this.gathered = null;
    await this.control("ROLLBACK");
  }

  /** BEGIN, COMMIT and the like: also when the work is over. */
  async control(sql: string): Promise<void> {
    await this.query(sql, []);
  }

  async all<Row>(sql: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    const text = this.named(sql);
    const isPrepared = this.gathered === null && this.given.prepares === true && areTexts(values);
    this.checkOpen();
    return (await (isPrepared ? this.execute(text, values) : this.resultOf(text, values))) as Row[];
  }

  async run(sql: string, values: readonly SqlValue[] = []): Promise<number> {
    return affected((await this.resultOf(this.named(sql), values)) as ResultSetHeader);
  }

  async allEach<Row>(sql: string, lists: readonly (readonly SqlValue[])[]): Promise<Row[]> {
    return (await this.each(sql, lists)).flat() as Row[];
  }

  async runEach(sql: string, lists: readonly (readonly SqlValue[])[]): Promise<number[]> {
    return (await this.each(sql, lists)).map((result) => affected(result as ResultSetHeader));
  }

  async writeEach(sql: string, lists: readonly (readonly SqlValue[])[]): Promise<void> {
    if (this.gathered === null) return void (await this.each(sql, lists));
    const text = this.named(sql);
    for (const values of lists) await this.later(text, values);
  }

  async updateRows(table: string, by: readonly string[], updates: readonly RowUpdate[]): Promise<number> {
    const counts: Promise<number>[] = [];
    for (const { text, values } of updateStatements(table, by, updates)) {
      const count = this.run(text, values);
      counts.push(count);
      if (this.gathered === null) await count;
    }
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  }

  insert<Row extends object>(table: Table<Row>, rows: readonly Row[]): Promise<void> {
    return this.write(table, rows, "");
  }

  upsert<Row extends object>(table: Table<Row>, rows: readonly Row[]): Promise<void> {
    return this.write(table, rows, replacingClause(table));
  }

  upsertSums<Row extends object>(table: Table<Row>, rows: readonly Row[]): Promise<void> {
    return this.write(table, rows, addingClause(table));
  }

  private async each(sql: string, lists: readonly (readonly SqlValue[])[]): Promise<MysqlResult[]> {
    const text = this.named(sql);
    if (this.gathered !== null) return Promise.all(lists.map((values) => this.resultOf(text, values)));
    const results: MysqlResult[] = [];
    for (const part of packetsOf(lists, this.packetStatements)) {
      const found = await this.resultOf(part.map(() => text).join("; "), joined(part));
      if (part.length === 1) results.push(found);
      else results.push(...(found as unknown as MysqlResult[]));
    }
    return results;
  }

  private async write<Row extends object>(table: Table<Row>, rows: readonly Row[], clause: string): Promise<void> {
    const text = this.named(insertText(table));
    const another = `, (${table.columns.map(() => "?").join(", ")})`;
    for (const { count, values } of rowPacketsOf(table.columns, rows, INSERT_ROWS))
      await this.later(text + another.repeat(count - 1) + clause, values);
  }

  private async later(text: string, values: readonly SqlValue[]): Promise<void> {
    this.checkOpen();
    await (this.gathered === null ? this.query(text, values) : this.gathered.later(text, storable(values)));
  }

  private resultOf(text: string, values: readonly SqlValue[]): Promise<MysqlResult> {
    this.checkOpen();
    return this.gathered === null ? this.query(text, values) : this.gathered.resultOf(text, storable(values));
  }

  private async sendPacket(texts: readonly string[], values: readonly SqlValue[]): Promise<readonly MysqlResult[]> {
    const found = await this.send(texts.join("; "), values);
    return texts.length === 1 ? [found] : (found as unknown as readonly MysqlResult[]);
  }

  /** A part of the work that goes on after another one has failed would write outside of the transaction. */
  private checkOpen(): void {
    assert(this.isOpen, "a transaction is used only while its work runs");
  }

  private named(sql: string): string {
    return this.given.names?.in(sql) ?? sql;
  }

  protected query(sql: string, values: readonly SqlValue[]): Promise<MysqlResult> {
    return this.send(sql, storable(values));
  }

  /** @param values were found to be {@link storable}; the driver does not change them */
  private send(sql: string, values: readonly SqlValue[]): Promise<MysqlResult> {
    const options = this.options(sql, values as SqlValue[]);
    return this.withinLimit((done) => this.connection.query<MysqlResult & RowDataPacket[]>(options, done));
  }

  /** A server without another prepared statement to give gets the text. */
  private async execute(sql: string, values: readonly string[]): Promise<MysqlResult> {
    try {
      return await this.withinLimit((done) =>
        this.connection.execute<MysqlResult & RowDataPacket[]>(this.options(sql, [...values]), done),
      );
    } catch (error) {
      if (!cannotPrepare(error)) throw error;
      return this.query(sql, values);
    }
  }

  /** What the driver is given for a statement. */
  protected options(sql: string, values: SqlValue[]): QueryOptions {
    return { sql, values };
  }

  private withinLimit<T>(send: (done: (error: QueryError | null, result: T) => void) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        reject(new NoResponseError("The database takes statements and does not respond to them."));
        this.connection.stream.destroy();
      };
      const { limitMs, late } = this.given;
      const stopWaiting = afterWaiting(limitMs, giveUp, late);
      send((error, result) => {
        stopWaiting();
        if (error === null) resolve(result);
        else reject(error);
      });
    });
  }
}

/** A number would be sent as a fraction, which is another type to the server than the text has. */
function areTexts(values: readonly SqlValue[]): values is readonly string[] {
  return values.length > 0 && values.every((value) => typeof value === "string");
}

/** Rows found, changed or not: mysql2 asks the server to count them so. */
function affected(result: ResultSetHeader): number {
  return result.affectedRows;
}
