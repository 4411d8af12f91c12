import { setImmediate as nextTurn } from "node:timers/promises";
import { behind, classOf, type PartitionSearch, testsOf } from "./conditions.js";
import { bestFirst, type Hit, NEWEST_FIRST } from "./hits.js";
import type { Session } from "../../session.js";

/** SQLite holds up the whole process while it looks at items in one go, and MySQL may take only so long for one. */
const STRIDE_MAX = 20_000;
const GROWTH = 2;

/**
 * The best of the unindexed items, by their texts, from the newest on.
 *
 * There are few of them but for a while after many came at once.
 */
export async function findUnindexed(session: Session, search: PartitionSearch): Promise<Hit[]> {
  const { partition, classes, limit, after } = search;
  const [rank, tests] = [classOf(classes), testsOf(classes.at(-1) ?? [])];
  const place = behind(after, rank);
  const best = after?.class ?? 0;
  const bottomText = `SELECT created_at FROM {search_loose} WHERE shelf = ? AND created_at < ? ${NEWEST_FIRST}
    LIMIT 1 OFFSET ?`;
  // Of one class they lie in their order.
  const order = classes.length === 1 ? NEWEST_FIRST : "ORDER BY class, created_at DESC, item_id DESC";
  const text = `SELECT created_at, item_id, ${rank.text} AS class FROM {search_loose} AS i
    WHERE shelf = ? AND created_at < ? AND created_at >= ? AND ${tests.text} AND ${place.text} ${order} LIMIT ?`;
  let found: Hit[] = [];
  // Of the last class, what is newer comes before.
  let top = after === null || best < classes.length - 1 ? Number.MAX_SAFE_INTEGER : after.created_at + 1;
  for (let { stride } = search; ; stride = Math.min(GROWTH * stride, STRIDE_MAX)) {
    // Those of the same moment belong to the stride as well.
    const [bottom] = await session.all<Pick<Hit, "created_at">>(bottomText, [partition, top, stride]);
    const range = [partition, top, bottom?.created_at ?? Number.MIN_SAFE_INTEGER];
    const values = [...rank.values, ...range, ...tests.values, ...place.values, limit];
    const hits = await session.all<Hit>(text, values);
    found = [...found, ...hits].sort(bestFirst).slice(0, limit);
    const isFull = found.length === limit && found.every((hit) => hit.class === best);
    if (bottom === undefined || isFull) return found;
    top = bottom.created_at;
    await nextTurn();
  }
}
