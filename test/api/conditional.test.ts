import { expect } from "chai";
import type { OpenApiDocument } from "../../adapters/http/openapi/model.js";
import { type ApiResponse, dataOf, refusalOf } from "../support/api-client.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { LibraryFixture, UNHEARD } from "../support/library-fixture.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

const MODELS = "/api/v1/models";
const PLAYLISTS = "/api/v1/playlists";
const HOUR_MS = 3_600_000;

describe("ETag and If-None-Match", () => {
  let test: TestApp;
  let library: LibraryFixture;
  let caller: TestAccount;
  let ids: Readonly<Record<string, string>>;
  const clock = new ManualClock();
  before(async () => {
    test = await startTestApp({ ...UNHEARD, clock });
    library = await LibraryFixture.open(test.app);
    caller = await test.account();
    ids = await library.add(caller.account.id, { rain: {} }, { list: { tracks: ["rain"] } });
  });
  after(async () => {
    await library.close();
    await test.close();
  });

  const tagOf = ({ headers }: ApiResponse): string => headers.get("etag") ?? "";
  const again = (path: string, tag: string, { api } = caller): Promise<ApiResponse> =>
    api.get(path, { "If-None-Match": tag });
  const paths = (): Readonly<Record<string, string>> => ({
    [MODELS]: MODELS,
    [`${MODELS}/{model_id}`]: `${MODELS}/scripted%2Fsong`,
    "/api/v1/library/search": "/api/v1/library/search?q=rain",
    "/api/v1/tracks/{id}": `/api/v1/tracks/${ids["rain"]}`,
    "/api/v1/tracks/{id}/details": `/api/v1/tracks/${ids["rain"]}/details`,
    [PLAYLISTS]: PLAYLISTS,
    [`${PLAYLISTS}/{id}`]: `${PLAYLISTS}/${ids["list"]}`,
  });

  it("are described for the reads that have them", async () => {
    const document = (await test.anonymous.get("/openapi.json")).json as OpenApiDocument;
    const described = Object.entries(document.paths).flatMap(([path, { get }]) =>
      get?.parameters.some(({ name }) => name === "If-None-Match") === true ? [[path, get] as const] : [],
    );
    expect(described.map(([path]) => path)).to.have.members(Object.keys(paths()));
    for (const [path, { responses }] of described) {
      expect(responses["200"]?.headers, path).to.have.property("ETag");
      expect(responses["304"]?.headers, path).to.have.all.keys("X-Request-Id", "RateLimit", "RateLimit-Policy", "ETag");
      expect(responses["304"], path).to.not.have.property("content");
    }
  });

  it("save the body of each of them while it is the same, for GET and HEAD", async () => {
    for (const path of Object.values(paths())) {
      const first = await caller.api.get(path);
      expect([first.status, tagOf(first)], path).to.deep.equal([200, tagOf(first)]);
      expect(tagOf(first), path).to.match(/^"[\w-]{24}"$/);
      for (const method of ["GET", "HEAD"]) {
        const { status, text, headers } = await caller.api.send(method, path, {
          headers: { "If-None-Match": tagOf(first) },
        });
        expect([status, text, headers.get("etag")], path).to.deep.equal([304, "", tagOf(first)]);
        expect([headers.get("content-type"), headers.get("cache-control")], path).to.deep.equal([null, "no-store"]);
      }
    }
  });

  it("are compared weakly, in lists and with *", async () => {
    const tag = tagOf(await caller.api.get(MODELS));
    for (const known of [`W/${tag}`, `"other", ${tag}`, `W/"x",W/${tag} , "y"`, "*", " * "])
      expect((await again(MODELS, known)).status, known).to.equal(304);
    for (const other of ['"other"', tag.slice(1, -1), "", `"${tag}"`, `w/${tag}`]) {
      const response = await again(MODELS, other);
      expect([response.status, tagOf(response)], other).to.deep.equal([200, tag]);
      expect(dataOf(response), other).to.have.property("models");
    }
  });

  it("change with what is shown, and differ between accounts that see different things", async () => {
    const { api, account } = await test.account();
    const { one, list } = await library.add(account.id, { one: {} }, { list: {} });
    const path = `/api/v1/tracks/${one}`;
    const [track, playlists, search] = [
      await api.get(path),
      await api.get(PLAYLISTS),
      await api.get(paths()["/api/v1/library/search"] ?? ""),
    ];
    expect(tagOf(search)).to.not.equal(tagOf(await caller.api.get(paths()["/api/v1/library/search"] ?? "")));
    await test.app.library.manage.share(one ?? "");
    const shared = await again(path, tagOf(track), { ...caller, api });
    expect([shared.status, dataOf(shared)["share_url"] === null]).to.deep.equal([200, false]);
    await library.add(account.id, {}, { other: {} });
    expect((await again(PLAYLISTS, tagOf(playlists), { ...caller, api })).status).to.equal(200);
    expect(
      (await again(`${PLAYLISTS}/${list}`, tagOf(await api.get(`${PLAYLISTS}/${list}`)), { ...caller, api })).status,
    ).to.equal(304);
  });

  it("hold no longer than the links in the response have the whole of their time", async () => {
    const path = `/api/v1/tracks/${ids["rain"]}`;
    const first = await caller.api.get(path);
    const { searchParams } = new URL(String(dataOf(first)["play_url"]));
    const endsAt = Number(searchParams.get("expires")) * 1_000;
    const heldUntil = endsAt - 24 * HOUR_MS;
    expect(heldUntil - clock.now()).to.be.within(0, HOUR_MS);
    await clock.advance(heldUntil - clock.now());
    expect((await again(path, tagOf(first))).status).to.equal(304);
    await clock.advance(1);
    const later = await again(path, tagOf(first));
    expect([later.status, tagOf(later) === tagOf(first)]).to.deep.equal([200, false]);
    expect((await fetch(String(dataOf(first)["play_url"]))).status).to.equal(200);
  });

  it("change nothing of a refusal", async () => {
    for (const [path, expected] of [
      [`${MODELS}/nothing`, "404 model_not_found"],
      ["/api/v1/tracks/trk_x", "404 track_not_found"],
      ["/api/v1/library/search?limit=0", "400 invalid_request"],
    ] as const) {
      const response = await again(path, "*");
      expect([refusalOf(response), response.headers.get("etag")], path).to.deep.equal([expected, null]);
    }
    expect(refusalOf(await test.anonymous.get(MODELS, { "If-None-Match": "*" }))).to.equal(
      "401 authentication_required",
    );
    const scoped = await test.account({ scopes: ["library:read"] });
    expect(refusalOf(await again(MODELS, "*", scoped))).to.equal("403 insufficient_scope");
  });

  it("leave a request counted and logged", async () => {
    const limited = await startTestApp({ settings: { rateLimits: { read: { perMinute: 3, perDay: 100 } } } });
    try {
      const account = await limited.account();
      const left = ({ headers }: ApiResponse): string => /r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1] ?? "";
      const responses = [await again(MODELS, "*", account), await again(MODELS, "*", account)];
      expect(responses.map((each) => [each.status, left(each)])).to.deep.equal([
        [304, "2"],
        [304, "1"],
      ]);
      const { logs } = dataOf<{ logs: Record<string, unknown>[] }>(await account.api.get("/api/v1/logs"));
      expect(logs.map((log) => [log["path"], log["status_code"], log["response_bytes"]])).to.deep.equal([
        [MODELS, 304, 0],
        [MODELS, 304, 0],
      ]);
      expect(refusalOf(await again(MODELS, "*", account))).to.equal("429 rate_limited");
    } finally {
      await limited.close();
    }
  });
});
