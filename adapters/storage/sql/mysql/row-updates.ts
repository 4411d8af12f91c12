import type { RowUpdate, SqlValue } from "../session.js";
import { packetsOf } from "./packets.js";
import { keepsSize } from "./room.js";

/** Rows that one statement changes. */
const ROWS_MAX = 50;

export interface UpdateStatement {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/**
 * Statements that change rows by their primary key, many at a time: one for all updates of the same columns. Where a
 * row is updated twice, the second update is in a later statement.
 *
 * @param by the columns that name a row
 */
export function* updateStatements(
  table: string,
  by: readonly string[],
  updates: readonly RowUpdate[],
): Generator<UpdateStatement> {
  let groups = new Map<string, RowUpdate[]>();
  let seen = new Set<SqlValue>();
  for (const update of updates) {
    const [name = null, ...rest] = update.key;
    if (seen.has(name)) {
      yield* statementsOf(table, by, groups);
      [groups, seen] = [new Map<string, RowUpdate[]>(), new Set<SqlValue>()];
    }
    seen.add(name);
    const same = JSON.stringify([update.columns, rest]);
    const group = groups.get(same);
    if (group === undefined) groups.set(same, [update]);
    else group.push(update);
  }
  yield* statementsOf(table, by, groups);
}

function* statementsOf(
  table: string,
  by: readonly string[],
  groups: ReadonlyMap<string, readonly RowUpdate[]>,
): Generator<UpdateStatement> {
  for (const group of groups.values()) {
    const texts = group.map(({ values }) => values);
    let first = 0;
    for (const { length } of packetsOf(texts, ROWS_MAX)) {
      yield statementOf(table, by, group.slice(first, first + length));
      first += length;
    }
  }
}

function statementOf(
  table: string,
  [name = "", ...others]: readonly string[],
  group: readonly RowUpdate[],
): UpdateStatement {
  const [
    {
      key: [, ...rest],
      columns,
    },
  ] = group as readonly [RowUpdate];
  const names = group.map(({ key }) => key[0] as SqlValue);
  const assignments = columns.map((column, index) => {
    const values = group.map((update) => update.values[index] as SqlValue);
    const [value] = values as [SqlValue];
    if (values.every((other) => other === value)) return { text: `${column} = ?`, values: [value] };
    const cases = values.map(() => "WHEN ? THEN ?").join(" ");
    const pairs = values.flatMap((other, row) => [names[row] as SqlValue, other]);
    return { text: `${column} = CASE ${name} ${cases} END`, values: pairs };
  });
  const where = [`${name} IN (${names.map(() => "?").join(", ")})`, ...others.map((other) => `${other} = ?`)];
  const set = assignments.map(({ text }) => text).join(", ");
  return {
    // Of a table with few rows the engine would read, and lock, all of them.
    text: `UPDATE {${table}} FORCE INDEX (PRIMARY) SET ${set}${keepsSize(table)} WHERE ${where.join(" AND ")}`,
    values: [...assignments.flatMap(({ values }) => values), ...names, ...rest],
  };
}
