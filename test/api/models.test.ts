import { expect } from "chai";
import { STANDARD_OPTIONS } from "../../core/ports/music-provider.js";
import { dataOf, errorOf, refusalOf } from "../support/api-client.js";
import { submitCompletes, submitFails } from "../support/doubles/scripted-provider.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

const { seed, negative_prompt: negative, key, vocal_gender: voice } = STANDARD_OPTIONS;

const SONG = {
  id: "scripted/song",
  name: "Scripted Song",
  provider_label: "Scripted Provider",
  supports_lyrics: true,
  supports_instrumental: true,
  requires_lyrics: false,
  duration: { minimum: 5, maximum: 240 },
  prompt_max_length: 3_000,
  lyrics_max_length: 200,
  credit_cost: 10,
  credit_bounds: { minimum: 10, maximum: 10 },
  status: "available",
  options: [
    { name: "seed", type: "integer", description: seed.description, minimum: 0, maximum: 4_294_967_295 },
    { name: "negative_prompt", type: "string", description: negative.description, min_length: 0, max_length: 20 },
    { name: "key", type: "string", description: key.description, min_length: 0, max_length: 8 },
    { name: "vocal_gender", type: "string", description: voice.description, allowed: ["female", "male"] },
    {
      ...{ name: "style_weight", type: "number", description: "How closely the style is kept." },
      ...{ minimum: 0, maximum: 1, default: 0.5 },
    },
    { name: "loop", type: "boolean", description: "Whether the end leads to the beginning." },
  ],
  references: [],
};

interface Models {
  readonly models: readonly { readonly id: string; readonly status: string }[];
}

describe("GET /api/v1/models", () => {
  let test: TestApp;
  let caller: TestAccount;
  before(async () => {
    test = await startTestApp();
    caller = await test.account();
  });
  after(() => test.close());

  it("lists all models in the configured order, disabled ones as unavailable", async () => {
    const response = await caller.api.get("/api/v1/models");
    expect(response.status).to.equal(200);
    const { models } = dataOf<Models>(response);
    expect(models.map(({ id, status }) => `${id} ${status}`)).to.deep.equal([
      "synth/instrumental unavailable",
      "synth/song unavailable",
      "scripted/song available",
      "scripted/beat available",
    ]);
    expect(models[2]).to.deep.equal(SONG);
    expect(models[3]).to.have.deep.property("options", []);
  });

  it("lists those that fit all filters", async () => {
    const ids = async (query: string): Promise<string[]> =>
      dataOf<Models>(await caller.api.get(`/api/v1/models?${query}`)).models.map(({ id }) => id);
    const scripted = ["scripted/song", "scripted/beat"];
    expect(await ids("provider=scripted")).to.deep.equal(scripted);
    expect(await ids("status=unavailable")).to.deep.equal(["synth/instrumental", "synth/song"]);
    expect(await ids("status=available&supports_lyrics=true")).to.deep.equal(["scripted/song"]);
    expect(await ids("provider=scripted&supports_lyrics=false&supports_instrumental=false")).to.deep.equal([
      "scripted/beat",
    ]);
    expect(await ids("provider=scripted&duration=240")).to.deep.equal(["scripted/song"]);
    expect(await ids("provider=scripted&max_credits=0")).to.deep.equal([]);
    expect(await ids("unknown=1&provider=scripted&limit=1")).to.deep.equal(["scripted/song"]);
  });

  for (const [query, message] of [
    ["provider=lark", "must be one of synth, scripted"],
    ["provider=", "must be one of synth, scripted"],
    ["status=down", "must be one of available, unavailable"],
    ["reference=remix", "must be one of extend, cover, inpaint"],
    ["supports_lyrics=yes", "must be true or false"],
    ["supports_instrumental=", "must be true or false"],
    ["duration=0", "must be at least 1"],
    ["duration=1.5", "must be an integer"],
    ["max_credits=-1", "must be at least 0"],
    ["limit=101", "must be 1 to 100"],
  ] as const) {
    it(`refuses ${query}, and says what is allowed`, async () => {
      const response = await caller.api.get(`/api/v1/models?${query}`);
      expect(refusalOf(response)).to.equal("400 invalid_request");
      const [name] = query.split("=");
      expect(errorOf(response).details?.issues).to.deep.equal([{ path: `query.${name}`, message }]);
    });
  }

  it("requires the scope models:read", async () => {
    const { api } = await test.account({ scopes: ["credits:read"] });
    expect(refusalOf(await api.get("/api/v1/models"))).to.equal("403 insufficient_scope");
    expect(refusalOf(await api.get("/api/v1/models/scripted%2Fsong"))).to.equal("403 insufficient_scope");
  });

  describe("/{model_id}", () => {
    it("returns one model whose slash is percent-encoded", async () => {
      for (const id of ["scripted%2Fsong", "scripted%2fsong", "%73cripted%2Fsong"]) {
        const response = await caller.api.get(`/api/v1/models/${id}`);
        expect(response.status).to.equal(200);
        expect(response.json).to.deep.equal({ data: SONG });
      }
    });

    it("returns 404 for a model that is not in the catalogue", async () => {
      for (const id of [
        "scripted%2Fnothing",
        "scripted",
        "SCRIPTED%2FSONG",
        "scripted%2Fsong%20",
        "%00",
        "x".repeat(5_000),
      ]) {
        expect(refusalOf(await caller.api.get(`/api/v1/models/${id}`)), id.slice(0, 30)).to.equal(
          "404 model_not_found",
        );
      }
    });

    it("returns the same model where a proxy decoded its slash", async () => {
      for (const end of ["", "/", "?x=/y/z"]) {
        const response = await caller.api.get(`/api/v1/models/scripted/song${end}`);
        expect([response.status, response.json]).to.deep.equal([200, { data: SONG }]);
      }
      expect(refusalOf(await caller.api.get("/api/v1/models/scripted/none"))).to.equal("404 model_not_found");
      expect(refusalOf(await caller.api.send("POST", "/api/v1/models/scripted/song"))).to.equal(
        "405 method_not_allowed",
      );
      expect(refusalOf(await test.anonymous.get("/api/v1/models/scripted/song"))).to.match(/^401 /);
    });

    it("returns 404 for more segments than an id has", async () => {
      for (const path of ["scripted/song/x", "scripted//song", "/scripted/song"]) {
        expect(refusalOf(await caller.api.get(`/api/v1/models/${path}`)), path).to.equal("404 not_found");
      }
    });
  });
});

