import { expect } from "chai";
import { dataOf, errorOf, issuePaths, refusalOf } from "../../support/api-client.js";
import { LibraryFixture, UNHEARD } from "../../support/library-fixture.js";
import type { TestAccount, TestApp } from "../../support/test-app.js";
import { type AdminClient, startAdminApp } from "./admin-client.js";

interface Playlist {
  readonly id: string;
  readonly title: string;
  readonly account: string | null;
  readonly visibility: string;
  readonly track_count: number;
  readonly tracks: readonly { readonly id: string }[];
}

describe("Playlists at the admin API", () => {
  let test: TestApp;
  let owner: AdminClient;
  let library: LibraryFixture;
  let radio: TestAccount;
  let ids: Readonly<Record<string, string>>;
  before(async () => {
    ({ test, owner } = await startAdminApp(UNHEARD));
    library = await LibraryFixture.open(test.app);
  });
  after(async () => {
    await library.close();
    await test.close();
  });
  beforeEach(async () => {
    radio = await test.account();
    ids = await library.add(radio.account.id, { rain: {}, sun: {}, open: { visibility: "public" } });
  });

  const idOf = (name: string): string => ids[name] ?? "";
  const create = async (body: object, path = `/accounts/${radio.account.id}/playlists`): Promise<Playlist> =>
    dataOf<Playlist>(await owner.send("POST", path, body, "spring"));
  const held = async (id: string): Promise<string[]> =>
    dataOf<Playlist>(await owner.get(`/playlists/${id}`)).tracks.map((track) => track.id);
  const audited = async (): Promise<Record<string, unknown> | undefined> =>
    dataOf<{ records: readonly Record<string, unknown>[] }>(await owner.get("/audit?limit=1")).records[0];

  it("creates one of an account, private unless it says otherwise, as the account then sees it", async () => {
    const created = await create({ title: "Mornings", tracks: [idOf("sun"), idOf("rain")] });
    expect(created).to.include({ title: "Mornings", account: radio.account.id, visibility: "private", track_count: 2 });
    expect(created.tracks.map(({ id }) => id)).to.deep.equal([idOf("sun"), idOf("rain")]);
    expect(dataOf(await radio.api.get(`/api/v1/playlists/${created.id}`))).to.include({ track_count: 2 });
    expect(await audited()).to.deep.include({
      action: "playlists.create",
      account: radio.account.id,
      targets: [created.id],
      fields: { visibility: "private", tracks: 2, why: "spring" },
    });
    expect(await create({ title: "Open", visibility: "public" })).to.include({ visibility: "public", track_count: 0 });
    const path = `/accounts/${radio.account.id}/playlists`;
    expect(errorOf(await owner.send("POST", path, { title: " " })).message).to.include("must not be blank");
    const strange = await owner.send("POST", path, { title: "x", tracks: ["trk_x"] });
    expect(refusalOf(strange)).to.equal("400 invalid_request");
    expect(refusalOf(await owner.send("POST", "/accounts/acct_x/playlists", { title: "x" }))).to.equal("404 not_found");
  });

  it("creates a public one without an account, of public tracks alone", async () => {
    const created = await create({ title: "House favourites", tracks: [idOf("open")] }, "/playlists");
    expect(created).to.include({ account: null, visibility: "public", track_count: 1 });
    const refused = await owner.send("POST", "/playlists", { title: "x", tracks: [idOf("rain")] });
    expect(errorOf(refused).message).to.equal(`There is no public track ${idOf("rain")}.`);
    const stranger = await test.account();
    expect(dataOf(await stranger.api.get(`/api/v1/playlists/${created.id}`))).to.include({ track_count: 1 });
    expect(refusalOf(await owner.send("PATCH", `/playlists/${created.id}`, { visibility: "private" }))).to.equal(
      "400 invalid_request",
    );
  });

  it("lists what an account sees, and what everyone sees", async () => {
    const own = await create({ title: "Own", tracks: [idOf("rain")] });
    const open = await create({ title: "Open", visibility: "public", tracks: [idOf("rain"), idOf("open")] });
    const house = await create({ title: "House" }, "/playlists");
    const list = async (path: string): Promise<(readonly [string, number])[]> =>
      dataOf<{ playlists: readonly Playlist[] }>(await owner.get(path)).playlists.map(
        ({ id, track_count: count }) => [id, count] as const,
      );
    expect(await list(`/accounts/${radio.account.id}/playlists`)).to.deep.include.ordered.members([
      [house.id, 0],
      [open.id, 2],
      [own.id, 1],
    ]);
    const all = await list("/playlists");
    expect(all.slice(0, 2)).to.deep.equal([
      [house.id, 0],
      [open.id, 1],
    ]);
    expect(all.map(([id]) => id)).not.to.include(own.id);
    expect(refusalOf(await owner.get("/accounts/acct_x/playlists"))).to.equal("404 not_found");
  });

  it("changes what is named, and leaves the rest", async () => {
    const { id } = await create({ title: "Mornings", tracks: [idOf("rain")] });
    const change = (body: object): ReturnType<AdminClient["send"]> =>
      owner.send("PATCH", `/playlists/${id}`, body, "autumn");
    expect(dataOf<Playlist>(await change({ title: "Evenings", visibility: "public" }))).to.include({
      title: "Evenings",
      visibility: "public",
      track_count: 1,
    });
    await change({ add: [idOf("sun"), idOf("open")], remove: [idOf("rain")] });
    expect(await held(id)).to.deep.equal([idOf("sun"), idOf("open")]);
    await change({ move: { track: idOf("open"), to: 0 } });
    expect(await held(id)).to.deep.equal([idOf("open"), idOf("sun")]);
    expect(await audited()).to.deep.include({
      action: "playlists.edit",
      fields: { title_changed: false, visibility: "public", tracks: 2, why: "autumn" },
    });
    await change({ tracks: [idOf("rain")] });
    expect(await held(id)).to.deep.equal([idOf("rain")]);
    expect(issuePaths(await change({}))).to.deep.equal(["body"]);
    expect(refusalOf(await change({ tracks: [], add: [idOf("sun")] }))).to.equal("400 invalid_request");
    expect(refusalOf(await owner.send("PATCH", "/playlists/pls_x", { title: "x" }))).to.equal("404 playlist_not_found");
    expect(await held(id)).to.deep.equal([idOf("rain")]);
  });

  it("deletes one, and leaves its tracks", async () => {
    const { id } = await create({ title: "Mornings", tracks: [idOf("rain")] });
    expect(dataOf(await owner.delete(`/playlists/${id}`, "winter"))).to.deep.equal({ id, deleted: true });
    expect(refusalOf(await owner.get(`/playlists/${id}`))).to.equal("404 playlist_not_found");
    expect((await owner.get(`/tracks/${idOf("rain")}`)).status).to.equal(200);
    expect(await audited()).to.deep.include({
      action: "playlists.delete",
      fields: { tracks: 1, why: "winter" },
    });
    expect(refusalOf(await owner.delete(`/playlists/${id}`))).to.equal("404 playlist_not_found");
  });
});
