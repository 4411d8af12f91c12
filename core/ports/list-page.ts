/** A place in a list that has the newest first: by `createdAt`, then by `id`, both descending. */
export interface ListPosition<Id extends string = string> {
  readonly createdAt: number;
  readonly id: Id;
}

/** Some of a list: from its beginning, or from behind a position. */
export interface ListPage<Item, Position> {
  readonly items: readonly Item[];
  /** Where the next page begins behind: the place of the last item; null: nothing follows. */
  readonly next: Position | null;
}
