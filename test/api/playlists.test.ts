import { expect } from "chai";
import { type ApiClient, dataOf, errorOf, refusalOf } from "../support/api-client.js";
import { LibraryFixture, UNHEARD, unsigned } from "../support/library-fixture.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

const PATH = "/api/v1/playlists";

interface Playlist {
  readonly id: string;
  readonly title: string;
  readonly track_count: number;
  readonly tracks: readonly { readonly id: string; readonly title: string; readonly play_url: string | null }[];
}

const listed = async (api: ApiClient): Promise<readonly Playlist[]> =>
  dataOf<{ playlists: readonly Playlist[] }>(await api.get(PATH)).playlists;
const shown = async (api: ApiClient, id: string | undefined): Promise<Playlist> =>
  dataOf<Playlist>(await api.get(`${PATH}/${id}`));
const titlesOf = ({ tracks }: Playlist): string[] => tracks.map(({ title }) => title);

describe("GET /api/v1/playlists", () => {
  let test: TestApp;
  let library: LibraryFixture;
  beforeEach(async () => {
    test = await startTestApp(UNHEARD);
    library = await LibraryFixture.open(test.app);
  });
  afterEach(async () => {
    await library.close();
    await test.close();
  });

  it("lists own and public playlists, newest first, each as GET /playlists/{id} returns it", async () => {
    const [alice, bob] = [await test.account(), await test.account()];
    await library.add(
      alice.account.id,
      { rain: {} },
      { first: { tracks: ["rain"] }, open: { visibility: "public", tracks: ["rain"] } },
    );
    await library.add(bob.account.id, {}, { "of bob": {} });
    await library.add(null, { alone: {} }, { "without owner": { tracks: ["alone"] } });
    await library.add(alice.account.id, {}, { last: {} });
    const list = await listed(alice.api);
    expect(list.map(({ title }) => title)).to.deep.equal(["last", "without owner", "open", "first"]);
    expect((await listed(bob.api)).map(({ title }) => title)).to.deep.equal(["without owner", "of bob", "open"]);
    for (const playlist of list) {
      const alone = await shown(alice.api, playlist.id);
      expect({ ...playlist, tracks: playlist.tracks.map(unsigned) }).to.deep.equal({
        ...alone,
        tracks: alone.tracks.map(unsigned),
      });
    }
  });

  it("is empty when there are no visible playlists", async () => {
    const [alice, bob] = [await test.account(), await test.account()];
    await library.add(alice.account.id, {}, { hidden: {} });
    expect((await bob.api.get(PATH)).json).to.deep.equal({ data: { playlists: [], next_cursor: null } });
  });

  it("ignores unknown query parameters", async () => {
    const { account, api } = await test.account();
    await library.add(account.id, {}, { one: {}, two: {} });
    expect(dataOf<{ playlists: unknown[] }>(await api.get(`${PATH}?after=0&q=x`)).playlists).to.have.length(2);
  });

  it("returns at most 200 playlists", async () => {
    const { account, api } = await test.account();
    await library.add(
      account.id,
      {},
      Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`list ${index}`, {}])),
    );
    const list = await listed(api);
    expect([list.length, list[0]?.title, list[199]?.title]).to.deep.equal([200, "list 200", "list 1"]);
  });

  it("returns playlists with at most 10,000 tracks in total", async () => {
    const { account, api } = await test.account();
    const tracks = Array.from({ length: 500 }, (_, index) => `track ${index}`);
    const lists = Array.from({ length: 21 }, (_, index) => [`list ${index}`, { tracks }] as const);
    await library.add(
      account.id,
      Object.fromEntries(tracks.map((track) => [track, { hasAudio: false }])),
      Object.fromEntries(lists),
    );
    const list = await listed(api);
    expect([list.length, list[0]?.title, list[19]?.title]).to.deep.equal([20, "list 20", "list 1"]);
    expect(list.map(({ track_count }) => track_count)).to.deep.equal(list.map(() => 500));
  });
});

