import { type Condition, conditionsOf, type Places, type Range, testsOf, type Wanted } from "./search-conditions.js";
import { EVERY } from "./search-rows.js";
import { type Hit, NEWEST_FIRST, Walk } from "./search-walk.js";
import type { Session, SqlValue } from "./session.js";

/**
 * How far the two ways to an answer are gone, one level after another: through the entries of words with fewer than `entries` of them,
 * where there is such a word; otherwise through the newest `items`.
 */
export interface SearchLevel {
  readonly entries: number;
  readonly items: number;
}

/** When a search changes its way. Low ones make a few items as good as millions. */
export interface SearchLimits {
  readonly levels: readonly SearchLevel[];
  /** Candidates whose texts are looked at in the first go; in each further one more. */
  readonly candidates: number;
  /** With fewer matching tracks than these, playlists are looked up by the tracks that they hold. */
  readonly fewTracks: number;
  /** Playlists that are looked into in the first go. */
  readonly playlists: number;
}

/**
 * Going through 20,000 entries or items takes some 20 ms. What comes to the last level is rare: words that each stand in 20,000 items, and hardly
 * ever in one together. That costs as much as their entries, and a look at every item where each has 200,000: half a second and more.
 */
export const SEARCH_LIMITS: SearchLimits = {
  levels: [
    { entries: 1_000, items: 2_000 },
    { entries: 20_000, items: 20_000 },
    { entries: 200_000, items: Number.MAX_SAFE_INTEGER },
  ],
  candidates: 200,
  fewTracks: 1_000,
  playlists: 50,
};

/** So many times as far goes a walk that will have found enough by then, as far as it can tell. */
const FURTHER = 10;
/** Terms whose entries are gone through together. Three narrow a search down as far as it needs. */
const JOINED_MAX = 3;
/** How much longer each go is than the one before: whoever needs many needs them soon. */
export const GROWTH = 4;
/** In their order, which needs no sorting. */
const OF_TERM = `SELECT created_at, item_id FROM search_terms WHERE shelf = ? AND term = ? ${NEWEST_FIRST} LIMIT ?`;
const IN_RANGE = { prefix: "shelf = ? AND term >= ? AND term < ?", exact: "shelf = ? AND term = ?" } as const;

export interface Search {
  readonly shelves: readonly string[];
  readonly classes: readonly Places[];
  readonly wanted: Wanted;
  readonly limit: number;
  readonly limits: SearchLimits;
}

/**
 * The best of some shelves: by the place where the words were found, then newest.
 *
 * Each class of places holds those before it, so what is found in one is left out of the next.
 */
export async function findBest(session: Session, { shelves, classes, wanted, limit, limits }: Search): Promise<Hit[]> {
  const searches = shelves.map((shelf) => new ShelfSearch(session, shelf, limits));
  const found = new Map<string, Hit>();
  for (const places of wanted.words.length === 0 ? classes.slice(0, 1) : classes) {
    const hits: Hit[] = [];
    for (const search of searches) hits.push(...(await search.newest(conditionsOf(wanted, places), limit)));
    for (const hit of hits.sort(newestFirst)) {
      if (found.size < limit) found.set(hit.item_id, found.get(hit.item_id) ?? hit);
    }
    if (found.size === limit) break;
  }
  return [...found.values()];
}

export function newestFirst(a: Hit, b: Hit): number {
  if (a.created_at !== b.created_at) return b.created_at - a.created_at;
  return a.item_id < b.item_id ? 1 : a.item_id > b.item_id ? -1 : 0;
}

/** Queries of what meets a condition, with the same values. */
interface Entries {
  /** Each item once: "ra" begins several words of some. */
  readonly once: string;
  readonly ids: string;
  readonly values: readonly SqlValue[];
}

/** A search of one shelf. What it counted is kept from class to class. */
class ShelfSearch {
  private readonly counts = new Map<string, { readonly count: number; readonly max: number }>();

  constructor(
    private readonly session: Session,
    private readonly shelf: string,
    private readonly limits: SearchLimits,
  ) {}

  /** The newest items that meet all conditions. */
  async newest(conditions: readonly Condition[], limit: number): Promise<Hit[]> {
    const [only, second] = conditions;
    if (only === undefined) return this.ofTerm(EVERY, limit);
    const [range] = only.ranges;
    if (second === undefined && only.isWhole && range?.below === null) return this.ofTerm(range.from, limit);
    const walk = new Walk(this.session, this.shelf, conditions, limit);
    for (const level of this.limits.levels) {
      await this.count(conditions.flatMap(({ ranges }) => ranges), level.entries);
      const counted = conditions.map((condition) => ({ condition, count: this.countOf(condition) }));
      if (counted.some(({ count }) => count === 0)) return [];
      const rare = counted.filter(({ count }) => count < level.entries).sort((a, b) => a.count - b.count);
      const joined = rare.slice(0, JOINED_MAX).map(({ condition }) => condition);
      const candidates = rare[0]?.count ?? 0;
      if (joined.length > 0) return this.compare(joined, conditions, limit, candidates);
      if (await walk.on(level.items)) return walk.found;
      const isPromising = walk.found.length * FURTHER >= limit;
      if (isPromising && (await walk.on(level.items * FURTHER))) return walk.found;
    }
    await walk.on(Number.MAX_SAFE_INTEGER);
    return walk.found;
  }

