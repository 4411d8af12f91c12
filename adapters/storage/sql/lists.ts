import { setImmediate as nextTurn } from "node:timers/promises";
import type { Reads, SqlValue } from "./session.js";

/**
 * How long lists of values in a statement are: few lengths, since each makes a text of its own, which is compiled once.
 */
const LENGTHS = [1, 4, 10, 20, 40, 100, 200, 500] as const;
const LENGTH_MAX = 500;
/** Keys of several columns in a condition: SQLite refuses one with some 1,000 parts. */
const KEYS_MAX = 100;

/**
 * The chunks in which a long list is processed. SQLite blocks the whole process during a query: between them, others
 * have their turn.
 */
export async function* inChunks<Value>(values: readonly Value[]): AsyncGenerator<readonly Value[]> {
  for (let start = 0; start < values.length; start += LENGTH_MAX) {
    if (start > 0) await nextTurn();
    yield values.slice(start, start + LENGTH_MAX);
  }
}

/**
 * Runs a query whose text depends on a list of values, in chunks: one query for many rows, where one for each would be
 * a statement for each.
 *
 * @param text makes the query of `?, ?, …`
 * @param before what the query asks for in front of the list
 */
export async function allIn<Row>(
  session: Reads,
  text: (marks: string) => string,
  values: readonly SqlValue[],
  before: readonly SqlValue[] = [],
): Promise<Row[]> {
  const rows: Row[] = [];
  const distinct = [...new Set(values)];
  // The first chunk is asked for at once: in a transaction it travels with what else is asked for in this tick.
  for (let start = 0; start < distinct.length; start += LENGTH_MAX) {
    if (start > 0) await nextTurn();
    const padded = paddedTo(distinct.slice(start, start + LENGTH_MAX));
    rows.push(...(await session.all<Row>(text(marksOf(padded.length)), [...before, ...padded])));
  }
  return rows;
}

/**
 * Rows by keys of several columns, in one query for many, in no order.
 *
 * @param select what is read, without a condition
 */
export async function allByKeys<Row>(
  session: Reads,
  select: string,
  columns: readonly string[],
  keys: readonly (readonly SqlValue[])[],
): Promise<Row[]> {
  const distinct = [...new Map(keys.map((key) => [key.join(" "), key])).values()];
  const condition = `(${columns.map((column) => `${column} = ?`).join(" AND ")})`;
  const parts: Promise<Row[]>[] = [];
  for (let start = 0; start < distinct.length; start += KEYS_MAX) {
    const padded = paddedTo(distinct.slice(start, start + KEYS_MAX));
    const text = `${select} WHERE ${padded.map(() => condition).join(" OR ")}`;
    parts.push(session.all<Row>(text, padded.flat()));
  }
  return (await Promise.all(parts)).flat();
}

/** The values in lists of few lengths, for statements that change rows by them. */
export function paddedLists(values: readonly SqlValue[]): SqlValue[][] {
  const starts = Array.from({ length: Math.ceil(values.length / LENGTH_MAX) }, (_, part) => part * LENGTH_MAX);
  return starts.map((start) => paddedTo(values.slice(start, start + LENGTH_MAX)));
}

/** Filled up with the last of them, which is found once all the same. */
function paddedTo<Value>(values: readonly Value[]): Value[] {
  const length = LENGTHS.find((one) => one >= values.length) ?? LENGTH_MAX;
  return Array.from({ length }, (_, index) => values[Math.min(index, values.length - 1)] as Value);
}

const marks = new Map<number, string>();

export function marksOf(length: number): string {
  let text = marks.get(length);
  if (text === undefined) marks.set(length, (text = Array.from({ length }, () => "?").join(", ")));
  return text;
}

/**
 * {@link allIn} of rows that each value names at most one of.
 *
 * @param entryOf names the value, and makes the item
 * @returns the items by value, in the order of the values; values without a row are missing
 */
export async function mapIn<Row, Key extends SqlValue, Item>(
  session: Reads,
  text: (marks: string) => string,
  values: readonly Key[],
  entryOf: (row: Row) => readonly [Key, Item],
): Promise<Map<Key, Item>> {
  const found = new Map((await allIn<Row>(session, text, values)).map(entryOf));
  if (found.size <= 1) return found;
  return new Map(values.flatMap((value) => (found.has(value) ? [[value, found.get(value) as Item] as const] : [])));
}

/** What was found of a list, in the order of the list. */
export function inOrder<Id, Item>(ids: readonly Id[], found: ReadonlyMap<Id, Item>): Item[] {
  return ids.flatMap((id) => found.get(id) ?? []);
}

export function groupBy<Key, Row>(rows: readonly Row[], keyOf: (row: Row) => Key): Map<Key, Row[]> {
  const groups = new Map<Key, Row[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group === undefined) groups.set(keyOf(row), [row]);
    else group.push(row);
  }
  return groups;
}
