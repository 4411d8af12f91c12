import { expect } from "chai";
import type { OpenApiDocument } from "../../adapters/http/openapi/model.js";
import { type ApiClient, dataOf, errorOf, refusalOf } from "../support/api-client.js";
import { StubGuard } from "../support/doubles/stub-guard.js";
import { LibraryFixture, UNHEARD } from "../support/library-fixture.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";
import { resolve } from "./json-schema.js";

type Data = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>> & {
  readonly next_cursor: string | null;
};

interface List {
  readonly path: string;
  /** The most that a page can have. */
  readonly limit: number;
  /** Of a page; 2 by default. */
  readonly size?: number;
  /** The same list with other filters; null: it has none. */
  readonly otherFilters: string | null;
  readonly idsOf: (data: Data) => readonly unknown[];
  /** Adds an item to it, as others do while one reads; null: there is no need. */
  readonly add: ((caller: TestAccount, number: number) => Promise<unknown>) | null;
}

const JSON_BODY = { "Content-Type": "application/json" };
const ITEMS = 3;

describe("Cursors of lists", function () {
  this.timeout(60_000);
  let test: TestApp;
  let library: LibraryFixture;
  let caller: TestAccount;
  before(async () => {
    test = await startTestApp({ ...UNHEARD, addressGuard: new StubGuard() });
    library = await LibraryFixture.open(test.app);
    caller = await test.account({ credits: 10_000 });
    for (const list of Object.values(LISTS)) {
      for (let number = 0; number < ITEMS; number++) await list.add?.(caller, number);
    }
  });
  after(async () => {
    await library.close();
    await test.close();
  });

  const withId = (name: string, id = "id") => {
    return (data: Data): readonly unknown[] => (data[name] ?? []).map((item) => item[id]);
  };
  const addToLibrary = ({ account }: TestAccount, number: number): Promise<unknown> =>
    library.add(account.id, { [`rain ${number}`]: { tags: { mood: ["calm"] } } }, { [`rain list ${number}`]: {} });

  const LISTS: Readonly<Record<string, List>> = {
    generations: {
      path: "/api/v1/generations?",
      limit: 50,
      otherFilters: null,
      idsOf: withId("generations"),
      add: async ({ api }) => dataOf(await api.generate()),
    },
    // These grow with every request that reads them.
    logs: { path: "/api/v1/logs?", limit: 100, size: 8, otherFilters: null, idsOf: withId("logs"), add: null },
    usage: {
      path: "/api/v1/usage?status=202&",
      limit: 100,
      otherFilters: "/api/v1/usage?status=200&",
      idsOf: withId("events", "request_id"),
      add: async ({ api }) => dataOf(await api.generate()),
    },
    models: {
      path: "/api/v1/models?status=available&",
      limit: 100,
      size: 1,
      otherFilters: "/api/v1/models?",
      idsOf: withId("models"),
      add: null,
    },
    "library search": {
      path: "/api/v1/library/search?q=rain&",
      limit: 25,
      otherFilters: "/api/v1/library/search?q=rain&mood=calm&",
      idsOf: (data) => [...withId("tracks")(data), ...withId("playlists")(data)],
      add: addToLibrary,
    },
    playlists: {
      path: "/api/v1/playlists?",
      limit: 200,
      otherFilters: null,
      idsOf: withId("playlists"),
      add: addToLibrary,
    },
    "webhook endpoints": {
      path: "/api/v1/webhook-endpoints?",
      limit: 20,
      otherFilters: "/api/v1/webhook-endpoints?status=all&",
      idsOf: withId("webhook_endpoints"),
      add: async ({ api }, number) => {
        const body = { url: `https://hooks.example.com/${number}` };
        return dataOf(await api.send("POST", "/api/v1/webhook-endpoints", { headers: JSON_BODY, body }));
      },
    },
  };

  const read = async (api: ApiClient, path: string): Promise<Data> => dataOf<Data>(await api.get(path));

  for (const [name, { path, limit, size = 2, idsOf, add }] of Object.entries(LISTS)) {
    it(`${name}: pages have all that was there, in order, while more comes`, async () => {
      const pages: (readonly unknown[])[] = [];
      let cursor: string | null = null;
      do {
        const query: string = cursor === null ? "" : `&cursor=${cursor}`;
        const page: Data = await read(caller.api, `${path}limit=${size}${query}`);
        pages.push(idsOf(page));
        cursor = page.next_cursor;
        await add?.(caller, 10 + pages.length);
      } while (cursor !== null);
      const found = pages.flat();
      const whole = idsOf(await read(caller.api, `${path}limit=${limit}`));
      if (name === "library search") {
        const ofKind = (prefix: string, ids: readonly unknown[]) => ids.filter((id) => String(id).startsWith(prefix));
        for (const prefix of ["trk_", "pls_"]) {
          const [first] = ofKind(prefix, found);
          const all = ofKind(prefix, whole);
          expect(ofKind(prefix, found)).to.deep.equal(all.slice(all.indexOf(first)));
        }
      } else expect(found).to.deep.equal(whole.slice(whole.indexOf(found[0])));
      expect(found.length).to.be.at.least(2);
    });
  }

  it("have null where nothing follows, also for an account that has nothing", async () => {
    const { api } = await test.account();
    for (const { path, limit, idsOf } of Object.values(LISTS)) {
      const whole = await read(api, `${path}limit=${limit}`);
      expect(whole.next_cursor, path).to.equal(null);
      expect((await read(api, path)).next_cursor, path).to.equal(null);
      if (path.includes("webhook")) expect(idsOf(whole)).to.deep.equal([]);
    }
  });

  it("are refused where they are cut, of another list, of another account or for other filters", async () => {
    const stranger = await test.account();
    const cursorOf = async ({ path }: List): Promise<string> =>
      (await read(caller.api, `${path}limit=1`)).next_cursor ?? "";
    const lists = Object.values(LISTS);
    for (const [index, list] of lists.entries()) {
      const own = await cursorOf(list);
      expect((await caller.api.get(`${list.path}cursor=${own}`)).status, list.path).to.equal(200);
      const foreign = await cursorOf(lists[(index + 1) % lists.length] as List);
      const forged = Buffer.from(JSON.stringify(["0".repeat(16), 1, "job_x"])).toString("base64url");
      for (const wrong of ["", "x", own.slice(0, -2), own.slice(1), `${own}A`, foreign, forged, "%00", "bnVsbA"]) {
        const response = await caller.api.get(`${list.path}cursor=${wrong}`);
        expect([wrong, refusalOf(response)]).to.deep.equal([wrong, "400 invalid_request"]);
        expect(errorOf(response).details?.issues).to.deep.equal([
          { path: "query.cursor", message: "must be next_cursor of this list, with the same filters" },
        ]);
      }
      if (list.otherFilters !== null)
        expect(refusalOf(await caller.api.get(`${list.otherFilters}cursor=${own}`))).to.equal("400 invalid_request");
      // What is the same for all accounts has the same cursors.
      const isShared = list.path.includes("/models");
      const response = await stranger.api.get(`${list.path}cursor=${own}`);
      expect(response.status, list.path).to.equal(isShared ? 200 : 400);
    }
  });

  it("take a limit within bounds alone", async () => {
    for (const { path, limit } of Object.values(LISTS)) {
      for (const wrong of ["0", String(limit + 1), "1.5", "x"]) {
        const response = await caller.api.get(`${path}limit=${wrong}`);
        expect(refusalOf(response), `${path}${wrong}`).to.equal("400 invalid_request");
        expect(errorOf(response).details?.issues?.map((issue) => issue.path)).to.deep.equal(["query.limit"]);
      }
    }
  });

  it("are described for every list of /openapi.json, next to limit", async () => {
    const { paths, components } = (await test.anonymous.get("/openapi.json")).json as OpenApiDocument;
    const lists = Object.values(paths)
      .flatMap(({ get }) => get ?? [])
      .filter(({ operationId }) => /^(list|search)[A-Z]|^getUsage$/.test(operationId));
    expect(lists.map(({ operationId }) => operationId)).to.have.members([
      ...["listGenerations", "listLogs", "getUsage", "listModels", "searchLibrary", "listPlaylists"],
      ...["listWebhookEndpoints", "listEvents"],
    ]);
    for (const { operationId, parameters, responses } of lists) {
      const names = parameters.map(({ name }) => name);
      // Events go from the oldest on, behind one of them.
      expect(names, operationId).to.include.members(["limit", operationId === "listEvents" ? "after" : "cursor"]);
      const data = responses["200"]?.content?.["application/json"]?.schema.properties?.["data"] ?? {};
      const { properties, required } = data.$ref === undefined ? data : resolve(data.$ref, components.schemas);
      expect(properties?.["next_cursor"], operationId).to.deep.include({ type: ["string", "null"] });
      expect(required, operationId).to.include("next_cursor");
    }
  });

  it("usage has the summary of everything on each page", async () => {
    const first = dataOf<{ summary: object; next_cursor: string }>(await caller.api.get("/api/v1/usage?limit=1"));
    const { summary } = dataOf<{ summary: object }>(await caller.api.get("/api/v1/usage?status=202"));
    const second = dataOf<{ summary: object; events: readonly object[] }>(
      await caller.api.get(`/api/v1/usage?limit=1&cursor=${first.next_cursor}`),
    );
    expect(second.events).to.have.length(1);
    for (const { summary: shown } of [first, second]) {
      expect(shown).to.have.property("credits_used", (summary as { credits_used: number }).credits_used);
    }
  });
});
