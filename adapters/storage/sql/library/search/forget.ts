import type { Dialect } from "../../dialect.js";
import { columnsOf, type Session } from "../../session.js";
import { addPlaces, encodePlaces, Positions, positionOf, segmentOf } from "./positions.js";
import { type ItemRow, PLACES, type PostingRow, SEARCH_ITEMS } from "./rows.js";
import { termsOfItem } from "./terms.js";

const FIND_ITEM = `SELECT ${columnsOf(SEARCH_ITEMS)}, slot FROM {search_items}
  WHERE shelf = ? AND created_at = ? AND item_id = ?`;
const OF_TERM = "shelf = ? AND segment = ? AND term = ?";
const FIND = `SELECT places FROM {search_postings} WHERE ${OF_TERM}`;
const UPDATE = `UPDATE {search_postings} SET places = ? WHERE ${OF_TERM}`;
const DELETE = `DELETE FROM {search_postings} WHERE ${OF_TERM}`;

/**
 * Takes the words of an item out of its segment: a word that no other item of the segment has stands nowhere any more.
 * To be called before the item's rows are deleted; one that is gone changes nothing.
 */
export async function forgetWords(
  session: Session,
  { shelf, created_at, item_id }: Pick<ItemRow, "shelf" | "created_at" | "item_id">,
  { forUpdate }: Pick<Dialect, "forUpdate">,
): Promise<void> {
  const key = [shelf, created_at, item_id];
  const [item] = await session.all<ItemRow & { readonly slot: number | null }>(FIND_ITEM + forUpdate, key);
  if (item === undefined || item.slot === null) return;
  const [segment, own] = [segmentOf(item.slot), Positions.of([positionOf(item.slot)])];
  const terms = new Set(Array.from(termsOfItem(item), ({ term }) => term));
  for (const term of [...terms].sort()) {
    const place = [shelf, segment, term];
    const [row] = await session.all<Pick<PostingRow, "places">>(FIND + forUpdate, place);
    if (row === undefined) continue;
    const left = PLACES.map((_, index) => {
      const positions = new Positions();
      addPlaces(positions, row.places, [index]);
      return [...positions.without(own).descending()].reverse();
    });
    if (left.every((positions) => positions.length === 0)) await session.run(DELETE, place);
    else await session.run(UPDATE, [encodePlaces(left), ...place]);
  }
}
