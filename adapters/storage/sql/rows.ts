import type { Locked } from "../../../core/ports/unit-of-work.js";
import { mapIn } from "./lists.js";
import type { Reads, Session, SqlValue } from "./session.js";

type Values = readonly SqlValue[];

/** Runs a query of one value once for each of the values, each once. @returns all rows, in the order of the values */
export function allOf<Row>(session: Reads, query: string, values: Iterable<SqlValue>): Promise<Row[]> {
  const lists = [...new Set(values)].map((value) => [value]);
  return session.allEach<Row>(query, lists);
}

/**
 * {@link allOf} of rows that each value names at most one of. @returns the items by what `entryOf` names them by;
 * values without a row are missing
 */
export async function mapOf<Row, Key, Item>(
  session: Reads,
  query: string,
  values: Iterable<SqlValue>,
  entryOf: (row: Row) => readonly [Key, Item],
): Promise<Map<Key, Item>> {
  return new Map((await allOf<Row>(session, query, values)).map(entryOf));
}

/**
 * Rows by their keys that `session` locks, without waiting for those that others hold.
 *
 * @param query of rows by their primary keys, without a lock
 */
export async function tryLocked<Row, Key extends SqlValue, Item>(
  session: Reads,
  { query, forClaim }: { readonly query: (marks: string) => string; readonly forClaim: string },
  keys: Iterable<Key>,
  entryOf: (row: Row) => readonly [Key, Item],
): Promise<Locked<Key, Item>> {
  const sorted = [...new Set(keys)].sort();
  const locked = await mapIn(session, (marks) => query(marks) + forClaim, sorted, entryOf);
  const missing = forClaim === "" ? [] : sorted.filter((key) => !locked.has(key));
  // Skipped, or not there: a read without a lock tells.
  const busy = missing.length === 0 ? [] : (await mapIn(session, query, missing, entryOf)).keys();
  return { locked, busy: new Set(busy) };
}

/**
 * What an earlier run of this transaction claimed and has: its commit may have taken effect, and only its reply been
 * lost.
 *
 * @param query `id` and `fence` of a row by its id and owner; locks it, without waiting for a commit that is on its way
 */
export async function keptOf<Claimed>(
  session: Reads,
  query: string,
  owner: string,
  claimed: ReadonlyMap<SqlValue, { readonly fence: number; readonly claim: Claimed }>,
): Promise<Claimed[]> {
  const ids = [...claimed.keys()].sort();
  const rows = await session.allEach<{ readonly id: string; readonly fence: number }>(
    query,
    ids.map((id) => [id, owner]),
  );
  const kept = new Set(
    rows.filter(({ id, fence }) => claimed.get(id)?.fence === fence).map(({ id }) => id as SqlValue),
  );
  return [...claimed].filter(([id]) => kept.has(id)).map(([, { claim }]) => claim);
}

/** The one row that a query finds, or null. */
export async function oneOf<Row, Item>(
  session: Reads,
  query: string,
  values: Values,
  toItem: (row: Row) => Item,
): Promise<Item | null> {
  const [row] = await session.all<Row>(query, values);
  return row === undefined ? null : toItem(row);
}

/**
 * Deletes a batch: finds rows, then deletes each by its key.
 *
 * @param keyOf the values of the statement that deletes a row
 * @returns how many it deleted
 */
export async function deleteFound<Row>(
  session: Session,
  find: readonly [query: string, values: Values],
  remove: string,
  keyOf: (row: Row) => Values,
): Promise<number> {
  const found = await session.all<Row>(...find);
  const counts = await session.runEach(remove, found.map(keyOf));
  return counts.reduce((sum, count) => sum + count, 0);
}
