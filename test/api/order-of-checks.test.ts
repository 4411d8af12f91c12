import { expect } from "chai";
import { A_GENERATION, ApiClient, issuePaths, refusalOf } from "../support/api-client.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

/**
 * Every request here violates the rule of its line and all later ones; the first violated rule determines the response.
 */
describe("The order of checks", () => {
  let test: TestApp;
  before(async () => {
    test = await startTestApp({
      settings: {
        rateLimits: { read: { perMinute: 1, perDay: 10 }, generation: { perMinute: 1_000, perDay: 1_000 } },
        http: { port: 0, bodyLimitBytes: 1_024 },
      },
    });
  });
  after(() => test.close());

  const key = { "Idempotency-Key": "k" };
  const json = { "Content-Type": "application/json" };
  const tooLarge = "x".repeat(2_000);

  it("1. the route, before authentication", async () => {
    expect(refusalOf(await test.anonymous.get("/api/v1/nothing"))).to.equal("404 not_found");
    expect(refusalOf(await test.anonymous.send("DELETE", "/api/v1/generations"))).to.equal("405 method_not_allowed");
  });

  it("2. authentication, before terms", async () => {
    const { keyId, api } = await test.account({ acceptTerms: false });
    expect(refusalOf(await test.anonymous.generate("{"))).to.equal("401 authentication_required");
    await test.app.accounts.revokeKey(keyId);
    expect(refusalOf(await api.generate("{"))).to.equal("401 revoked_api_key");
  });

  it("3. terms, before the scope", async () => {
    const { api } = await test.account({ acceptTerms: false, scopes: ["library:read"] });
    expect(refusalOf(await api.generate("{"))).to.equal("403 api_terms_not_accepted");
    expect(refusalOf(await api.get("/api/v1/me"))).to.equal("403 api_terms_not_accepted");
  });

  it("4. the scope, before the rate limit, which it does not count against", async () => {
    const { account, api } = await test.account({ scopes: ["generations:read"] });
    expect((await api.get("/api/v1/generations")).status).to.equal(200);
    expect(refusalOf(await api.get("/api/v1/me"))).to.equal("403 insufficient_scope");
    expect(refusalOf(await api.generate("{"))).to.equal("403 insufficient_scope");
    const { token } = await test.app.accounts.issueKey(account.id);
    expect((await new ApiClient(test.url, token).generate()).headers.get("ratelimit")).to.match(
      /^"generation-minute";r=999;/,
    );
  });

  it("5. the rate limit, before parameters", async () => {
    const { api } = await test.account();
    expect((await api.get("/api/v1/me")).status).to.equal(200);
    expect(refusalOf(await api.get("/api/v1/generations?limit=x"))).to.equal("429 rate_limited");
  });

  it("6. the media type, before the size", async () => {
    const { api } = await test.account();
    const response = await api.send("POST", "/api/v1/generations", {
      headers: { "Content-Type": "text/plain" },
      body: tooLarge,
    });
    expect(refusalOf(response)).to.equal("415 unsupported_media_type");
  });

  it("7. the size, before JSON", async () => {
    const { api } = await test.account();
    expect(refusalOf(await api.send("POST", "/api/v1/generations", { headers: json, body: tooLarge }))).to.equal(
      "413 payload_too_large",
    );
  });

  it("8. JSON, before headers", async () => {
    const { api } = await test.account();
    const response = await api.send("POST", "/api/v1/generations", { headers: json, body: "{" });
    expect(refusalOf(response)).to.equal("400 invalid_request");
    expect(issuePaths(response)).to.deep.equal(["body"]);
  });

  it("9. headers, before the body's fields", async () => {
    const { api } = await test.account();
    expect(refusalOf(await api.send("POST", "/api/v1/generations", { headers: json, body: { foo: 1 } }))).to.equal(
      "400 idempotency_key_required",
    );
    const response = await api.generate({ foo: 1 }, { "Idempotency-Key": "k".repeat(256) });
    expect(issuePaths(response)).to.deep.equal(["header.Idempotency-Key"]);
  });

  it("10. the body's fields, before the idempotency record", async () => {
    const { api } = await test.account();
    await api.generate(A_GENERATION, key);
    expect(refusalOf(await api.generate({ ...A_GENERATION, foo: 1 }, key))).to.equal("400 invalid_request");
  });

  it("11. the idempotency record, before the model", async () => {
    const { api } = await test.account();
    await api.generate(A_GENERATION, key);
    expect(refusalOf(await api.generate({ ...A_GENERATION, model_id: "no/model" }, key))).to.equal(
      "409 idempotency_conflict",
    );
  });

  it("12. the model, its bounds, its provider", async () => {
    const { api } = await test.account({ tier: "free", credits: 0 });
    expect(refusalOf(await api.generate({ model_id: "no/model", prompt: "x", duration: 1 }))).to.equal(
      "400 invalid_model",
    );
    expect(refusalOf(await api.generate({ model_id: "synth/song", prompt: "x", duration: 1 }))).to.equal(
      "400 invalid_request",
    );
    expect(refusalOf(await api.generate({ model_id: "synth/song", prompt: "x" }))).to.equal("502 provider_unavailable");
  });

  it("13. the provider, before concurrency; concurrency, before credits", async () => {
    const { api } = await test.account({ tier: "free", credits: 10 });
    expect((await api.generate()).status).to.equal(202);
    expect(refusalOf(await api.generate({ model_id: "synth/song", prompt: "x" }))).to.equal("502 provider_unavailable");
    expect(refusalOf(await api.generate())).to.equal("409 generation_concurrency_exceeded");
  });
});
