import type { AccountId } from "../ids.js";

/** A track or a playlist: it has an owner and may be public. */
export interface Owned {
  /** null: it has no owner. */
  readonly accountId: AccountId | null;
  readonly visibility: "public" | "private";
}

/**
 * Whether the viewer may see this: it is public, or its own. Sharing a track opens its page and nothing else.
 *
 * @param viewer null: a viewer without an account; items without an owner have a null owner too
 */
export function maySee(thing: Owned, viewer: AccountId | null): boolean {
  return thing.visibility === "public" || (viewer !== null && thing.accountId === viewer);
}
