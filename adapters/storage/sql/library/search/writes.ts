import type { Dialect } from "../../dialect.js";
import { inChunks } from "../../lists.js";
import { encodePlaces, Positions, positionOf, segmentOf, slotOf } from "./positions.js";
import {
  type DueRow,
  type ItemRow,
  PLACES,
  SEARCH_DUE,
  SEARCH_ITEMS,
  SEARCH_UNINDEXED,
  SEARCH_POSTINGS,
  SEARCH_SEGMENTS,
  type SegmentRow,
} from "./rows.js";
import { termsOfItem } from "./terms.js";
import { columnsOf, type Session } from "../../session.js";

type Locks = Pick<Dialect, "forUpdate" | "forClaim">;

/**
 * Ids end by chance: one item of some thirty leaves a note. Segments are so much larger that none is late for want of
 * one.
 */
const NOTED_END = "0";
/**
 * Partitions that are checked in one transaction, most of them in vain: of small ones there is one for each account.
 */
const PARTITIONS_AT_ONCE = 50;

const OF_ITEM = "shelf = ? AND created_at = ? AND item_id = ?";
const DELETE_ITEM = `DELETE FROM {search_items} WHERE ${OF_ITEM}`;
const DELETE_UNINDEXED = `DELETE FROM {search_loose} WHERE ${OF_ITEM}`;
const FIND_SLOT = `SELECT slot FROM {search_items} WHERE ${OF_ITEM}`;
const INDEX_ITEM = `UPDATE {search_items} SET slot = ? WHERE ${OF_ITEM}`;
const FIND_DEAD = "SELECT dead FROM {search_segments} WHERE shelf = ? AND segment = ?";
const MARK_DEAD = "UPDATE {search_segments} SET dead = ? WHERE shelf = ? AND segment = ?";
const CLAIM = "SELECT id FROM {search_upkeep} WHERE id = 1";
/**
 * The partition with the most new items comes first: otherwise the public one would be last after an import for many
 * accounts.
 */
const FIND_DUE = "SELECT shelf FROM {search_due} WHERE shelf > '' GROUP BY shelf ORDER BY COUNT(*) DESC, shelf LIMIT ?";
const UNINDEXED_AT = "SELECT item_id FROM {search_loose} WHERE shelf = ? ORDER BY created_at, item_id LIMIT 1 OFFSET ?";
const FORGET_DUE = "DELETE FROM {search_due} WHERE shelf = ?";
const LAST_SEGMENT = "SELECT MAX(segment) AS last FROM {search_segments} WHERE shelf = ?";
const OLDEST_UNINDEXED = `SELECT ${columnsOf(SEARCH_UNINDEXED)} FROM {search_loose} WHERE shelf = ?
  ORDER BY created_at, item_id LIMIT ?`;

/** Items are found from now on: unindexed at first. */
export async function insertSearchRows(session: Session, items: readonly ItemRow[]): Promise<void> {
  await session.insert(SEARCH_ITEMS, items);
  await session.insert(SEARCH_UNINDEXED, items);
  await session.upsert(SEARCH_DUE, notesOf(items));
}

/** The notes that these items leave: that their partitions have new ones. */
export function notesOf(items: readonly ItemRow[]): DueRow[] {
  return items
    .filter(({ item_id }) => item_id.endsWith(NOTED_END))
    .map(({ shelf, item_id, created_at }) => ({ shelf, item_id, created_at }));
}

export async function deleteSearchRows(
  session: Session,
  items: readonly Pick<ItemRow, "shelf" | "created_at" | "item_id">[],
  { forUpdate }: Pick<Dialect, "forUpdate">,
): Promise<void> {
  for (const { shelf: partition, created_at, item_id } of items) {
    const key = [partition, created_at, item_id];
    // In the order in which indexing locks them.
    await session.run(DELETE_UNINDEXED, key);
    const [row] = await session.all<{ readonly slot: number | null }>(FIND_SLOT + forUpdate, key);
    await session.run(DELETE_ITEM, key);
    if (row === undefined || row.slot === null) continue;
    const segment = [partition, segmentOf(row.slot)];
    const [found] = await session.all<Pick<SegmentRow, "dead">>(FIND_DEAD + forUpdate, segment);
    const dead = Positions.fromBitmap(found?.dead ?? null);
    dead.add(positionOf(row.slot));
    await session.run(MARK_DEAD, [dead.toBitmap(), ...segment]);
  }
}

/**
 * Indexes the oldest unindexed items of a partition that has enough of them as one segment. Notes of other partitions
 * are deleted.
 *
 * @param size items of a segment
 * @returns whether there may be more to do
 */
export async function indexSegment(session: Session, size: number, { forUpdate, forClaim }: Locks): Promise<boolean> {
  // One process at a time: two would index the same items.
  const claimed = await session.all(CLAIM + forClaim);
  const due = claimed.length === 0 ? [] : await session.all<Pick<DueRow, "shelf">>(FIND_DUE, [PARTITIONS_AT_ONCE]);
  for (const { shelf: partition } of due) {
    const [last] = await session.all(UNINDEXED_AT, [partition, size - 1]);
    if (last === undefined) {
      await session.run(FORGET_DUE, [partition]);
      continue;
    }
    await indexItems(session, partition, await session.all<ItemRow>(OLDEST_UNINDEXED + forUpdate, [partition, size]));
    return true;
  }
  return due.length === PARTITIONS_AT_ONCE;
}

async function indexItems(session: Session, partition: string, items: readonly ItemRow[]): Promise<void> {
  const [found] = await session.all<{ readonly last: number | null }>(LAST_SEGMENT, [partition]);
  const segment = (found?.last ?? 0) + 1;
  const postings = await placesByTerm(items);
  // In the order of their key, which is that of writing.
  for await (const terms of inChunks([...postings.keys()].sort())) {
    await session.insert(
      SEARCH_POSTINGS,
      terms.map((term) =>
        SEARCH_POSTINGS.toRow({ partition, segment, term, places: encodePlaces(postings.get(term) ?? []) }),
      ),
    );
  }
  const keys = items.map(({ created_at, item_id }, position) => ({
    slot: slotOf(segment, position),
    key: [partition, created_at, item_id],
  }));
  for await (const part of inChunks(keys)) {
    await session.runEach(
      INDEX_ITEM,
      part.map(({ slot, key }) => [slot, ...key]),
    );
    await session.runEach(
      DELETE_UNINDEXED,
      part.map(({ key }) => key),
    );
  }
  const [oldest, newest] = [items[0]?.created_at ?? 0, items.at(-1)?.created_at ?? 0];
  await session.insert(SEARCH_SEGMENTS, [SEARCH_SEGMENTS.toRow({ partition, segment, newest, oldest, dead: null })]);
}

/** For each term, and each of its places, the positions of the items that have it there. */
async function placesByTerm(items: readonly ItemRow[]): Promise<Map<string, number[][]>> {
  const postings = new Map<string, number[][]>();
  let position = 0;
  for await (const part of inChunks(items)) {
    for (const item of part) {
      for (const { term, place } of termsOfItem(item)) {
        let places = postings.get(term);
        if (places === undefined) postings.set(term, (places = PLACES.map(() => [])));
        const list = places[place];
        if (list !== undefined && list.at(-1) !== position) list.push(position);
      }
      position++;
    }
  }
  return postings;
}
