import { setImmediate as nextTurn } from "node:timers/promises";
import { groupBy, allIn } from "../../lists.js";
import { classOf, type Condition, type PartitionSearch, testsOf } from "./conditions.js";
import type { Hit } from "./hits.js";
import { type PlacesBehind, placesBehind } from "./places-behind.js";
import { addPlaces, Positions, SEGMENT_ITEMS, slotOf } from "./positions.js";
import type { PostingRow, SegmentRow } from "./rows.js";
import type { Session } from "../../session.js";

/** Segments whose postings are read at once, round after round: the newest of common words are found in the first. */
const ROUNDS = [10, 100, 500] as const;

const SEGMENTS = "SELECT segment, newest, oldest, dead FROM {search_segments} WHERE shelf = ? ORDER BY newest DESC";

type Segment = Omit<SegmentRow, "shelf">;
type Posting = Pick<PostingRow, "segment" | "places">;

/**
 * The best of the indexed items. Those that are worse than `limit` unindexed ones may be left out.
 *
 * @param unindexed the best of what is in no segment
 */
export async function findIndexed(
  session: Session,
  search: PartitionSearch,
  unindexed: readonly Hit[],
): Promise<Hit[]> {
  const all = await session.all<Segment>(SEGMENTS, [search.partition]);
  const places = await placesBehind(session, search, all);
  // Of the last class, segments that are newer as a whole hold nothing.
  const segments = places.best < search.classes.length - 1 ? all : all.filter((segment) => places.endIn(segment) > 0);
  const widest = search.classes.at(-1) ?? [];
  return widest.every(({ isWhole }) => isWhole)
    ? byPostings(session, search, segments, { unindexed, places })
    : byTexts(session, search, segments);
}

async function byPostings(
  session: Session,
  search: PartitionSearch,
  segments: readonly Segment[],
  { unindexed, places }: { readonly unindexed: readonly Hit[]; readonly places: PlacesBehind },
): Promise<Hit[]> {
  const { partition, classes, limit } = search;
  const pages = classes.map(
    (_, number) =>
      new Page(
        limit,
        unindexed.filter((hit) => hit.class === number),
      ),
  );
  await forEachMatch(session, search, segments, (segment, matches) => {
    for (const [number, positions] of matches.entries()) {
      if (number < places.best) continue;
      const end = number === places.best ? places.endIn(segment) : SEGMENT_ITEMS;
      pages[number]?.add(segment, positions, end);
    }
    return pages[places.best]?.isBehind(segment) ?? true;
  });
  const slots = new Map(pages.flatMap((page, number) => page.slots.map((slot) => [slot, number])));
  const text = (marks: string): string =>
    `SELECT slot, created_at, item_id FROM {search_items} WHERE shelf = ? AND slot IN (${marks})`;
  const rows = await allIn<Omit<Hit, "class"> & { readonly slot: number }>(
    session,
    text,
    [...slots.keys()],
    [partition],
  );
  return rows.map(({ slot, created_at, item_id }) => ({ created_at, item_id, class: slots.get(slot) ?? 0 }));
}

/** Of words that are longer than the index has them, postings say only what to look at. */
async function byTexts(session: Session, search: PartitionSearch, segments: readonly Segment[]): Promise<Hit[]> {
  const { partition, classes } = search;
  const slots: number[] = [];
  await forEachMatch(session, search, segments, ({ segment }, matches) => {
    for (const positions of matches)
      for (const position of positions.descending()) slots.push(slotOf(segment, position));
    return false;
  });
  const [rank, tests] = [classOf(classes), testsOf(classes.at(-1) ?? [])];
  const text = (marks: string): string => `SELECT created_at, item_id, ${rank.text} AS class FROM {search_items} AS i
    WHERE ${tests.text} AND shelf = ? AND slot IN (${marks})`;
  return allIn<Hit>(session, text, slots, [...rank.values, ...tests.values, partition]);
}

/**
 * Goes through the segments from the newest on.
 *
 * @param visit gets what of a segment is in each class and in none before; the first for which it returns true is the
 * last
 */
async function forEachMatch(
  session: Session,
  { partition, classes }: PartitionSearch,
  segments: readonly Segment[],
  visit: (segment: Segment, matches: readonly Positions[]) => boolean,
): Promise<void> {
  for (let start = 0, round = 0; start < segments.length; round++) {
    const length = ROUNDS[round] ?? ROUNDS[2];
    const part = segments.slice(start, start + length);
    const postings = await postingsOf(session, partition, classes[0] ?? [], part);
    for (const segment of part) {
      const ofSegment = postings.map((ofCondition) => ofCondition.get(segment.segment) ?? []);
      if (visit(segment, matchesIn(segment, classes, ofSegment))) return;
    }
    start += length;
    await nextTurn();
  }
}

function matchesIn(
  { dead }: Segment,
  classes: readonly (readonly Condition[])[],
  postings: readonly (readonly Posting[])[],
): Positions[] {
  if (postings.some((ofCondition) => ofCondition.length === 0)) return [];
  // Each class adds places to those of the class before.
  const met = postings.map(() => new Positions());
  const taken = Positions.fromBitmap(dead);
  return classes.map((conditions, number) => {
    const before = classes[number - 1];
    for (const [index, positions] of met.entries()) {
      const added = conditions[index]?.places.filter((place) => before?.[index]?.places.includes(place) !== true) ?? [];
      if (added.length === 0) continue;
      for (const posting of postings[index] ?? []) addPlaces(positions, posting.places, added);
    }
    const matches = Positions.common(met).without(taken);
    taken.addAll(matches);
    return matches;
  });
}

/**
 * For each condition, its postings by their segment; of segments that have none for a condition, those for the ones
 * after it are left out.
 */
async function postingsOf(
  session: Session,
  partition: string,
  conditions: readonly Condition[],
  segments: readonly Segment[],
): Promise<Map<number, Posting[]>[]> {
  let numbers = segments.map(({ segment }) => segment);
  const found: Map<number, Posting[]>[] = [];
  for (const { terms } of conditions) {
    const [condition, values] =
      terms.below === null ? ["term = ?", [terms.from]] : ["term >= ? AND term < ?", [terms.from, terms.below]];
    const text = (marks: string): string =>
      `SELECT segment, places FROM {search_postings} WHERE shelf = ? AND ${condition} AND segment IN (${marks})`;
    const ofCondition = groupBy(
      await allIn<Posting>(session, text, numbers, [partition, ...values]),
      ({ segment }) => segment,
    );
    found.push(ofCondition);
    numbers = [...ofCondition.keys()];
  }
  return found;
}

/** The newest of one class, by segments that come from the newest on, and may overlap. */
class Page {
  readonly slots: number[] = [];
  private oldest: number;
  private count: number;

  constructor(
    private readonly limit: number,
    unindexed: readonly Hit[],
  ) {
    this.count = unindexed.length;
    this.oldest = Math.min(...unindexed.map(({ created_at }) => created_at));
  }

  /** Whether there are enough that are newer than all of this segment, and so of those after it. */
  isBehind({ newest }: Pick<Segment, "newest">): boolean {
    return this.count >= this.limit && newest < this.oldest;
  }

  /** @param end only positions before this one */
  add(segment: Segment, positions: Positions, end: number): void {
    if (this.isBehind(segment)) return;
    let left = this.limit;
    for (const position of positions.descending()) {
      if (left === 0) break;
      if (position >= end) continue;
      this.slots.push(slotOf(segment.segment, position));
      this.count++;
      left--;
    }
    if (left < this.limit) this.oldest = Math.min(this.oldest, segment.oldest);
  }
}
