import { expect } from "chai";
import type { OpenApiDocument } from "../../adapters/http/openapi/model.js";
import { dataOf, errorOf, issuePaths } from "../support/api-client.js";
import { LibraryFixture, UNHEARD } from "../support/library-fixture.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";
import { anOwner, idFor, type Owner, PRIVATE_WORD } from "./belongings.js";
import { type DescribedOperation, operationsOf, sendTo } from "./operations.js";

/** API1:2023, https://owasp.org/API-Security/editions/2023/en/0xa1-broken-object-level-authorization/ */
describe("What belongs to another account (OWASP API1)", () => {
  let test: TestApp;
  let library: LibraryFixture;
  let owner: Owner;
  let stranger: TestAccount;
  let operations: DescribedOperation[];
  before(async () => {
    test = await startTestApp({ ...UNHEARD, work: true });
    library = await LibraryFixture.open(test.app);
    owner = await anOwner(test, library);
    stranger = await test.account();
    operations = operationsOf((await test.anonymous.get("/openapi.json")).json as OpenApiDocument);
  });
  after(async () => {
    await library.close();
    await test.close();
  });

  it("is asked for by every operation with an id in its path but that of a model", () => {
    const others = operations.filter((one) => one.parameter !== null && idFor(owner, one) === null);
    expect(others.map(({ name }) => name)).to.deep.equal(["GET /api/v1/models/{model_id}"]);
  });

  it("cannot be distinguished from what does not exist, and stays as it is, whatever the operation", async () => {
    const before = await owner.look();
    const asked = operations.flatMap((operation) => {
      const id = idFor(owner, operation);
      return id === null ? [] : [{ operation, id }];
    });
    expect(asked.length).to.be.greaterThan(14);
    for (const { operation, id } of asked) {
      const foreign = await sendTo(stranger.api, operation, { id });
      // Of the same form, and of no one.
      const unknown = await sendTo(stranger.api, operation, { id: `${id.slice(0, -4)}0000` });
      expect(foreign.status, operation.name).to.equal(404);
      const shown = [foreign, unknown].map((response) => ({ ...errorOf(response), request_id: "" }));
      expect(shown[0], operation.name).to.deep.equal(shown[1]);
      expect(foreign.text, operation.name).not.to.include(PRIVATE_WORD);
    }
    expect(await owner.look()).to.equal(before);
  });

  it("is in no list, no search and no log of others", async () => {
    const lists = operations.filter(({ method, parameter }) => method === "GET" && parameter === null);
    const { api } = await test.account();
    for (const operation of lists) {
      const { status, text } = await sendTo(api, operation);
      expect(status, operation.name).to.equal(200);
      for (const secret of [PRIVATE_WORD, owner.job, owner.track, owner.playlist, owner.endpoint, owner.account.id])
        expect(text, operation.name).not.to.include(secret);
    }
    const found = await api.get(`/api/v1/library/search?q=${PRIVATE_WORD}`);
    expect(dataOf(found)).to.deep.include({ tracks: [], playlists: [] });
  });

  it("cannot be put into a list of one's own", async () => {
    const headers = { "Content-Type": "application/json" };
    const body = { title: "mine", tracks: [owner.track] };
    const listed = await stranger.api.send("POST", "/api/v1/playlists", { headers, body });
    expect([listed.status, issuePaths(listed)]).to.deep.equal([400, ["body.tracks[0]"]]);
    expect(listed.text).not.to.include(PRIVATE_WORD);
    expect((await stranger.api.get("/api/v1/playlists")).text).not.to.include("mine");
  });

  it("is not reached by the cursor of its owner", async () => {
    await library.add(owner.account.id, { second: { prompt: PRIVATE_WORD } });
    const page = await owner.api.get("/api/v1/library/search?limit=1");
    const cursor = /"next_cursor":"([^"]+)"/.exec(page.text)?.[1] ?? "";
    expect(cursor).not.to.equal("");
    const next = await stranger.api.get(`/api/v1/library/search?limit=1&cursor=${encodeURIComponent(cursor)}`);
    expect(next.text).not.to.include(PRIVATE_WORD).and.not.include(owner.track);
  });
});
