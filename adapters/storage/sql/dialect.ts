import type { PoolFigures } from "../../../core/ports/opened-storage.js";
import type { Knex } from "knex";
import type { HostTransaction } from "../../../core/ports/unit-of-work.js";
import type { Session, Table, TransactionSession } from "./session.js";
import type { TableNames } from "./table-names.js";

/**
 * All that the engines differ in. A store never asks which engine it has: it asks for one of these, each of which says
 * what its values mean for the stores.
 */
export interface Dialect {
  /** As in `storage.url`. */
  readonly name: string;
  /** What a `storage.url` looks like. */
  readonly urlForm: string;
  /**
   * How long one statement waits for a lock, unless said otherwise. A wait beyond it is a lost race
   * ({@link isLostRace}): no store handles it.
   */
  readonly lockWaitMs: number;

  /**
   * How many transactions can make progress at once.
   *
   * Above 1: so many group commits and queries of the ledger's audit run side by side, and two transactions may meet at
   * a row: what a transaction decides on is read with {@link forUpdate}.
   *
   * 1: every writer waits for the one before, the core has one lane, and no row is locked.
   */
  readonly concurrentWriters: number;
  /**
   * Ends a SELECT whose rows stay as they are until the transaction ends.
   *
   * Not empty: the engine locks these rows, others wait for them, and a store reads several in ascending order of their
   * ids, so that no two transactions wait for each other.
   *
   * Empty: the transaction is the only writer from its BEGIN on, so nothing that it has read can change.
   */
  readonly forUpdate: string;
  /**
   * The same, without the rows that another transaction has locked.
   *
   * Not empty: two workers that claim at once get different rows; one may find fewer than there are, and the next sweep
   * finds the rest.
   *
   * Empty: claims are made one after another, and each sees every row that is due.
   */
  readonly forClaim: string;

  readonly columns: ColumnTypes;
  /**
   * Follows a table's name in a query that must use this index, which is given without the storage's prefix. A store
   * names an index that a migration creates: an engine may refuse the query where it is missing or of no use to it.
   *
   * Empty, which neither engine is today: the engine chooses by itself, and the query is slower at the worst.
   */
  useIndex(name: string): string;
  /** The same of the primary key. Empty where the engine takes it by itself. */
  readonly usePrimaryKey: string;
  /**
   * Ends the assignments of an UPDATE of this table, for an engine that moves a row when it grows: columns that are
   * filled in take the place of blanks. Empty for other tables and engines.
   */
  keepsSize(table: string): string;
  /** A JOIN that reads the table on its left first, whatever an engine guesses of the one on its right. */
  readonly joinBehind: string;
  /** All rows of queries that each have an order and a limit of their own; the order of the whole is lost. */
  unionAll(queries: readonly string[]): string;
  /**
   * Ends an INSERT of what a SELECT with a WHERE finds: the columns of a row whose key exists that are not of the key
   * are added to what is there.
   */
  addingClause<Row extends object>(table: Table<Row>): string;
  /** Reads something of the database itself, without side effects. */
  readonly probe: string;
  /** Reads the database's clock; see {@link readTime}. */
  readonly timeQuery: string;
  /** Finds a row when there is a table with the name given. */
  readonly findTable: string;
  /**
   * Finds a row when there is a table or a view with the name given that Fermata did not create; asked only of tables
   * that a migration is still to create.
   *
   * Where a change of the schema is undone with its transaction, that is every table. Elsewhere an interrupted
   * migration leaves some: those have `TABLE_COMMENT` as their comment.
   */
  readonly findForeignTable: string;

  readonly sizes: SizeQueries;

  /**
   * True: the transaction may succeed when it runs again from its start. The unit of work does so, a few times and with
   * `isRetry`; a store passes the error on.
   *
   * False: it would fail again, so it is not repeated, and {@link isUnavailable} decides what the caller gets.
   */
  isLostRace(error: unknown): boolean;
  /** True: a lost race against one that holds a lock for longer than a statement waits. */
  isLockWait(error: unknown): boolean;
  /**
   * True: the engine cannot be reached, stays busy, or cannot write now. Callers get a `ServiceUnavailableError`. An
   * error that is a lost race too becomes one once the repeats are used up.
   *
   * False: the statement itself is at fault. The error passes as it is, as a bug.
   */
  isUnavailable(error: unknown): boolean;

  /** Opens both handles, and creates missing files. @throws {Error} naming what cannot be opened */
  connect(target: string, options: ConnectOptions): Promise<Connections>;
}

