import type { SearchPosition } from "../../../../../core/library/search.js";
import type { ItemRow } from "./rows.js";

/** An item that was found. */
export interface Hit extends Pick<ItemRow, "created_at" | "item_id"> {
  /** The number of the class of places where the words were found; the first is the best. */
  readonly class: number;
}

export const NEWEST_FIRST = "ORDER BY created_at DESC, item_id DESC";

export function toHit({ rank, createdAt, id }: SearchPosition): Hit {
  return { class: rank, created_at: createdAt, item_id: id };
}

export function positionOf({ class: rank, created_at: createdAt, item_id: id }: Hit): SearchPosition {
  return { rank, createdAt, id };
}

/** Whether a hit comes after another one; every hit does where there is none. */
export function isBehind(hit: Hit, after: Hit | null): boolean {
  return after === null || bestFirst(after, hit) < 0;
}

export function bestFirst(a: Hit, b: Hit): number {
  return a.class - b.class || newestFirst(a, b);
}

export function newestFirst(a: Omit<Hit, "class">, b: Omit<Hit, "class">): number {
  if (a.created_at !== b.created_at) return b.created_at - a.created_at;
  return a.item_id < b.item_id ? 1 : a.item_id > b.item_id ? -1 : 0;
}
