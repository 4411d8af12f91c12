import type { SqlValue } from "../session.js";

/** Values of one statement, or of one row. */
type Values = readonly SqlValue[];

/** The texts of a packet; escaped and in UTF-8 it stays below `max_allowed_packet`. */
export const PACKET_CHARACTERS = 1_000_000;

/**
 * Splits lists of values into what travels in one packet: at most `countMax` of them, and fewer where their texts are
 * long. A list that is too long by itself is alone.
 */
export function* packetsOf(lists: readonly Values[], countMax: number): Generator<readonly Values[]> {
  let packet: Values[] = [];
  let characters = 0;
  for (const values of lists) {
    const length = lengthOf(values);
    if (packet.length === countMax || (packet.length > 0 && characters + length > PACKET_CHARACTERS)) {
      yield packet;
      packet = [];
      characters = 0;
    }
    packet.push(values);
    characters += length;
  }
  if (packet.length > 0) yield packet;
}

/** The values of rows, in a list as a statement takes them. */
interface RowValues {
  readonly count: number;
  readonly values: readonly SqlValue[];
}

/** {@link packetsOf} of rows, each with the values of these columns. */
export function* rowPacketsOf<Row extends object>(
  columns: readonly (keyof Row)[],
  rows: readonly Row[],
  countMax: number,
): Generator<RowValues> {
  let values: SqlValue[] = [];
  let [count, characters] = [0, 0];
  for (const row of rows) {
    let length = 0;
    for (const column of columns) {
      const value = row[column] as SqlValue;
      values.push(value);
      if (typeof value === "string" || Buffer.isBuffer(value)) length += value.length;
    }
    if (count === countMax || (count > 0 && characters + length > PACKET_CHARACTERS)) {
      const next = values.splice(-columns.length);
      yield { count, values };
      values = next;
      [count, characters] = [0, 0];
    }
    count += 1;
    characters += length;
  }
  if (count > 0) yield { count, values };
}

/** One list of all their values. `flat` takes several times as long, which every row of the log would pay for. */
export function joined(lists: readonly Values[]): readonly SqlValue[] {
  const [first = []] = lists;
  if (lists.length <= 1) return first;
  const values: SqlValue[] = [];
  for (const list of lists) for (const value of list) values.push(value);
  return values;
}

/** Of texts and bytes; numbers are short. */
export function lengthOf(values: Values): number {
  let length = 0;
  for (const value of values) if (typeof value === "string" || Buffer.isBuffer(value)) length += value.length;
  return length;
}
