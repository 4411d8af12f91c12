import { expect } from "chai";
import type { OpenApiDocument } from "../../adapters/http/openapi/model.js";
import { issuePaths, refusalOf } from "../support/api-client.js";
import { LibraryFixture, UNHEARD } from "../support/library-fixture.js";
import { startTestApp, type TestApp } from "../support/test-app.js";
import { anOwner, type Owner } from "./belongings.js";
import { type DescribedOperation, operationsOf, sendTo } from "./operations.js";

/** API4:2023, https://owasp.org/API-Security/editions/2023/en/0xa4-unrestricted-resource-consumption/ */
describe("What a request may cost the server (OWASP API4)", () => {
  let test: TestApp;
  let library: LibraryFixture;
  let owner: Owner;
  let operations: DescribedOperation[];
  before(async () => {
    test = await startTestApp({ ...UNHEARD, work: true, settings: { http: { port: 0, bodyLimitBytes: 100_000 } } });
    library = await LibraryFixture.open(test.app);
    owner = await anOwner(test, library);
    operations = operationsOf((await test.anonymous.get("/openapi.json")).json as OpenApiDocument);
  });
  after(async () => {
    await library.close();
    await test.close();
  });

  it("is bounded in bytes for every operation with a JSON body", async () => {
    const writes = operations.filter(({ body }) => body !== undefined);
    expect(writes.length).to.be.greaterThan(5);
    for (const operation of writes) {
      const response = await sendTo(owner.api, operation, { body: `{"title":"${"x".repeat(100_001)}"}` });
      expect(refusalOf(response), operation.name).to.equal("413 payload_too_large");
    }
  });

  it("is bounded in the texts, lists and depth of a body", async () => {
    const deep = `{"metadata":${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}}`;
    const wide = JSON.stringify({ title: "x", tracks: Array.from({ length: 501 }, () => owner.track) });
    const bodies: readonly (readonly [path: string, body: string])[] = [
      ["/api/v1/generations", deep],
      ["/api/v1/generations", JSON.stringify({ model_id: "scripted/song", prompt: "x".repeat(3_001) })],
      ["/api/v1/generations", JSON.stringify({ model_id: "scripted/song", prompt: "x", lyrics: "x".repeat(10_001) })],
      ["/api/v1/playlists", wide],
      ["/api/v1/playlists", JSON.stringify({ title: "x".repeat(10_000) })],
    ];
    for (const [path, body] of bodies) {
      const headers = { "Content-Type": "application/json", "Idempotency-Key": "wide and deep" };
      const response = await owner.api.send("POST", path, { headers, body });
      expect(response.status, body.slice(0, 60)).to.equal(400);
    }
  });

  it("is bounded in rows for every list", async () => {
    const limited = operations.filter(({ operation }) => operation.parameters.some(({ name }) => name === "limit"));
    expect(limited.length).to.be.greaterThan(7);
    for (const operation of limited) {
      const declared = operation.operation.parameters.find(({ name }) => name === "limit")?.schema;
      expect(declared?.maximum, operation.name).to.be.within(1, 200);
      for (const limit of [(declared?.maximum ?? 0) + 1, 0, -1, 1e9, "1e3", "NaN", "1;2", ""]) {
        const response = await owner.api.get(`${operation.path}?limit=${limit}`);
        expect(issuePaths(response), `${operation.name} ${limit}`).to.deep.equal(["query.limit"]);
      }
    }
  });

  it("is counted for every operation with a key: a used-up limit names when to come back", async () => {
    const once = { perMinute: 1, perDay: 100 };
    const strict = await startTestApp({
      ...UNHEARD,
      settings: { rateLimits: { read: once, write: once, generation: once } },
    });
    try {
      for (const operation of operations) {
        const { api } = await strict.account();
        const used = await sendTo(api, operation);
        expect(used.status, operation.name).not.to.equal(429);
        const refused = await sendTo(api, operation, { headers: { "Idempotency-Key": "another" } });
        expect(refusalOf(refused), operation.name).to.equal("429 rate_limited");
        expect(Number(refused.headers.get("retry-after")), operation.name).to.be.within(1, 60);
      }
    } finally {
      await strict.close();
    }
  });
});
