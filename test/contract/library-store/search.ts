import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import fc from "fast-check";
import type { AccountId } from "../../../core/ids.js";
import type { LibrarySearch } from "../../../core/library/search.js";
import type { Track } from "../../../core/library/track.js";
import { foldTag, foldWords } from "../../../core/library/words.js";
import { anAsset, anId, aPlaylist, aTrack, NOON } from "../../support/builders.js";
import type { StorageWith } from "../../support/storage-under-test.js";
import { inPages, pagesOf } from "./search-pages.js";
import { aCorpus, aMark, endingInZero, playlistsFound, tracksFound, unique } from "./search-corpus.js";

/** Older than everything that other suites add. */
const LATE = NOON + 1_000_000_000;
const NO_TAGS: Track["tags"] = { mood: [], activity: [], genre: [], other: [] };

/** @param runs corpora that are searched */
export function librarySearch(
  opened: () => Pick<StorageWith<"library">, "library" | "inTransaction">,
  runs: number,
): void {
  const add = (...tracks: readonly Track[]): Promise<void> =>
    opened().inTransaction((tx) => opened().library.insertTracks(tx, tracks));
  const search = async (wanted: Partial<LibrarySearch>): Promise<readonly Track[]> => {
    const any = { viewer: anId("acct"), words: [], mood: null, activity: null, limit: 25 };
    return (await opened().library.searchTracks({ ...any, ...wanted })).items;
  };
  const file = async (): Promise<void> => {
    while (await opened().inTransaction((tx) => opened().library.indexPending(tx))) continue;
  };
  const find = async (text: string, viewer?: AccountId): Promise<Track["id"][]> => {
    const found = await search({ words: foldWords(text), ...(viewer === undefined ? {} : { viewer }) });
    return found.map(({ id }) => id);
  };

  it("finds in a small corpus the same as a full scan, in the same order", async () => {
    const { library, inTransaction } = opened();
    await fc.assert(
      fc.asyncProperty(aCorpus(), async (drawn) => {
        const corpus = unique(drawn);
        const compare = async (): Promise<void> => {
          for (const [index, wanted] of corpus.searches.entries()) {
            // The first one to its end: that takes a while.
            const pagesMax = index === 0 ? Infinity : 1;
            const all = { ...wanted, limit: Infinity };
            const tracks = inPages(tracksFound(corpus, all), wanted, pagesMax);
            const playlists = inPages(playlistsFound(corpus, all), wanted, pagesMax);
            expect(await pagesOf(wanted, (one) => library.searchTracks(one), pagesMax)).to.deep.equal(tracks);
            expect(await pagesOf(wanted, (one) => library.searchPlaylists(one), pagesMax)).to.deep.equal(playlists);
          }
        };
        await add(...corpus.tracks.slice(0, corpus.first));
        await file();
        await add(...corpus.tracks.slice(corpus.first));
        await inTransaction((tx) => library.insertPlaylists(tx, corpus.playlists));
        await compare();
        await file();
        await compare();
      }),
      { numRuns: runs },
    );
  });

  it("finds words by prefix in title, artist, prompt and tags of any group, ignoring case and accents", async () => {
    const mark = aMark();
    const track = aTrack({
      visibility: "public",
      title: `${mark} Ünder the Straße`,
      artistLabel: "Sigur Rós & Æther",
      prompt: "don't-stop, ΟΔΥΣΣΕΥΣ!",
      tags: { mood: ["Très Calme"], activity: ["Løping"], genre: ["lo-fi"], other: ["雨の音"] },
    });
    await add(track);
    const matching = [
      "under",
      "UND",
      "strasse",
      "STRASSE",
      "ros sigur",
      "aethe",
      "dont",
      "Don’t",
      "οδυσσευς",
      "tres",
      "løp",
      "lop",
      "fi lo",
      "雨",
      "the the",
    ];
    for (const text of matching) {
      expect(await find(`${mark} ${text}`), text).to.deep.equal([track.id]);
    }
    for (const text of ["nder", "rosa", "stop dont go", "calm1", "音"])
      expect(await find(`${mark} ${text}`), text).to.deep.equal([]);
  });

  it("ranks by title first, then by artist or tags, then by prompt; then newest, then by id", async () => {
    const [one, two] = [aMark(), aMark()];
    const base = { visibility: "public", title: "x", artistLabel: "x", prompt: "x" } as const;
    const title = aTrack({ ...base, title: `${two} and ${one}` });
    const mixed = aTrack({ ...base, title: one, tags: { ...NO_TAGS, genre: [two] }, createdAt: NOON + 1 });
    const label = aTrack({ ...base, artistLabel: `${one} ${two}`, createdAt: NOON + 2 });
    const [low, high] = [aTrack({ ...base, title: one, prompt: two }), aTrack({ ...base, prompt: `${one} ${two}` })];
    const newest = aTrack({ ...base, artistLabel: two, prompt: one, createdAt: NOON + 9 });
    await add(low, high, mixed, newest, label, title, aTrack({ ...base, title: one }));
    const ranked = [title.id, label.id, mixed.id, newest.id, high.id, low.id];
    expect(await find(`${one} ${two}`)).to.deep.equal(ranked);
    for (let limit = 1; limit <= ranked.length; limit++) {
      expect((await search({ words: [two, one], limit })).map(({ id }) => id)).to.deep.equal(ranked.slice(0, limit));
    }
  });

  it("compares mood and activity as a whole, each with tags of its own group", async () => {
    const mark = aMark();
    const track = aTrack({
      visibility: "public",
      tags: { ...NO_TAGS, mood: [`Très  ${mark} Calm`], activity: [`${mark} Focus`] },
    });
    await add(
      track,
      aTrack({ visibility: "public", tags: { ...NO_TAGS, mood: [`${mark} Focus`], genre: [`tres ${mark} calm`] } }),
    );
    const byTags = async (mood: string | null, activity: string | null): Promise<Track["id"][]> => {
      const fold = (tag: string | null): string | null => (tag === null ? null : foldTag(tag));
      return (await search({ mood: fold(mood), activity: fold(activity) })).map(({ id }) => id);
    };
    expect(await byTags(`TRES ${mark} calm `, null)).to.deep.equal([track.id]);
    expect(await byTags(null, `${mark} focus`)).to.deep.equal([track.id]);
    expect(await byTags(`tres ${mark} calm`, `${mark} focus`)).to.deep.equal([track.id]);
    expect(await byTags(`tres ${mark}`, null)).to.deep.equal([]);
    expect(await byTags(`tres ${mark} calm`, `${mark} calm`)).to.deep.equal([]);
  });

  it("finds public tracks and the viewer's own, if they are playable", async () => {
    const mark = aMark();
    const [viewer, otherAccount] = [anId("acct"), anId("acct")];
    const own = aTrack({ title: mark, accountId: viewer, createdAt: NOON + 2 });
    const ownPublic = aTrack({ title: mark, accountId: viewer, visibility: "public", createdAt: NOON + 1 });
    const nobodys = aTrack({ title: mark, accountId: null, visibility: "public" });
    const silent = aTrack({
      title: mark,
      accountId: viewer,
      assets: [anAsset({ role: "stem" }), anAsset({ role: "cover" })],
    });
    await add(
      own,
      ownPublic,
      nobodys,
      silent,
      aTrack({ title: mark, accountId: otherAccount }),
      aTrack({ title: mark, accountId: null }),
    );
    expect(await find(mark, viewer)).to.deep.equal([own.id, ownPublic.id, nobodys.id]);
    expect(await find(mark)).to.deep.equal([ownPublic.id, nobodys.id]);
  });

  it("returns the newest without any filter", async () => {
    const viewer = anId("acct");
    const [old, newest] = [
      aTrack({ accountId: viewer, createdAt: LATE }),
      aTrack({ visibility: "public", createdAt: LATE + 1 }),
    ];
    await add(newest, old, aTrack({ createdAt: LATE + 2 }));
    expect(await search({ viewer, limit: 2 })).to.deep.equal([newest, old]);
    expect(await search({ viewer, limit: 1 })).to.deep.equal([newest]);
  });

  it("distinguishes long words and tags with a common prefix, and finds them by that prefix", async () => {
    const mark = `${aMark()}${"𝒳é語".repeat(20)}`;
    const [track, other] = ["one", "two"].map((end) =>
      aTrack({ visibility: "public", title: `${mark}${end}`, tags: { ...NO_TAGS, mood: [`${mark} ${end}`] } }),
    ) as [Track, Track];
    await add(track, other);
    expect(await find(`${mark}one`)).to.deep.equal([track.id]);
    expect(await find(mark)).to.deep.equal([other.id, track.id]);
    expect((await search({ mood: foldTag(`${mark} two`) })).map(({ id }) => id)).to.deep.equal([other.id]);
    expect(await search({ mood: foldTag(mark) })).to.deep.equal([]);
  });

  it("handles any text: wildcards, quotes, lone surrogates, trailing blanks", async () => {
    const mark = aMark();
    const title = `${mark} 50%_off 'x" \\`;
    const odd = aTrack({
      visibility: "public",
      title,
      prompt: "🎼 \u{1F3BC}",
      tags: { ...NO_TAGS, mood: [`${mark}%`, ""] },
    });
    await add(odd);
    expect(await find(`${mark} 50 off`)).to.deep.equal([odd.id]);
    expect(await find(`${mark} 5%`)).to.deep.equal([odd.id]);
    expect((await search({ mood: `${mark}%` })).map(({ id }) => id)).to.deep.equal([odd.id]);
    for (const mood of [`${mark}_`, `${mark}%%`, `${mark}\uD83C`])
      expect(await search({ mood: foldTag(mood) }), mood).to.deep.equal([]);
  });

  it("finds a playlist by its current title, with or without tracks, until it is deleted", async () => {
    const [mark, later] = [aMark(), aMark()];
    const viewer = anId("acct");
    const playlist = aPlaylist({ title: `Soirée ${mark}`, accountId: viewer });
    const { library, inTransaction } = opened();
    const titled = async (words: string, who = viewer): Promise<string[]> => {
      const found = await library.searchPlaylists({
        viewer: who,
        words: foldWords(words),
        mood: null,
        activity: null,
        limit: 10,
      });
      return found.items.map(({ id }) => id);
    };
    await inTransaction((tx) => library.insertPlaylists(tx, [playlist, aPlaylist({ title: mark })]));
    expect(await titled(`soir ${mark}`)).to.deep.equal([playlist.id]);
    expect(await titled(mark, anId("acct"))).to.deep.equal([]);
    await inTransaction((tx) => library.updatePlaylist(tx, { ...playlist, title: later, visibility: "public" }));
    await file();
    expect(await titled(mark)).to.deep.equal([]);
    expect(await titled(later)).to.deep.equal([playlist.id]);
    expect(await titled(later, anId("acct"))).to.deep.equal([playlist.id]);
    await inTransaction((tx) => library.deletePlaylist(tx, playlist.id));
    expect(await titled(later)).to.deep.equal([]);
  });

  it("finds playlists by changes and deletions after they were indexed", async () => {
    const [mark, later] = [aMark(), aMark()];
    const viewer = anId("acct");
    const { library, inTransaction } = opened();
    const titled = async (word: string, limit = 20): Promise<string[]> => {
      const found = await library.searchPlaylists({ viewer, words: [word], mood: null, activity: null, limit });
      return found.items.map(({ id }) => id);
    };
    const playlists = Array.from({ length: 12 }, (_, index) =>
      aPlaylist({ id: endingInZero(anId("pls")), title: mark, accountId: viewer, createdAt: NOON - index }),
    );
    const ids = playlists.map(({ id }) => id);
    await inTransaction((tx) => library.insertPlaylists(tx, playlists));
    await file();
    expect(await titled(mark)).to.deep.equal(ids);
    for (const [index, playlist] of playlists.entries()) {
      await inTransaction(async (tx) => {
        if (index % 2 === 0) await library.deletePlaylist(tx, playlist.id);
        else await library.updatePlaylist(tx, { ...playlist, title: later });
      });
      expect(await titled(mark, 3)).to.deep.equal(ids.slice(index + 1, index + 4));
      if (index === 6) await file();
    }
    const renamed = ids.filter((_, index) => index % 2 === 1);
    expect(await titled(later)).to.deep.equal(renamed);
    await file();
    expect(await titled(later)).to.deep.equal(renamed);
    expect(await titled(mark)).to.deep.equal([]);
  });

  it("indexes concurrently what each caller would have indexed, once", async () => {
    const mark = aMark();
    const tracks = Array.from({ length: 40 }, (_, index) =>
      aTrack({ id: endingInZero(anId("trk")), title: mark, visibility: "public", createdAt: NOON + index }),
    );
    await Promise.all([add(...tracks.slice(0, 20)), file(), file(), add(...tracks.slice(20)), file()]);
    await file();
    const found = await search({ words: [mark], limit: 50 });
    expect(found.map(({ id }) => id)).to.deep.equal(tracks.map(({ id }) => id).reverse());
  });

  it("finds the same during indexing", async () => {
    const mark = aMark();
    const tracks = Array.from({ length: 60 }, (_, index) =>
      aTrack({ id: endingInZero(anId("trk")), title: mark, visibility: "public", createdAt: NOON + index }),
    );
    const newest = tracks.map(({ id }) => id).reverse();
    await add(...tracks);
    let isFiling = true;
    const filing = file().finally(() => (isFiling = false));
    do {
      for (const limit of [4, 25])
        expect((await search({ words: [mark], limit })).map(({ id }) => id)).to.deep.equal(newest.slice(0, limit));
      await nextTurn();
    } while (isFiling);
    await filing;
  });

  it("finds the same after an uncommitted indexing", async () => {
    const mark = aMark();
    const tracks = Array.from({ length: 10 }, (_, index) =>
      aTrack({ id: endingInZero(anId("trk")), title: mark, visibility: "public", createdAt: NOON + index }),
    );
    const expectAllFound = async (): Promise<void> => {
      expect(await find(mark)).to.deep.equal(tracks.map(({ id }) => id).reverse());
    };
    await add(...tracks);
    const broken = opened().inTransaction(async (tx) => {
      await opened().library.indexPending(tx);
      throw new Error("no");
    });
    expect(await broken.catch((error: Error) => error.message)).to.equal("no");
    await expectAllFound();
    await file();
    await expectAllFound();
  });

  it("finds nothing uncommitted", async () => {
    const mark = aMark();
    const { library, inTransaction } = opened();
    const work = inTransaction(async (tx) => {
      await library.insertTracks(tx, [aTrack({ title: mark, visibility: "public" })]);
      await library.insertPlaylists(tx, [aPlaylist({ title: mark, visibility: "public" })]);
      throw new Error("no");
    });
    expect(await work.catch((error: Error) => error.message)).to.equal("no");
    expect(await find(mark)).to.deep.equal([]);
    expect(
      await library.searchPlaylists({ viewer: anId("acct"), words: [mark], mood: null, activity: null, limit: 5 }),
    ).to.deep.equal({ items: [], next: null });
  });
}
