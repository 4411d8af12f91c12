import { expect } from "chai";
import type { LibrarySearch, SearchPosition } from "../../../core/library/search.js";
import type { Track } from "../../../core/library/track.js";
import type { ListPage } from "../../../core/ports/list-page.js";
import { anId, aTrack, NOON } from "../../support/builders.js";
import type { StorageWith } from "../../support/storage-under-test.js";
import { aMark, endingInZero } from "./search-corpus.js";

/** Pages of searches, each of which begins behind the one before. */
export function librarySearchPages(opened: () => Pick<StorageWith<"library">, "library" | "inTransaction">): void {
  const add = (...tracks: readonly Track[]): Promise<void> =>
    opened().inTransaction((tx) => opened().library.insertTracks(tx, tracks));
  const find = (wanted: LibrarySearch) => opened().library.searchTracks(wanted);
  const file = async (): Promise<void> => {
    while (await opened().inTransaction((tx) => opened().library.indexPending(tx))) continue;
  };

  it("goes on behind a track whatever comes in between: none twice, none left out", async () => {
    const mark = aMark();
    const aMatch = (createdAt: number, isInTitle: boolean): Track =>
      aTrack({
        id: endingInZero(anId("trk")),
        visibility: "public",
        title: isInTitle ? mark : "x",
        prompt: mark,
        createdAt: NOON + createdAt,
      });
    const inTitle = [aMatch(5, true), aMatch(3, true), aMatch(3, true), aMatch(1, true)];
    const inPrompt = [aMatch(9, false), aMatch(2, false)];
    await add(...inTitle, ...inPrompt);
    const ids: string[] = [];
    let after: LibrarySearch["after"];
    do {
      const wanted = { viewer: anId("acct"), words: [mark], mood: null, activity: null, limit: 1, after };
      const { items, next } = await find(wanted);
      ids.push(...items.map(({ id }) => id));
      after = next ?? undefined;
      // Newer than all, and so before every place in the first class.
      await add(aMatch(100 + ids.length, true));
      if (ids.length === 2) await file();
    } while (after !== undefined);
    const [first, one, other, last] = inTitle.map(({ id }) => id) as [string, string, string, string];
    const tied = [one, other].sort().reverse();
    expect(ids).to.deep.equal([first, ...tied, last, ...inPrompt.map(({ id }) => id)]);
  });

  it("pages one by one through tracks of one kind, indexed or not, some of them of one moment", async () => {
    const mark = aMark();
    const tracks = Array.from({ length: 9 }, (_, index) =>
      aTrack({
        id: endingInZero(anId("trk")),
        visibility: "public",
        title: mark,
        createdAt: NOON + Math.floor(index / 2),
      }),
    );
    const [wanted, newest] = [
      { viewer: anId("acct"), words: [mark], mood: null, activity: null, limit: 1 },
      [...tracks],
    ];
    newest.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
    await add(...tracks);
    expect(await pagesOf(wanted, find, Infinity)).to.deep.equal(newest.map((track) => [track]));
    await file();
    expect(await pagesOf(wanted, find, Infinity)).to.deep.equal(newest.map((track) => [track]));
    const twos = { ...wanted, limit: 2 };
    expect(await pagesOf(twos, find, Infinity)).to.deep.equal(inPages(newest, twos, Infinity));
  });

  it("finds nothing behind a place that is worse than all", async () => {
    const mark = aMark();
    await add(aTrack({ visibility: "public", title: mark }));
    for (const after of [
      { rank: 9, createdAt: NOON, id: anId("trk") },
      { rank: 2, createdAt: 0, id: anId("trk") },
    ])
      expect(
        await find({ viewer: anId("acct"), words: [mark], mood: null, activity: null, limit: 25, after }),
      ).to.deep.equal({ items: [], next: null });
  });
}

/** What a search finds, page by page. */
export async function pagesOf<Item>(
  wanted: LibrarySearch,
  find: (search: LibrarySearch) => Promise<ListPage<Item, SearchPosition>>,
  pagesMax: number,
): Promise<(readonly Item[])[]> {
  const pages: (readonly Item[])[] = [];
  let after: SearchPosition | undefined;
  do {
    const { items, next } = await find({ ...wanted, after });
    pages.push(items);
    after = next ?? undefined;
  } while (after !== undefined && pages.length < pagesMax);
  return pages;
}

/** The same of what is to be found. */
export function inPages<Item>(items: readonly Item[], { limit }: LibrarySearch, pagesMax: number): (readonly Item[])[] {
  const count = Math.min(pagesMax, Math.max(1, Math.ceil(items.length / limit)));
  return Array.from({ length: count }, (_, index) => items.slice(index * limit, (index + 1) * limit));
}
