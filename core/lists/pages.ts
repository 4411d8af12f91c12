import type { ListPage, ListPosition } from "../ports/list-page.js";

/** What a caller asks of a list: how many at most, behind which cursor. */
export interface PageRequest {
  readonly limit?: number | undefined;
  /** `next` of the page before; undefined: from the beginning. */
  readonly cursor?: string | undefined;
}

/** The first `limit` items of what was read with one more, which says whether anything follows. */
export function firstOf<Item>(found: readonly Item[], limit: number): ListPage<Item, Item> {
  const items = found.slice(0, limit);
  return { items, next: found.length > limit ? (items.at(-1) ?? null) : null };
}

/** Whether an item of a list that has the newest first comes behind a position; every item does where there is none. */
export function isBehind({ createdAt, id }: ListPosition, position: ListPosition | null): boolean {
  if (position === null || createdAt < position.createdAt) return true;
  return createdAt === position.createdAt && id < position.id;
}
