import { conditionsOf, type PartitionSearch, type Wanted } from "./conditions.js";
import { bestFirst, type Hit, NEWEST_FIRST } from "./hits.js";
import { findUnindexed } from "./unindexed.js";
import type { Place } from "./rows.js";
import { findIndexed } from "./segments.js";
import type { Session } from "../../session.js";

const NEWEST = `SELECT created_at, item_id, 0 AS class FROM {search_items} WHERE shelf = ? ${NEWEST_FIRST} LIMIT ?`;

export interface Search {
  readonly partitions: readonly string[];
  /** In the order of relevance; each holds the one before. */
  readonly classes: readonly (readonly Place[])[];
  readonly wanted: Wanted;
  readonly limit: number;
  /** Unindexed items that are looked at in the first go. */
  readonly stride: number;
}

/** The best of some partitions: by the places where the words were found, then newest. */
export async function findBest(
  session: Session,
  { partitions, classes, wanted, limit, stride }: Search,
): Promise<Hit[]> {
  const conditions = (wanted.words.length === 0 ? classes.slice(0, 1) : classes).map((places) =>
    conditionsOf(wanted, places),
  );
  const hits = await Promise.all(
    partitions.map((partition) => findInPartition(session, { partition, classes: conditions, limit, stride })),
  );
  const found = new Map(hits.flat().map((hit) => [hit.item_id, hit]));
  return [...found.values()].sort(bestFirst).slice(0, limit);
}

async function findInPartition(session: Session, search: PartitionSearch): Promise<Hit[]> {
  if (search.classes[0]?.length === 0) return session.all<Hit>(NEWEST, [search.partition, search.limit]);
  // These first: an item that is indexed meanwhile is found twice rather than not at all. Then the search runs once
  // more, with all of them indexed.
  const unindexed = await findUnindexed(session, search);
  const hits = [...unindexed, ...(await findIndexed(session, search, unindexed))];
  return new Set(hits.map(({ item_id }) => item_id)).size === hits.length ? hits : findInPartition(session, search);
}
