/** What can be one of some {@link Members}. */
export interface Member {
  /** Its place among them, which is theirs to change; -1: it is none of them. */
  place: number;
}

/**
 * Items that come and go all the time, in no order.
 *
 * Not a Set: one whose items change all the time gets a new table again and again, and in V8 each table refers to its
 * successor. Once one of them counts as old, all that was in its successors stays in memory until the next full
 * collection of garbage, and is copied until then.
 */
export class Members<Item extends Member> implements Iterable<Item> {
  private readonly items: Item[] = [];

  get size(): number {
    return this.items.length;
  }

  /** @param item none of them */
  add(item: Item): void {
    item.place = this.items.push(item) - 1;
  }

  /** @returns false where it was none of them */
  delete(item: Item): boolean {
    const { place } = item;
    if (place === -1) return false;
    const last = this.items.pop();
    if (last !== undefined && last !== item) {
      this.items[place] = last;
      last.place = place;
    }
    item.place = -1;
    return true;
  }

  [Symbol.iterator](): Iterator<Item> {
    return this.items.values();
  }
}
