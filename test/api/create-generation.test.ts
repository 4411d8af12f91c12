import { expect } from "chai";
import { A_GENERATION, dataOf, errorOf, issuePaths, refusalOf } from "../support/api-client.js";
import { submitFails } from "../support/doubles/scripted-provider.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

interface Accepted {
  readonly id: string;
  readonly created_at: string;
  readonly status_url: string;
}

describe("POST /api/v1/generations", () => {
  let test: TestApp;
  let caller: TestAccount;
  before(async () => {
    test = await startTestApp();
    caller = await test.account({ credits: 100_000 });
  });
  after(() => test.close());

  it("accepts a generation, reserves its credits and returns the URL to poll", async () => {
    const { api } = await test.account({ credits: 25 });
    const response = await api.generate();
    expect(response.status).to.equal(202);
    const data = dataOf<Accepted>(response);
    expect(data).to.deep.equal({
      id: data.id,
      status: "queued",
      model_id: "scripted/song",
      credits_reserved: 10,
      created_at: data.created_at,
      status_url: `${test.url}/api/v1/generations/${data.id}`,
    });
    expect(data.id).to.match(/^job_[0-9a-hjkmnp-tv-z]{26}$/);
    expect(data.created_at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(response.headers.get("location")).to.equal(data.status_url);
    expect(dataOf(await api.get("/api/v1/credits"))["available"]).to.equal(15);
  });

  it("accepts every field at the limits of its range", async () => {
    const response = await caller.api.generate({
      model_id: "scripted/song",
      prompt: "🎵".repeat(3_000), // code points, not UTF-16 units
      lyrics: "é".repeat(200),
      duration: 240,
      instrumental: false,
      client: "🎧".repeat(100),
      metadata: { a: { b: { c: { d: { e: { f: { g: 1 } } } } } }, __proto: null, list: [1, [2]] },
    });
    expect(response.status, response.text).to.equal(202);
  });

  it("accepts integers in any JSON notation", async () => {
    for (const duration of ["30.0", "3e1", "30"]) {
      const response = await caller.api.generate(`{"model_id":"scripted/song","prompt":"rain","duration":${duration}}`);
      expect(response.status, duration).to.equal(202);
    }
  });

  const wrong: readonly (readonly [what: string, change: object, paths: readonly string[]])[] = [
    ["no model", { model_id: undefined }, ["body.model_id"]],
    ["a model that is no string", { model_id: 7 }, ["body.model_id"]],
    ["no prompt", { prompt: undefined }, ["body.prompt"]],
    ["a prompt that is null", { prompt: null }, ["body.prompt"]],
    ["an empty prompt", { prompt: "" }, ["body.prompt"]],
    ["a prompt of 3,001 code points", { prompt: "🎵".repeat(3_001) }, ["body.prompt"]],
    ["a prompt with half a character", { prompt: "a\ud800" }, ["body.prompt"]],
    ["lyrics of 10,001 code points", { lyrics: "a".repeat(10_001) }, ["body.lyrics"]],
    ["lyrics longer than the model takes", { lyrics: "a".repeat(201) }, ["body.lyrics"]],
    ["lyrics for an instrumental", { lyrics: "la", instrumental: true }, ["body.instrumental"]],
    ["lyrics for a model without", { model_id: "scripted/beat", lyrics: "la" }, ["body.lyrics"]],
    ["instrumental for a model without", { model_id: "scripted/beat", instrumental: true }, ["body.instrumental"]],
    ["a duration below the model's", { duration: 4 }, ["body.duration"]],
    ["a duration above the model's", { duration: 241 }, ["body.duration"]],
    ["a duration where none can be chosen", { model_id: "scripted/beat", duration: 30 }, ["body.duration"]],
    ["a duration with a fraction", { duration: 10.5 }, ["body.duration"]],
    ["a duration in quotes", { duration: "10" }, ["body.duration"]],
    ["instrumental in quotes", { instrumental: "true" }, ["body.instrumental"]],
    ["instrumental as a number", { instrumental: 1 }, ["body.instrumental"]],
    ["an empty client", { client: "" }, ["body.client"]],
    ["a client of 101 code points", { client: "c".repeat(101) }, ["body.client"]],
    ["metadata that is a list", { metadata: [] }, ["body.metadata"]],
    ["metadata that is null", { metadata: null }, ["body.metadata"]],
    [
      "metadata of 9 levels",
      { metadata: { a: { b: { c: { d: { e: { f: { g: { h: {} } } } } } } } } },
      ["body.metadata"],
    ],
    ["metadata of more than 16 KiB", { metadata: { a: "a".repeat(16 * 1024) } }, ["body.metadata"]],
    ["an unknown field", { promt: "rain" }, ["body.promt"]],
    ["several issues", { prompt: 1, duration: "x", foo: 1 }, ["body.prompt", "body.duration", "body.foo"]],
  ];
  for (const [what, change, paths] of wrong) {
    it(`refuses ${what}, naming ${paths.join(", ")}`, async () => {
      const response = await caller.api.generate({ ...A_GENERATION, ...change });
      expect(refusalOf(response)).to.equal("400 invalid_request");
      expect(issuePaths(response)).to.have.members([...paths]);
    });
  }

  it("names the model's bounds when a duration is out of range", async () => {
    const response = await caller.api.generate({ ...A_GENERATION, duration: 241 });
    expect(errorOf(response).details).to.deep.equal({
      issues: [{ path: "body.duration", message: "must be 5 to 240 seconds for scripted/song" }],
    });
  });

  it("never echoes a value of the request in an error", async () => {
    const response = await caller.api.generate({
      model_id: { secret: "hunter2" },
      prompt: ["hunter2"],
      duration: "hunter2",
    });
    expect(response.text).not.to.include("hunter2");
  });

  it("limits the size of the error however many fields are unknown", async () => {
    const body = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, index) => [`unknown_${index}_${"x".repeat(20)}`, 1]),
    );
    const response = await caller.api.generate({ ...A_GENERATION, ...body, ["y".repeat(10_000)]: 1 });
    expect(refusalOf(response)).to.equal("400 invalid_request");
    expect(response.text.length).to.be.below(20_000);
  });

  it("refuses a model that does not exist", async () => {
    expect(refusalOf(await caller.api.generate({ ...A_GENERATION, model_id: "scripted/nothing" }))).to.equal(
      "400 invalid_model",
    );
  });

  it("refuses a model whose plugin is off, reserving nothing", async () => {
    const { api } = await test.account({ credits: 50 });
    const response = await api.generate({ model_id: "synth/instrumental", prompt: "rain" });
    expect(refusalOf(response)).to.equal("502 provider_unavailable");
    expect(dataOf(await api.get("/api/v1/credits"))["available"]).to.equal(50);
  });

  it("refuses a generation that costs more than the available credits, and returns both amounts", async () => {
    const { api } = await test.account({ credits: 9 });
    const response = await api.generate();
    expect(refusalOf(response)).to.equal("402 insufficient_credits");
    expect(errorOf(response).details).to.deep.equal({ required: 10, available: 9 });
  });

  it("refuses more running jobs than the tier allows, and returns the limit", async () => {
    const { api } = await test.account({ tier: "free" });
    expect((await api.generate()).status).to.equal(202);
    const response = await api.generate();
    expect(refusalOf(response)).to.equal("409 generation_concurrency_exceeded");
    expect(errorOf(response).details).to.deep.equal({ limit: 1, running: 1 });
  });

  it("requires the scope generations:create", async () => {
    const { api } = await test.account({ scopes: ["generations:read"] });
    const response = await api.generate();
    expect(refusalOf(response)).to.equal("403 insufficient_scope");
    expect(errorOf(response).details).to.deep.equal({ required_scope: "generations:create" });
  });

  it("never overdraws an account, however many requests arrive at once", async () => {
    const { account, api } = await test.account({ credits: 505 });
    const responses = await Promise.all(Array.from({ length: 200 }, () => api.generate()));
    const accepted = responses.filter(({ status }) => status === 202);
    expect(accepted).to.have.length(50);
    expect(new Set(responses.filter(({ status }) => status !== 202).map(refusalOf))).to.deep.equal(
      new Set(["402 insufficient_credits"]),
    );
    expect(new Set(accepted.map((response) => dataOf<Accepted>(response).id)).size).to.equal(50);
    const balance = await test.app.credits.balance(account.id);
    expect([balance.monthly, balance.reservedMonthly, balance.runningJobs]).to.deep.equal([5, 500, 50]);
    expect((await test.app.credits.verify()).violations).to.deep.equal([]);
  });
});

describe("POST /api/v1/generations while the provider is down", () => {
  it("returns 502 at once, reserves nothing and stores no idempotency record", async () => {
    const test = await startTestApp({ settings: { breaker: { failures: 1 } }, work: true });
    try {
      const { api } = await test.account({ credits: 50 });
      test.provider.behaviour = submitFails("unavailable");
      await api.generate(undefined, { Prefer: "wait=20" });
      const response = await api.generate(undefined, { "Idempotency-Key": "later" });
      expect(refusalOf(response)).to.equal("502 provider_unavailable");
      expect(response.headers.get("location")).to.equal(null);
      expect(dataOf(await api.get("/api/v1/credits"))["available"]).to.equal(50);
      expect(
        (await api.generate({ ...A_GENERATION, prompt: "another" }, { "Idempotency-Key": "later" })).status,
      ).to.equal(502);
    } finally {
      await test.close();
    }
  });
});
