import { expect } from "chai";
import { type ApiClient, type ApiResponse, dataOf, errorOf, issuePaths, refusalOf } from "../support/api-client.js";
import { LibraryFixture, UNHEARD, unsigned } from "../support/library-fixture.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

const PATH = "/api/v1/playlists";

interface Playlist {
  readonly id: string;
  readonly title: string;
  readonly track_count: number;
  readonly tracks: readonly Readonly<Record<string, unknown>>[];
}

describe("Playlists that an account keeps itself", () => {
  let test: TestApp;
  let library: LibraryFixture;
  let caller: TestAccount;
  let ids: Readonly<Record<string, string>>;
  before(async () => {
    test = await startTestApp(UNHEARD);
    library = await LibraryFixture.open(test.app);
  });
  after(async () => {
    await library.close();
    await test.close();
  });
  beforeEach(async () => {
    caller = await test.account();
    ids = await library.add(caller.account.id, { rain: {}, sun: {}, open: { visibility: "public" } });
  });

  const idOf = (name: string): string => ids[name] ?? "";
  const send = (method: string, path: string, body?: unknown, api: ApiClient = caller.api): Promise<ApiResponse> =>
    api.send(method, `${PATH}${path}`, {
      ...(body === undefined ? {} : { headers: { "Content-Type": "application/json" }, body }),
    });
  const create = async (body: object): Promise<Playlist> => dataOf<Playlist>(await send("POST", "", body));
  const heldIds = ({ tracks }: Playlist): unknown[] => tracks.map(({ id }) => id);
  const titles = async ({ api }: TestAccount): Promise<string[]> =>
    dataOf<{ playlists: Playlist[] }>(await api.get(PATH)).playlists.map(({ title }) => title);

  it("are created private, with tracks in order, and come back as GET shows them", async () => {
    const response = await send("POST", "", { title: "Evenings", tracks: [idOf("sun"), idOf("open"), idOf("rain")] });
    expect(response.status).to.equal(201);
    expect(response.headers.get("ratelimit")).to.match(/^"write-minute"/);
    const made = dataOf<Playlist>(response);
    expect(Object.keys(made)).to.deep.equal(["id", "title", "track_count", "tracks"]);
    expect(made).to.include({ title: "Evenings", track_count: 3 });
    expect(heldIds(made)).to.deep.equal([idOf("sun"), idOf("open"), idOf("rain")]);
    const shown = dataOf<Playlist>(await caller.api.get(`${PATH}/${made.id}`));
    expect({ ...shown, tracks: shown.tracks.map(unsigned) }).to.deep.equal({
      ...made,
      tracks: made.tracks.map(unsigned),
    });
    const other = await test.account();
    expect(await titles(other)).to.not.include("Evenings");
  });

  it("are changed as a whole or in part, and deleted; their tracks stay", async () => {
    const { id } = await create({ title: "Evenings", tracks: [idOf("rain")] });
    const change = async (body: object): Promise<Playlist> => dataOf<Playlist>(await send("PATCH", `/${id}`, body));
    expect(await change({ title: "Mornings" })).to.include({ id, title: "Mornings", track_count: 1 });
    const added = await change({ add: [idOf("sun"), idOf("open")], move: { track: idOf("open"), to: 0 } });
    expect(heldIds(added)).to.deep.equal([idOf("open"), idOf("rain"), idOf("sun")]);
    expect(heldIds(await change({ remove: [idOf("rain")] }))).to.deep.equal([idOf("open"), idOf("sun")]);
    expect(heldIds(await change({ tracks: [idOf("rain")] }))).to.deep.equal([idOf("rain")]);

    // An operator makes it public; its owner takes it back.
    const other = await test.account();
    const statusFor = async (): Promise<number> => (await other.api.get(`${PATH}/${id}`)).status;
    await test.app.library.manage.editPlaylist(id, { visibility: "public" });
    expect(await statusFor()).to.equal(200);
    await change({ visibility: "private" });
    expect(await statusFor()).to.equal(404);

    const deleted = await send("DELETE", `/${id}`);
    expect([deleted.status, deleted.text]).to.deep.equal([204, ""]);
    expect(deleted.headers.get("cache-control")).to.equal("no-store");
    expect(refusalOf(await caller.api.get(`${PATH}/${id}`))).to.equal("404 playlist_not_found");
    expect(refusalOf(await send("DELETE", `/${id}`))).to.equal("404 playlist_not_found");
    expect((await caller.api.get(`/api/v1/tracks/${idOf("rain")}`)).status).to.equal(200);
  });

  it("are the owner's alone: those of others and of no one are not found, public or not", async () => {
    const other = await test.account();
    const { hidden, open } = await library.add(other.account.id, {}, { hidden: {}, open: { visibility: "public" } });
    const { house } = await library.add(null, {}, { house: {} });
    for (const id of [hidden, open, house, "pls_unknown", "trk_01m7ysy25j6pcsftb5nnfsysak"]) {
      expect(refusalOf(await send("PATCH", `/${id}`, { title: "Mine" })), id).to.equal("404 playlist_not_found");
      expect(refusalOf(await send("DELETE", `/${id}`)), id).to.equal("404 playlist_not_found");
    }
    expect(await titles(other)).to.include.members(["open", "hidden", "house"]);
  });

  it("need the scope generations:create", async () => {
    const { id } = await create({ title: "Evenings" });
    const reader = await test.account({ scopes: ["library:read", "generations:read"] });
    for (const [method, path, body] of [
      ["POST", "", { title: "x" }],
      ["PATCH", `/${id}`, { title: "x" }],
      ["DELETE", `/${id}`, undefined],
    ] as const)
      expect(refusalOf(await send(method, path, body, reader.api))).to.equal("403 insufficient_scope");
  });

  it("say what of a request is wrong, where, and what is allowed", async () => {
    const { id } = await create({ title: "Evenings", tracks: [idOf("rain")] });
    const foreign = (await library.add((await test.account()).account.id, { foreign: {} }))["foreign"] ?? "";
    const many = Array.from({ length: 501 }, (_, index) => `trk_${index}`);
    for (const [method, body, path, message] of [
      ["POST", {}, "body.title", "is required"],
      ["POST", { title: " " }, "body.title", "must not be blank"],
      ["POST", { title: "x".repeat(201) }, "body.title", "must have 1 to 200 characters; got 201"],
      ["POST", { title: "x", visibility: "public" }, "body.visibility", "is not a known field"],
      ["PATCH", { visibility: "public" }, "body.visibility", "must be one of: private"],
      ["POST", { title: "x", tracks: "trk_1" }, "body.tracks", "must be a list"],
      ["POST", { title: "x", tracks: [idOf("rain"), 7] }, "body.tracks[1]", "must be a string"],
      ["POST", { title: "x", tracks: many }, "body.tracks", "must leave at most 500 tracks; it would be 501"],
      ["POST", { title: "x", add: [] }, "body.add", "is not a known field"],
      [
        ...(["POST", { title: "x", tracks: [idOf("rain"), foreign] }, "body.tracks[1]"] as const),
        "must be the id of a track that the account may play",
      ],
      ["PATCH", {}, "body", "must name what is to change"],
      ["PATCH", { add: ["nonsense"] }, "body.add[0]", "must be the id of a track that the account may play"],
      ["PATCH", { move: { track: idOf("sun"), to: 0 } }, "body.move.track", "must be a track that the playlist holds"],
      ["PATCH", { move: { track: idOf("rain"), to: -1 } }, "body.move.to", "must be a whole number from 0 on; got -1"],
      [
        ...(["PATCH", { tracks: [], add: [idOf("sun")] }, "body.tracks"] as const),
        "must not be there together with add, remove or move",
      ],
    ] as const) {
      const refused = await send(method, method === "POST" ? "" : `/${id}`, body);
      const what = `${method} ${JSON.stringify(body).slice(0, 80)}`;
      expect(refusalOf(refused), what).to.equal("400 invalid_request");
      expect(errorOf(refused).details?.issues, what).to.deep.equal([{ path, message }]);
    }
    expect(await titles(caller)).to.include("Evenings");
    expect(refusalOf(await caller.api.send("POST", PATH, { body: "title=x" }))).to.equal("415 unsupported_media_type");
  });

  it("are at most 1,000 of an account, however many requests come at once", async () => {
    const names = Array.from({ length: 998 }, (_, index) => [`list ${index}`, {}] as const);
    await library.add(caller.account.id, {}, Object.fromEntries(names));
    const responses = await Promise.all(
      Array.from({ length: 6 }, (_, index) => send("POST", "", { title: `${index}` })),
    );
    const refused = responses.filter(({ status }) => status !== 201);
    expect(refused).to.have.length(4);
    for (const response of refused) {
      expect(refusalOf(response)).to.equal("400 invalid_request");
      expect(issuePaths(response)).to.deep.equal(["body.title"]);
      expect(errorOf(response).message).to.include("the 1000 playlists that an account may have; delete one first");
    }
    const made = responses.find(({ status }) => status === 201);
    await send("DELETE", `/${dataOf<Playlist>(made as ApiResponse).id}`);
    expect((await send("POST", "", { title: "again" })).status).to.equal(201);
    const other = await test.account();
    expect((await send("POST", "", { title: "x" }, other.api)).status).to.equal(201);
  });

  it("are no entries of the audit log, which is of operators", async () => {
    const { id } = await create({ title: "Evenings" });
    await send("PATCH", `/${id}`, { title: "x" });
    await send("DELETE", `/${id}`);
    expect(await test.app.audit.list({ accountId: caller.account.id, action: "playlists.create", limit: 5 })).to.be
      .empty;
  });
});
