import type { IdByPrefix, IdPrefix } from "../ids.js";

/**
 * Creates ids that are unique across processes. Within a process a later id sorts behind an earlier one. Replaced
 * through the override `ids` of `compose`.
 */
export interface IdGenerator {
  next<P extends IdPrefix>(prefix: P): IdByPrefix[P];
}
