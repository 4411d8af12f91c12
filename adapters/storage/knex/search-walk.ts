import { setImmediate as nextTurn } from "node:timers/promises";
import { type Condition, testsOf } from "./search-conditions.js";
import { EVERY, type ItemRow } from "./search-rows.js";
import type { Session } from "./session.js";

export type Hit = Pick<ItemRow, "created_at" | "item_id">;

export const NEWEST_FIRST = "ORDER BY created_at DESC, item_id DESC";

/**
 * Items that are looked at in one go, growing from go to go: SQLite holds up the whole process meanwhile, and MySQL may take only so long for
 * one.
 */
const STRIDE = { first: 2_000, growth: 2, max: 20_000 } as const;

/** A walk through the items of a shelf from the newest on, which can be taken up where it was left. */
export class Walk {
  readonly found: Hit[] = [];
  private top: number | null = null;
  private strideMax: number = STRIDE.first;
  private isOver = false;

  constructor(
    private readonly session: Session,
    private readonly shelf: string,
    private readonly conditions: readonly Condition[],
    private readonly limit: number,
  ) {}

  /** @returns whether all that was looked for is found: a full page, or all there is */
  async on(items: number): Promise<boolean> {
    const tests = testsOf(this.conditions);
    for (let left = items; left > 0 && !this.isOver; ) {
      const stride = Math.min(left, this.strideMax);
      const bottom = await this.bottomOf(stride);
      const text = `SELECT created_at, item_id FROM search_items AS i
        WHERE shelf = ? AND created_at < ? AND created_at >= ? AND ${tests.text} ${NEWEST_FIRST} LIMIT ?`;
      const range = [this.shelf, this.top ?? Number.MAX_SAFE_INTEGER, bottom ?? Number.MIN_SAFE_INTEGER];
      this.found.push(...(await this.session.all<Hit>(text, [...range, ...tests.values, this.limit - this.found.length])));
      this.top = bottom;
      this.isOver = bottom === null || this.found.length === this.limit;
      left -= stride;
      this.strideMax = Math.min(STRIDE.growth * this.strideMax, STRIDE.max);
      if (!this.isOver) await nextTurn();
    }
    return this.isOver;
  }

  /** The moment of the item so many further down; those of the same moment belong to the stride as well. null: the stride holds the rest. */
  private async bottomOf(stride: number): Promise<number | null> {
    // Of all that is in order of time, the entries are the narrowest.
    const text = `SELECT created_at FROM search_terms WHERE shelf = ? AND term = ? AND created_at < ? ${NEWEST_FIRST} LIMIT 1 OFFSET ?`;
    const [row] = await this.session.all<Hit>(text, [this.shelf, EVERY, this.top ?? Number.MAX_SAFE_INTEGER, stride]);
    return row?.created_at ?? null;
  }
}
