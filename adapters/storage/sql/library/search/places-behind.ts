import type { PartitionSearch } from "./conditions.js";
import { type Hit, newestFirst } from "./hits.js";
import { positionOf, SEGMENT_ITEMS, segmentOf, slotOf } from "./positions.js";
import type { SegmentRow } from "./rows.js";
import type { Session } from "../../session.js";

type Segment = Pick<SegmentRow, "segment" | "newest" | "oldest">;

/** Where in segments the items begin that come behind a hit. */
export interface PlacesBehind {
  /** The class of the hit: nothing of a better one comes behind it. */
  readonly best: number;
  /** Items of this class come behind the hit from below this position on: an item's position is that of its age. */
  endIn(segment: Segment): number;
}

/** The first item of a segment from a position on. */
const FIRST_FROM = `SELECT slot, created_at, item_id FROM {search_items} WHERE shelf = ? AND slot >= ? AND slot < ?
  ORDER BY slot LIMIT 1`;

/** Finds the places behind the hit that a search begins behind; everything is where there is none. */
export async function placesBehind(
  session: Session,
  { partition, after }: Pick<PartitionSearch, "partition" | "after">,
  segments: readonly Segment[],
): Promise<PlacesBehind> {
  if (after === null) return { best: 0, endIn: () => SEGMENT_ITEMS };
  const within = segments.filter(({ newest, oldest }) => newest >= after.created_at && oldest <= after.created_at);
  const ends = await endsWithin(session, partition, within, after);
  return {
    best: after.class,
    endIn: ({ segment, newest }) => ends.get(segment) ?? (newest < after.created_at ? SEGMENT_ITEMS : 0),
  };
}

/** In segments that hold newer and older items than the hit, the end is found by halving, in all of them at once. */
async function endsWithin(
  session: Session,
  partition: string,
  segments: readonly Segment[],
  after: Hit,
): Promise<Map<number, number>> {
  const ranges = new Map(segments.map(({ segment }) => [segment, { low: 0, high: SEGMENT_ITEMS }]));
  for (;;) {
    const open = [...ranges].filter(([, { low, high }]) => low < high);
    if (open.length === 0) return new Map([...ranges].map(([segment, { low }]) => [segment, low]));
    const middles = open.map(([segment, { low, high }]) => ({ segment, middle: (low + high) >> 1, high }));
    const rows = await session.allEach<Omit<Hit, "class"> & { readonly slot: number }>(
      FIRST_FROM,
      middles.map(({ segment, middle, high }) => [partition, slotOf(segment, middle), slotOf(segment, high)]),
    );
    const found = new Map(rows.map((row) => [segmentOf(row.slot), row]));
    for (const { segment, middle } of middles) {
      const range = ranges.get(segment);
      const first = found.get(segment);
      if (range === undefined) continue;
      // Deleted items leave gaps: the first item may be past the middle, or missing.
      if (first !== undefined && newestFirst(after, first) < 0) range.low = positionOf(first.slot) + 1;
      else range.high = middle;
    }
  }
}