  private ofTerm(term: string, limit: number): Promise<Hit[]> {
    return this.session.all<Hit>(OF_TERM, [this.shelf, term, limit]);
  }

  /** Of what meets some conditions by its entries, the newest that meets the others by its texts. */
  private async compare(joined: readonly Condition[], conditions: readonly Condition[], limit: number, candidates: number): Promise<Hit[]> {
    const others = conditions.filter((condition) => !joined.includes(condition) || !condition.isWhole);
    if (others.length === 0) return this.page(joined, [], limit);
    const found: Hit[] = [];
    let length = this.limits.candidates;
    for (let offset = 0; offset < candidates && found.length < limit; length *= GROWTH) {
      found.push(...(await this.page(joined, others, length, offset)));
      offset += length;
    }
    return found.slice(0, limit);
  }

  /** A page of items by their entries, newest first; of that page, those that meet the other conditions. */
  private page(joined: readonly Condition[], others: readonly Condition[], limit: number, offset = 0): Promise<Hit[]> {
    const [first, ...rest] = joined.map((condition) => this.entriesOf(condition));
    if (first === undefined) return Promise.resolve([]);
    const text = `SELECT created_at, item_id FROM (${first.once}) AS e`;
    // Made into a table of its own, with an index by item. MariaDB asks a bare union, or a bare range, anew for every item of the first.
    const narrowed = rest.map((entries) => `item_id IN (SELECT item_id FROM (${entries.ids}) AS others)`);
    const where = narrowed.length === 0 ? "" : ` WHERE ${narrowed.join(" AND ")}`;
    const candidates = `${text}${where} ${NEWEST_FIRST} LIMIT ? OFFSET ?`;
    const values = [...first.values, ...rest.flatMap((entries) => entries.values), limit, offset];
    if (others.length === 0) return this.session.all<Hit>(candidates, values);
    const tests = testsOf(others);
    const compared = `SELECT c.created_at, c.item_id FROM (${candidates}) AS c
      JOIN search_items AS i ON i.shelf = ? AND i.created_at = c.created_at AND i.item_id = c.item_id
      WHERE ${tests.text} ORDER BY c.created_at DESC, c.item_id DESC`;
    return this.session.all<Hit>(compared, [...values, this.shelf, ...tests.values]);
  }

  private entriesOf({ ranges }: Condition): Entries {
    const conditions = ranges.map(({ below }) => IN_RANGE[below === null ? "exact" : "prefix"]);
    const distinct = conditions.length === 1 ? "DISTINCT " : "";
    return {
      once: conditions.map((condition) => `SELECT DISTINCT created_at, item_id FROM search_terms WHERE ${condition}`).join(" UNION "),
      ids: conditions.map((condition) => `SELECT ${distinct}item_id FROM search_terms WHERE ${condition}`).join(" UNION ALL "),
      values: ranges.flatMap((range) => this.valuesOf(range)),
    };
  }

  /** Counts the entries of these ranges, each up to `max`, unless that is known; those of a kind in one packet. */
  private async count(ranges: readonly Range[], max: number): Promise<void> {
    for (const kind of ["prefix", "exact"] as const) {
      const unknown = ranges.filter((range) => (range.below === null) === (kind === "exact") && this.isUnknown(range, max));
      if (unknown.length === 0) continue;
      const text = `SELECT COUNT(*) AS total FROM (SELECT 1 FROM search_terms WHERE ${IN_RANGE[kind]} LIMIT ?) AS entries`;
      const lists = unknown.map((range) => [...this.valuesOf(range), max]);
      const rows = await this.session.allEach<{ readonly total: number }>(text, lists);
      for (const [index, { from }] of unknown.entries()) this.counts.set(from, { count: rows[index]?.total ?? 0, max });
    }
  }

  /** What is below what it was counted up to is all there is. */
  private isUnknown({ from }: Range, max: number): boolean {
    const known = this.counts.get(from);
    return known === undefined || (known.count === known.max && known.max < max);
  }

  private countOf({ ranges }: Condition): number {
    return ranges.reduce((sum, { from }) => sum + (this.counts.get(from)?.count ?? 0), 0);
  }

  private valuesOf({ from, below }: Range): SqlValue[] {
    return below === null ? [this.shelf, from] : [this.shelf, from, below];
  }
}
