import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import type { AccountId, PlaylistId } from "../../../core/ids.js";
import type { Playlist } from "../../../core/library/playlist.js";
import type { ListPage, ListPosition } from "../../../core/ports/list-page.js";
import { anId, aPlaylist, NOON } from "../../support/builders.js";
import type { StorageWith } from "../../support/storage-under-test.js";

/** Older than everything that other suites list. */
const LATE = NOON + 1_000_000_000;

export function libraryPlaylists(opened: () => StorageWith<"library">): void {
  const add = (...playlists: readonly Playlist[]): Promise<void> =>
    opened().inTransaction((tx) => opened().library.insertPlaylists(tx, playlists));
  const find = async (id: PlaylistId): Promise<Playlist | undefined> =>
    (await opened().library.findPlaylists([id])).get(id);

  const list = async (viewer: AccountId | null, playlists: number, tracks = 10_000): Promise<readonly Playlist[]> =>
    (await opened().library.listPlaylists(viewer, { playlists, tracks })).items;

  it("stores every member, tracks in order", async () => {
    const full = aPlaylist({
      title: "Ä 🎼 “Regen”",
      visibility: "public",
      trackIds: ["c", "a", "b"].map(() => anId("trk")).reverse(),
    });
    const bare = aPlaylist({ accountId: null, visibility: "public", trackIds: [] });
    await add(full, bare);
    const found = await opened().library.findPlaylists([bare.id, anId("pls"), full.id, bare.id]);
    expect([...found.values()]).to.have.deep.members([full, bare]);
    expect((await opened().library.findPlaylists([])).size).to.equal(0);
  });

  it("stores and returns many playlists of many tracks", async () => {
    const playlists = Array.from({ length: 30 }, () =>
      aPlaylist({ trackIds: Array.from({ length: 100 }, () => anId("trk")) }),
    );
    await add(...playlists);
    const found = await opened().library.findPlaylists(playlists.map(({ id }) => id));
    for (const playlist of playlists) expect(found.get(playlist.id)).to.deep.equal(playlist);
  });

  it("refuses an unknown visibility", async () => {
    const playlist = aPlaylist({ visibility: "secret" as "private" });
    expect(await add(playlist).catch((error: unknown) => error)).to.be.instanceOf(Error);
    expect(await find(playlist.id)).to.equal(undefined);
  });

  it("writes title, visibility and tracks of a locked playlist, and nothing else", async () => {
    const [playlist, other] = [
      aPlaylist({ trackIds: [anId("trk"), anId("trk")] }),
      aPlaylist({ trackIds: [anId("trk")] }),
    ];
    await add(playlist, other);
    const [first, second] = playlist.trackIds;
    const changed = {
      ...playlist,
      title: "Later",
      visibility: "public",
      trackIds: [second, anId("trk"), first],
    } as Playlist;
    await opened().inTransaction(async (tx) => {
      expect(await opened().library.lockPlaylist(tx, playlist.id)).to.deep.equal(playlist);
      await opened().library.updatePlaylist(tx, { ...changed, accountId: anId("acct"), createdAt: NOON + 9 });
      expect(await opened().library.lockPlaylist(tx, playlist.id)).to.deep.equal(changed);
    });
    expect(await find(playlist.id)).to.deep.equal(changed);
    expect(await find(other.id)).to.deep.equal(other);
    await opened().inTransaction((tx) => opened().library.updatePlaylist(tx, { ...changed, trackIds: [] }));
    expect(await find(playlist.id)).to.deep.equal({ ...changed, trackIds: [] });
  });

  it("counts those of an account, public and private ones, with those of the transaction", async () => {
    const accountId = anId("acct");
    await add(aPlaylist({ accountId }), aPlaylist({ accountId, visibility: "public" }), aPlaylist());
    await opened().inTransaction(async (tx) => {
      await opened().library.insertPlaylists(tx, [aPlaylist({ accountId })]);
      expect(await opened().library.countPlaylists(tx, accountId)).to.equal(3);
      expect(await opened().library.countPlaylists(tx, anId("acct"))).to.equal(0);
    });
  });

  it("locks and writes nothing for an unknown playlist", async () => {
    const gone = aPlaylist({ trackIds: [anId("trk")] });
    await opened().inTransaction(async (tx) => {
      expect(await opened().library.lockPlaylist(tx, gone.id)).to.equal(null);
      await opened().library.updatePlaylist(tx, gone);
    });
    expect(await find(gone.id)).to.equal(undefined);
  });

  it("loses no change to a playlist that several transactions lock at once", async () => {
    const playlist = aPlaylist();
    await add(playlist);
    const append = (): Promise<void> =>
      opened().inTransaction(async (tx) => {
        const found = (await opened().library.lockPlaylist(tx, playlist.id)) as Playlist;
        await nextTurn();
        const title = `${found.trackIds.length + 1} tracks`;
        await opened().library.updatePlaylist(tx, { ...found, title, trackIds: [...found.trackIds, anId("trk")] });
      });
    await Promise.all(Array.from({ length: 10 }, append));
    const found = await find(playlist.id);
    expect([found?.trackIds.length, found?.title]).to.deep.equal([10, "10 tracks"]);
  });

  it("deletes one playlist, once", async () => {
    const [playlist, other] = [aPlaylist({ trackIds: [anId("trk")] }), aPlaylist({ trackIds: [anId("trk")] })];
    await add(playlist, other);
    const remove = (): Promise<boolean> =>
      opened().inTransaction((tx) => opened().library.deletePlaylist(tx, playlist.id));
    expect([await remove(), await remove()]).to.deep.equal([true, false]);
    expect(await find(playlist.id)).to.equal(undefined);
    expect(await find(other.id)).to.deep.equal(other);
    await add(playlist);
    expect(await find(playlist.id)).to.deep.equal(playlist);
  });

  it("lists public playlists and the viewer's own, newest first, then by id", async () => {
    const [viewer, otherAccount] = [anId("acct"), anId("acct")];
    const visible = [
      aPlaylist({ accountId: viewer, createdAt: LATE }),
      aPlaylist({ accountId: otherAccount, visibility: "public", createdAt: LATE + 2, trackIds: [anId("trk")] }),
      aPlaylist({ accountId: null, visibility: "public", createdAt: LATE }),
      aPlaylist({ accountId: viewer, visibility: "public", createdAt: LATE + 1 }),
      aPlaylist({ accountId: viewer, createdAt: LATE }),
    ];
    await add(...visible, aPlaylist({ accountId: otherAccount, createdAt: LATE + 3 }));
    const [low, newest, middle, second, high] = visible as [Playlist, Playlist, Playlist, Playlist, Playlist];
    expect(await list(viewer, 5)).to.deep.equal([newest, second, high, middle, low]);
    expect(await list(viewer, 2)).to.deep.equal([newest, second]);
    expect(await list(anId("acct"), 3)).to.deep.equal([newest, second, middle]);
    expect(await list(null, 3)).to.deep.equal([newest, second, middle]);
    expect((await list(null, 1_000)).every(({ visibility }) => visibility === "public")).to.equal(true);
  });

  it("limits a list by the total number of tracks, but includes at least one playlist", async () => {
    const accountId = anId("acct");
    const holding = (count: number, createdAt: number): Playlist =>
      aPlaylist({ accountId, createdAt, trackIds: Array.from({ length: count }, () => anId("trk")) });
    const [oldest, empty, middle, newest] = [
      holding(1, 2 * LATE),
      holding(0, 2 * LATE + 1),
      holding(3, 2 * LATE + 2),
      holding(2, 2 * LATE + 3),
    ];
    await add(oldest, empty, middle, newest);
    expect(await list(accountId, 3, 6)).to.deep.equal([newest, middle, empty]);
    expect(await list(accountId, 4, 6)).to.deep.equal([newest, middle, empty, oldest]);
    expect(await list(accountId, 4, 5)).to.deep.equal([newest, middle, empty]);
    expect(await list(accountId, 4, 4)).to.deep.equal([newest]);
    expect(await list(accountId, 4, 1)).to.deep.equal([newest]);
  });

  it("goes on behind a playlist whatever comes in between: none twice, none left out", async () => {
    const accountId = anId("acct");
    const holding = (count: number, createdAt: number): Playlist =>
      aPlaylist({ accountId, createdAt, trackIds: Array.from({ length: count }, () => anId("trk")) });
    const [tied, later] = [4 * LATE, 4 * LATE + 5];
    const own = [holding(1, tied), holding(0, tied), holding(3, tied), holding(1, later)];
    const shared = aPlaylist({ accountId, visibility: "public", createdAt: tied, trackIds: [] });
    await add(...own, shared);
    const ids: PlaylistId[] = [];
    let after: ListPosition<PlaylistId> | null = null;
    while (ids.length < 5) {
      // Each of these ends early, by its tracks or by its playlists.
      const limits = { playlists: 2, tracks: 3 };
      const page: ListPage<Playlist, ListPosition<PlaylistId>> = await opened().library.listPlaylists(
        accountId,
        limits,
        after,
      );
      ids.push(...page.items.map(({ id }) => id));
      after = page.next;
      await add(holding(1, later + ids.length));
    }
    const ofOneMoment = [...own.slice(0, 3), shared].map(({ id }) => id).sort();
    expect(ids.slice(0, 5)).to.deep.equal([own[3]?.id, ...ofOneMoment.reverse()]);
  });

  it("says whether anything follows a page", async () => {
    const accountId = anId("acct");
    const [one, two] = [aPlaylist({ accountId, createdAt: 1 }), aPlaylist({ accountId, createdAt: 2 })];
    await add(one, two);
    const behind = { createdAt: 3, id: anId("pls") };
    const pageOf = (playlists: number) => opened().library.listPlaylists(accountId, { playlists, tracks: 100 }, behind);
    const first = await pageOf(1);
    expect(first.items).to.deep.equal([two]);
    expect(first.next).to.include({ createdAt: 2, id: two.id });
    expect(await pageOf(2)).to.deep.equal({ items: [two, one], next: null });
  });
}
