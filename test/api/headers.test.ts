import { expect } from "chai";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

describe("Headers of every answer", () => {
  let test: TestApp;
  let caller: TestAccount;
  before(async () => {
    test = await startTestApp();
    caller = await test.account();
  });
  after(() => test.close());

  const PATHS = ["/api/v1/me", "/api/v1/nothing", "/api/v1/models/%zz", "/healthz", "/readyz", "/metrics", "/docs", "/openapi.json", "/audio/x", "/"];
  for (const path of PATHS) {
    it(`are there on ${path}`, async () => {
      const { headers } = await caller.api.get(path);
      expect(headers.get("x-request-id")).to.match(/^req_[0-9a-z]{26}$/);
      expect(headers.get("x-content-type-options")).to.equal("nosniff");
      expect(headers.get("x-powered-by")).to.equal(null);
      expect(headers.get("cache-control")).to.be.a("string");
    });
  }

  it("let nothing under /api be cached", async () => {
    for (const path of ["/api/v1/me", "/api/v1/models", "/api/v1/nothing"]) {
      const answer = await caller.api.get(path, { "If-None-Match": "*" });
      expect(answer.headers.get("cache-control")).to.equal("no-store");
      expect(answer.headers.get("etag")).to.equal(null);
      expect(answer.status).not.to.equal(304);
    }
  });

  it("carry a request id of our own, whatever the request says", async () => {
    const ids = [];
    for (let count = 0; count < 2; count++) {
      ids.push((await caller.api.get("/api/v1/me", { "X-Request-Id": "req_mine" })).headers.get("x-request-id"));
    }
    expect(new Set(["req_mine", ...ids]).size).to.equal(3);
  });

  it("are the same for HEAD as for GET, without the body", async () => {
    for (const path of ["/api/v1/me", "/api/v1/models/scripted%2Fsong", "/api/v1/generations", "/api/v1/jobs/x"]) {
      const [get, head] = [await caller.api.get(path), await caller.api.send("HEAD", path)];
      expect([head.status, head.text]).to.deep.equal([get.status, ""]);
      expect(head.headers.get("content-length")).to.equal(get.headers.get("content-length"));
    }
  });
});
