import type { Knex } from "knex";
import type { ColumnTypes } from "../dialect.js";
import type { TableNames } from "../table-names.js";

/**
 * One step of the schema. Where the engine commits each change of the schema by itself, an interrupted step runs
 * again, so each of its changes first looks whether it is already there.
 */
export interface Migration {
  /** Recorded in the database; never changes once released. */
  readonly name: string;
  /** The tables that it creates, without the storage's prefix. */
  readonly creates?: readonly string[];
  /**
   * Set where the migration takes away what older versions use: the name of the oldest migration that a version must
   * know to run on the schema from here on. Without it, versions run on that did before: it only adds.
   */
  readonly needs?: string;
  /** @param names of tables, indexes and checks: on some engines each is unique in the database */
  up(knex: Knex, columns: ColumnTypes, names: TableNames): Promise<void>;
}

/** Makes a table unless it is there. */
export async function createTable(
  knex: Knex,
  name: string,
  define: (table: Knex.CreateTableBuilder) => void,
): Promise<void> {
  if (await knex.schema.hasTable(name)) return;
  await knex.schema.createTable(name, asOurs(define));
}

/** In the comment of every table that Fermata creates, on engines that have comments. */
export const TABLE_COMMENT = "Fermata";

function asOurs(define: (table: Knex.CreateTableBuilder) => void): (table: Knex.CreateTableBuilder) => void {
  return (table) => {
    define(table);
    table.comment(TABLE_COMMENT);
  };
}

/**
 * The same, its rows in the order of the primary key, as they always are in MySQL: what is searched as a range is read
 * as one.
 */
export async function createClustered(
  knex: Knex,
  { clustered }: Pick<ColumnTypes, "clustered">,
  name: string,
  define: (table: Knex.CreateTableBuilder) => void,
): Promise<void> {
  if (await knex.schema.hasTable(name)) return;
  await knex.raw(knex.schema.createTable(name, asOurs(define)).toString() + clustered);
}

/** Adds a column, which is null in the rows that are there, unless the table has it. */
export async function addColumn(
  knex: Knex,
  table: string,
  column: string,
  define: (table: Knex.TableBuilder, column: string) => Knex.ColumnBuilder,
): Promise<void> {
  if (await knex.schema.hasColumn(table, column)) return;
  await knex.schema.alterTable(table, (builder) => {
    define(builder, column).nullable();
  });
}

/** Rows of a step: few enough to lock for a moment, and to roll back in one where the connection is lost. */
const STEP_ROWS = 1_000;

/**
 * Changes all rows of a table some at a time, in the order of their ids.
 *
 * @param change gets a query for the rows of a step, and may narrow it
 */
export async function inSteps(
  knex: Knex,
  table: string,
  change: (ofStep: Knex.QueryBuilder) => Promise<unknown>,
): Promise<void> {
  for (let last = ""; ;) {
    const next = knex(table).where("id", ">", last).orderBy("id").limit(STEP_ROWS);
    const ids = await next.pluck<string[]>("id");
    if (ids.length === 0) return;
    const end = ids.at(-1) as string;
    await change(knex(table).where("id", ">", last).where("id", "<=", end));
    last = end;
  }
}

/** Adds an index unless the table has one of this name. */
export async function addIndex(
  knex: Knex,
  columns: Pick<ColumnTypes, "hasIndex">,
  table: string,
  name: string,
  define: (table: Knex.TableBuilder) => void,
): Promise<void> {
  if (await columns.hasIndex(knex, table, name)) return;
  await knex.schema.alterTable(table, define);
}

/** `column` holds one of `values`, or nothing where it may be null. */
export function checkOneOf(
  table: Knex.CreateTableBuilder,
  name: string,
  column: string,
  values: readonly string[],
): void {
  table.check(`${column} in (${values.map((value) => `'${value}'`).join(", ")})`, undefined, name);
}
