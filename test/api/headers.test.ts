import { expect } from "chai";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

describe("The headers of every response", () => {
  let test: TestApp;
  let caller: TestAccount;
  before(async () => {
    test = await startTestApp();
    caller = await test.account();
  });
  after(() => test.close());

  const PATHS = [
    "/api/v1/me",
    "/api/v1/nothing",
    "/api/v1/models/%zz",
    "/healthz",
    "/readyz",
    "/metrics",
    "/docs",
    "/openapi.json",
    "/audio/x",
    "/",
  ];
  for (const path of PATHS) {
    it(`are present on ${path}`, async () => {
      const { headers } = await caller.api.get(path);
      expect(headers.get("x-request-id")).to.match(/^req_[0-9a-z]{26}$/);
      expect(headers.get("x-content-type-options")).to.equal("nosniff");
      expect(headers.get("x-powered-by")).to.equal(null);
      expect(headers.get("cache-control")).to.be.a("string");
    });
  }

  it("forbid caching under /api", async () => {
    for (const path of ["/api/v1/me", "/api/v1/generations", "/api/v1/nothing"]) {
      const response = await caller.api.get(path, { "If-None-Match": "*" });
      expect(response.headers.get("cache-control")).to.equal("no-store");
      expect(response.headers.get("etag")).to.equal(null);
      expect(response.status).not.to.equal(304);
    }
  });

  describe("of every read request", () => {
    const READS: readonly (readonly [path: string, status: number])[] = [
      ["/api/v1/me", 200],
      ["/api/v1/credits", 200],
      ["/api/v1/usage", 200],
      ["/api/v1/usage?status=1", 400],
      ["/api/v1/logs", 200],
      ["/api/v1/logs?limit=0", 400],
      ["/api/v1/models", 200],
      ["/api/v1/models/scripted%2Fsong", 200],
      ["/api/v1/models/x", 404],
      ["/api/v1/generations", 200],
      ["/api/v1/generations?limit=0", 400],
      ["/api/v1/generations/x", 404],
      ["/api/v1/jobs/x", 404],
      ["/api/v1/library/search", 200],
      ["/api/v1/library/search?limit=0", 400],
      ["/api/v1/tracks/x", 404],
      ["/api/v1/playlists", 200],
      ["/api/v1/playlists/x", 404],
      ["/api/v1/webhook-endpoints", 200],
      ["/api/v1/webhook-endpoints?status=x", 400],
    ];
    for (const [path, status] of READS) {
      it(`have the remaining reads and forbid caching: ${path}`, async () => {
        const { headers, ...response } = await caller.api.get(path);
        expect(response.status).to.equal(status);
        expect(headers.get("ratelimit-policy")).to.match(/^"read-minute";q=\d+;w=60, "read-day";q=\d+;w=86400$/);
        expect(headers.get("ratelimit")).to.match(/^"read-minute";r=\d+;t=\d+, "read-day";r=\d+;t=\d+$/);
        expect(headers.get("cache-control")).to.equal("no-store");
        expect(headers.get("content-type")).to.equal("application/json; charset=utf-8");
      });

      it(`request a key: ${path}`, async () => {
        const { headers, ...response } = await test.anonymous.get(path);
        expect([response.status, headers.get("www-authenticate"), headers.get("ratelimit")]).to.deep.equal([
          401,
          "Bearer",
          null,
        ]);
      });
    }
  });

  it("have a request id from the server, whatever the request sends", async () => {
    const ids = [];
    for (let count = 0; count < 2; count++) {
      ids.push((await caller.api.get("/api/v1/me", { "X-Request-Id": "req_mine" })).headers.get("x-request-id"));
    }
    expect(new Set(["req_mine", ...ids]).size).to.equal(3);
  });

  it("are the same for HEAD as for GET, without the body", async () => {
    const paths = ["me", "models/scripted%2Fsong", "generations", "jobs/x", "playlists", "tracks/x"].map(
      (path) => `/api/v1/${path}`,
    );
    for (const path of paths) {
      const [get, head] = [await caller.api.get(path), await caller.api.send("HEAD", path)];
      expect([head.status, head.text]).to.deep.equal([get.status, ""]);
      expect(head.headers.get("content-length")).to.equal(get.headers.get("content-length"));
    }
  });
});