describe("Playlists", () => {
  let test: TestApp;
  let library: LibraryFixture;
  before(async () => {
    test = await startTestApp(UNHEARD);
    library = await LibraryFixture.open(test.app);
  });
  after(async () => {
    await library.close();
    await test.close();
  });

  describe("GET /api/v1/playlists/{id}", () => {
    it("returns exactly a playlist's fields, its tracks in order and as GET /tracks/{id} returns them", async () => {
      const { account, api } = await test.account();
      const playlists = { list: { title: "Rainy", tracks: ["two", "three", "one"] } };
      const { list, one } = await library.add(account.id, { one: {}, two: {}, three: {} }, playlists);
      const playlist = await shown(api, list);
      expect(Object.keys(playlist)).to.deep.equal(["id", "title", "track_count", "tracks"]);
      expect(playlist).to.include({ id: list, title: "Rainy", track_count: 3 });
      expect(titlesOf(playlist)).to.deep.equal(["two", "three", "one"]);
      expect(unsigned(playlist.tracks[2] ?? {})).to.deep.equal(
        unsigned(dataOf(await api.get(`/api/v1/tracks/${one}`))),
      );
    });

    it("returns an empty playlist", async () => {
      const { account, api } = await test.account();
      const { list } = await library.add(account.id, {}, { list: {} });
      expect(await shown(api, list)).to.deep.equal({ id: list, title: "list", track_count: 0, tracks: [] });
    });

    it("omits tracks that the caller may not play, and counts only the returned ones", async () => {
      const [alice, bob] = [await test.account(), await test.account()];
      const tracks = {
        hidden: {},
        open: { visibility: "public" },
        silent: { visibility: "public", hasAudio: false },
      } as const;
      const { list } = await library.add(alice.account.id, tracks, {
        list: { visibility: "public", tracks: ["silent", "hidden", "open"] },
      });
      expect(titlesOf(await shown(alice.api, list))).to.deep.equal(["silent", "hidden", "open"]);
      for (const seen of [await shown(bob.api, list), (await listed(bob.api)).find(({ id }) => id === list)]) {
        expect(seen).to.include({ id: list, track_count: 2 });
        expect(seen?.tracks.map(({ title, play_url }) => [title, play_url !== null])).to.deep.equal([
          ["silent", false],
          ["open", true],
        ]);
      }
      const response = await bob.api.get(`${PATH}/${list}`);
      expect(response.text).not.to.include("hidden");
    });

    it("returns the same 404 for unknown playlists and for those of other accounts", async () => {
      const [alice, bob] = [await test.account(), await test.account()];
      const { hidden = "" } = await library.add(alice.account.id, {}, { hidden: {} });
      expect((await alice.api.get(`${PATH}/${hidden}`)).status).to.equal(200);
      const unknown = "pls_01m7ysy25j6pcsftb5nnfsysak";
      const { message } = errorOf(await bob.api.get(`${PATH}/${unknown}`));
      for (const id of [
        hidden,
        unknown,
        "pls_",
        hidden.toUpperCase(),
        `${hidden}%20`,
        "%00",
        "🎵",
        "trk_01m7ysy25j6pcsftb5nnfsysak",
      ]) {
        const response = await bob.api.get(`${PATH}/${id}`);
        expect(refusalOf(response), id).to.equal("404 playlist_not_found");
        expect(errorOf(response).message, id).to.equal(message);
      }
    });

    it("returns an edited playlist at once, and 404 after its deletion", async () => {
      const [alice, bob] = [await test.account(), await test.account()];
      const { manage } = test.app.library;
      const tracks = { one: {}, two: { visibility: "public" } } as const;
      const {
        list = "",
        one = "",
        two = "",
      } = await library.add(alice.account.id, tracks, { list: { tracks: ["one"] } });
      await manage.editPlaylist(list, { title: "New", visibility: "public", add: [two], move: { track: two, to: 0 } });
      expect(titlesOf(await shown(alice.api, list))).to.deep.equal(["two", "one"]);
      expect(await shown(bob.api, list)).to.include({ title: "New", track_count: 1 });
      await manage.editPlaylist(list, { remove: [two], visibility: "private" });
      expect((await shown(alice.api, list)).tracks.map(({ id }) => id)).to.deep.equal([one]);
      expect(refusalOf(await bob.api.get(`${PATH}/${list}`))).to.equal("404 playlist_not_found");
      await manage.deletePlaylist(list);
      expect(refusalOf(await alice.api.get(`${PATH}/${list}`))).to.equal("404 playlist_not_found");
      expect((await alice.api.get(`/api/v1/tracks/${one}`)).status, "its tracks stay").to.equal(200);
    });
  });

  it("count as reads and are never cached", async () => {
    const { api } = await test.account();
    for (const path of [PATH, `${PATH}/pls_x`]) {
      const { headers } = await api.get(path);
      expect(headers.get("ratelimit")).to.match(/^"read-minute";r=\d+;/);
      expect(headers.get("cache-control")).to.equal("no-store");
    }
  });

  it("require the scope library:read", async () => {
    const [other, reader] = [
      await test.account({ scopes: ["generations:read"] }),
      await test.account({ scopes: ["library:read"] }),
    ];
    for (const path of [PATH, `${PATH}/pls_x`]) {
      expect(refusalOf(await other.api.get(path))).to.equal("403 insufficient_scope");
      expect((await reader.api.get(path)).status).to.be.oneOf([200, 404]);
      expect(refusalOf(await test.anonymous.get(path))).to.equal("401 authentication_required");
    }
  });
});
