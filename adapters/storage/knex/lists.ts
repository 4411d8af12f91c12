import type { Session, SqlValue } from "./session.js";

/** How long lists of values in a statement are: few lengths, since each makes a text of its own, which is compiled once. */
const LENGTHS = [1, 10, 100, 500] as const;

/**
 * Runs a query whose text depends on a list of values, in pieces: one question for many rows, where one for each would be a statement for each.
 *
 * @param text makes the query of `?, ?, …`
 * @param before what the query asks for in front of the list
 */
export async function allIn<Row>(
  session: Session,
  text: (marks: string) => string,
  values: readonly SqlValue[],
  before: readonly SqlValue[] = [],
): Promise<Row[]> {
  const distinct = [...new Set(values)];
  const rows: Row[] = [];
  for (let start = 0; start < distinct.length; ) {
    const left = distinct.length - start;
    const length = LENGTHS.find((one) => one >= left) ?? LENGTHS[3];
    const part = distinct.slice(start, start + length);
    start += part.length;
    // Filled up with the last of them, which is found once all the same.
    const padded = Array.from({ length }, (_, index) => part[index] ?? part.at(-1) ?? null);
    rows.push(...(await session.all<Row>(text(padded.map(() => "?").join(", ")), [...before, ...padded])));
  }
  return rows;
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