export interface ConnectOptions {
  readonly log: Knex.Logger;
  /** How long one statement waits for a lock that another transaction holds. */
  readonly lockWaitMs: number;
  readonly names: TableNames;
  /** Nothing is written: a server that only reads will do. */
  readonly readsOnly?: boolean;
}

/** Column types that engines spell differently, and indexes that some can narrow. */
export interface ColumnTypes {
  /** An id or a hash: ASCII, compared byte by byte. */
  id(table: Knex.TableBuilder, name: string, length?: number): Knex.ColumnBuilder;
  /** A short text in any script, compared byte by byte. */
  words(table: Knex.TableBuilder, name: string, length: number): Knex.ColumnBuilder;
  /** A text in any script and of any length. */
  text(table: Knex.TableBuilder, name: string): Knex.ColumnBuilder;
  /** JSON kept as text: `rows.ts` writes and parses it. */
  json(table: Knex.TableBuilder, name: string): Knex.ColumnBuilder;
  /** Bytes, at most `length` of them. */
  bytes(table: Knex.TableBuilder, name: string, length: number): Knex.ColumnBuilder;
  /** Milliseconds since 1970; also amounts and counts, all below 2^53. */
  integer(table: Knex.TableBuilder, name: string): Knex.ColumnBuilder;
  /** At most so many blanks, for {@link Dialect.keepsSize}; null where that is empty. */
  readonly blanks: ((table: Knex.TableBuilder, name: string, length: number) => Knex.ColumnBuilder) | null;
  /**
   * An index that needs to hold only rows where `column` is set. An engine without such indexes takes all rows, and a
   * unique one still admits any number of rows whose column is null: stores see no difference.
   */
  indexWhereSet(
    knex: Knex,
    table: Knex.TableBuilder,
    columns: readonly string[],
    column: string,
    options: { readonly name: string; readonly unique?: boolean },
  ): void;
  /**
   * Ends a CREATE TABLE whose rows are to lie in the order of their primary key. Empty where they always do. Stores
   * read such a table by ranges of its key on either engine.
   */
  readonly clustered: string;
  hasIndex(knex: Knex, table: string, name: string): Promise<boolean>;
}

/** How large tables are. Columns `name`, `row_count` (null: to be counted), `bytes` with indexes and `free_bytes`. */
export interface SizeQueries {
  /** Of every table of the database, others than Fermata's too. */
  readonly tables: string;
  readonly areRowsEstimated: boolean;
  /** In place of `tables` where that fails because {@link isWithoutBytes}. */
  readonly tablesWithoutBytes: string;
  /** Whether a query failed because this build of the engine does not know how large tables are. */
  isWithoutBytes(error: unknown): boolean;
  /** `bytes` and `free_bytes` of the whole database; null: the sums of the tables. */
  readonly whole: string | null;
}

/** What joins a transaction of an embedding app. */
export interface JoiningWork<T> {
  work(session: TransactionSession): Promise<T>;
  /** Called after the commit, with what the work returned. */
  committed(result: T): void;
}

/** {@link JoiningWork} in a database whose installation has this id. */
export interface InstallationWork<T> extends JoiningWork<T> {
  readonly installationId: string;
}

/** An open database. */
export interface Connections {
  /** For writes and migrations. */
  readonly write: Knex;
  /** For reads outside transactions: they see what is committed and never wait for an open transaction. */
  readonly read: Knex;
  /** Single reads on `read`. */
  readonly reader: Session;
  /** Runs `work` in one write transaction, once; commits, or rolls back and rejects with the cause. */
  transaction<T>(work: (session: TransactionSession) => Promise<T>): Promise<T>;
  /**
   * Runs the work once in a transaction that an embedding app has open on a connection of its own.
   *
   * @throws {OperationRefusedError} it is no open transaction of this engine, or is one on other tables
   */
  join<T>(transaction: HostTransaction, work: InstallationWork<T>): Promise<T>;
  /** Runs `work` on one consistent view of the data that holds up no writer. */
  snapshot<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Runs `work` while no other process does the same, and passes it the handle to migrate with. */
  alone<T>(work: (knex: Knex) => Promise<T>): Promise<T>;
  /**
   * The file that a thread of this process can open for itself, since a query here holds up the thread that runs it;
   * null where it does not, or where the data is in memory alone.
   */
  readonly file: string | null;
  /** How the connections are used; none where the embedding app holds them. */
  pools(): readonly PoolFigures[];
  close(): Promise<void>;
}
