import { conditionsOf, type PartitionSearch, type Wanted } from "./conditions.js";
import { bestFirst, type Hit, isBehind, NEWEST_FIRST } from "./hits.js";
import { findUnindexed } from "./unindexed.js";
import type { Place } from "./rows.js";
import { findIndexed } from "./segments.js";
import type { Session } from "../../session.js";

const newestOf = (condition: string): string =>
  `SELECT created_at, item_id, 0 AS class FROM {search_items} WHERE shelf = ? ${condition} ${NEWEST_FIRST} LIMIT ?`;
const NEWEST = newestOf("");
/** The first bound is what the key begins at: SQLite makes nothing of the OR. */
const NEWEST_BEHIND = newestOf("AND created_at <= ? AND (created_at < ? OR item_id < ?)");

export interface Search {
  readonly partitions: readonly string[];
  /** In the order of relevance; each holds the one before. */
  readonly classes: readonly (readonly Place[])[];
  readonly wanted: Wanted;
  readonly limit: number;
  readonly after: Hit | null;
  /** Unindexed items that are looked at in the first go. */
  readonly stride: number;
}

/** The best of some partitions: by the places where the words were found, then newest. */
export async function findBest(
  session: Session,
  { partitions, classes, wanted, limit, after, stride }: Search,
): Promise<Hit[]> {
  const conditions = (wanted.words.length === 0 ? classes.slice(0, 1) : classes).map((places) =>
    conditionsOf(wanted, places),
  );
  const hits = await Promise.all(
    partitions.map((partition) => findInPartition(session, { partition, classes: conditions, limit, after, stride })),
  );
  const found = new Map(
    hits
      .flat()
      .filter((hit) => isBehind(hit, after))
      .map((hit) => [hit.item_id, hit]),
  );
  return [...found.values()].sort(bestFirst).slice(0, limit);
}

async function findInPartition(session: Session, search: PartitionSearch): Promise<Hit[]> {
  if (search.classes[0]?.length === 0) return findNewest(session, search);
  // These first: an item that is indexed meanwhile is found twice rather than not at all. Then the search runs once
  // more, with all of them indexed.
  const unindexed = await findUnindexed(session, search);
  const hits = [...unindexed, ...(await findIndexed(session, search, unindexed))];
  return new Set(hits.map(({ item_id }) => item_id)).size === hits.length ? hits : findInPartition(session, search);
}

/** Where everything matches. */
function findNewest(session: Session, { partition, limit, after }: PartitionSearch): Promise<Hit[]> {
  if (after === null) return session.all<Hit>(NEWEST, [partition, limit]);
  return session.all<Hit>(NEWEST_BEHIND, [partition, after.created_at, after.created_at, after.item_id, limit]);
}
