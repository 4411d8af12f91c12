import type { ItemRow } from "./rows.js";

/** An item that was found. */
export interface Hit extends Pick<ItemRow, "created_at" | "item_id"> {
  /** The number of the class of places where the words were found; the first is the best. */
  readonly class: number;
}

export const NEWEST_FIRST = "ORDER BY created_at DESC, item_id DESC";

export function bestFirst(a: Hit, b: Hit): number {
  return a.class - b.class || newestFirst(a, b);
}

export function newestFirst(a: Omit<Hit, "class">, b: Omit<Hit, "class">): number {
  if (a.created_at !== b.created_at) return b.created_at - a.created_at;
  return a.item_id < b.item_id ? 1 : a.item_id > b.item_id ? -1 : 0;
}