describe("GET /api/v1/models while a provider is down", () => {
  it("returns its models as unavailable", async () => {
    const test = await startTestApp({ settings: { breaker: { failures: 1 } }, work: true });
    try {
      const { api } = await test.account();
      await openBreaker(test, api);
      const { models } = dataOf<Models>(await api.get("/api/v1/models"));
      expect(models.filter(({ id }) => id.startsWith("scripted/")).map(({ status }) => status)).to.deep.equal([
        "unavailable",
        "unavailable",
      ]);
      expect(dataOf(await api.get("/api/v1/models/scripted%2Fbeat"))["status"]).to.equal("unavailable");
    } finally {
      await test.close();
    }
  });
});

describe("GET /api/v1/models while a provider lacks one of its models", () => {
  it("returns that model as unavailable, accepts no job for it, and still accepts jobs for the others", async () => {
    const test = await startTestApp({ work: true, settings: { jobs: { maxAttempts: 1 } } });
    try {
      const { api } = await test.account();
      test.provider.behaviour = (request, context) =>
        request.operation === "music" && request.model.id === "scripted/song"
          ? submitFails("model_unavailable")(request, context)
          : submitCompletes(request, context);
      const song = { model_id: "scripted/song", prompt: "rain" };
      const beat = { model_id: "scripted/beat", prompt: "rain" };
      const asked = test.provider.submissions.length;
      const wait = { Prefer: "wait=20" };
      expect(refusalOf(await api.generate(song, wait))).to.equal("502 provider_unavailable");
      const { models } = dataOf<Models>(await api.get("/api/v1/models"));
      const shown = models.filter(({ id }) => id.startsWith("scripted/")).map(({ id, status }) => [id, status]);
      expect(shown).to.deep.equal([
        ["scripted/song", "unavailable"],
        ["scripted/beat", "available"],
      ]);
      expect(refusalOf(await api.generate(song))).to.equal("502 provider_unavailable");
      expect(dataOf(await api.generate(beat, wait))["status"]).to.equal("completed");
      expect(test.provider.submissions.length - asked, "the retired model is asked for once").to.equal(2);
    } finally {
      await test.close();
    }
  });
});

async function openBreaker(test: TestApp, api: TestAccount["api"]): Promise<void> {
  test.provider.behaviour = submitFails("unavailable");
  const response = await api.generate(undefined, { Prefer: "wait=20" });
  expect(refusalOf(response)).to.equal("502 provider_unavailable");
}
