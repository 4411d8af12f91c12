import type { IdByPrefix, IdPrefix } from "../ids.js";

/** Makes ids that no other process makes. Within a process a later id sorts behind an earlier one. */
export interface IdGenerator {
  next<P extends IdPrefix>(prefix: P): IdByPrefix[P];
}
