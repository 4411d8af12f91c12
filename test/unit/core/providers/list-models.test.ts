import { expect } from "chai";
import { ModelNotFoundError } from "../../../../core/errors.js";
import { PROVIDER_PORT_VERSION, type ProviderDefinition } from "../../../../core/ports/music-provider.js";
import type { CatalogueProvider } from "../../../../core/providers/catalogue.js";
import { Catalogue } from "../../../../core/providers/catalogue.js";
import { checkProvider } from "../../../../core/providers/check-provider.js";
import { listConfiguredModels, ListModels } from "../../../../core/providers/list-models.js";
import { isCost, isObject, isText, isWhole, shown, survivesJson } from "../../../../core/providers/plain-values.js";
import { priceBounds, priceOf } from "../../../../core/providers/prices.js";
import { Routes } from "../../../../core/providers/routes.js";
import { ScriptedProvider } from "../../../support/doubles/scripted-provider.js";

const { definition } = new ScriptedProvider("owl");
const OWL: CatalogueProvider = { ...definition, enabled: true, isReachable: true };
const PREFERENCES = { fallbacks: {}, splits: { stem_split: [], vocal_removal: [] } };

describe("The models as callers see them", () => {
  function listing(provider: Partial<CatalogueProvider> = {}) {
    const catalogue = new Catalogue([{ ...OWL, ...provider }]);
    let openIds: ReadonlySet<string> = new Set();
    const availability = { openIds: () => Promise.resolve(openIds) };
    const models = new ListModels({
      catalogue,
      routes: new Routes({ catalogue, preferences: PREFERENCES }),
      availability,
    });
    return { models, open: (...ids: readonly string[]) => (openIds = new Set(ids)) };
  }

  it("are all, in the order of config, available unless their breakers are open", async () => {
    const { models, open } = listing();
    const statuses = async () => (await models.list()).map(({ model, status }) => `${model.id} ${status}`);
    expect(await statuses()).to.deep.equal(["owl/song available", "owl/beat available"]);
    open("owl/song");
    expect(await statuses()).to.deep.equal(["owl/song unavailable", "owl/beat available"]);
    open("owl");
    expect(await statuses()).to.deep.equal(["owl/song unavailable", "owl/beat unavailable"]);
    expect(await models.get("owl/song")).to.include({ status: "unavailable" });
    expect(await models.get("owl/gone").catch((error: unknown) => error)).to.be.instanceOf(ModelNotFoundError);
    expect((await listing({ enabled: false }).models.list()).map(({ status }) => status)).to.deep.equal([
      "unavailable",
      "unavailable",
    ]);
  });

  it("are the same list until a breaker changes, and a copy for a caller that may change it", async () => {
    const { models, open } = listing();
    const first = await models.current();
    expect(await models.current()).to.equal(first);
    expect(await models.list()).not.to.equal(first);
    open();
    expect(await models.current()).not.to.equal(first);
  });

  it("have the modes that work on this installation, and what they can cost", async () => {
    const [song] = definition.models;
    const references = {
      cover: { sources: "any", creditCost: 4 },
      extend: { sources: "any", needsUrl: true, creditCost: 99 },
    } as const;
    const provider = { models: [{ ...song, references }], isReachable: false } as never;
    const [listed] = await listing(provider).models.list();
    expect([listed?.modes, listed?.price]).to.deep.equal([["cover"], { minimum: 4, maximum: 10 }]);
    const [configured] = await listConfiguredModels(
      [{ ...OWL, models: [{ ...song, references }] } as never],
      PREFERENCES,
    );
    expect(configured?.price).to.deep.equal({ minimum: 4, maximum: 99 });
    expect(configured?.status).to.equal("available");
  });

  it("cost what they say, in each mode what that says", () => {
    const model = {
      creditCost: 10,
      references: { cover: { sources: "any", creditCost: 4 }, extend: { sources: "any" } },
    };
    const price = (mode: Parameters<typeof priceOf>[1]): number => priceOf(model as never, mode);
    expect([price(null), price("cover"), price("extend"), price("inpaint")]).to.deep.equal([10, 4, 10, 10]);
    expect(priceBounds(model as never, [])).to.deep.equal({ minimum: 10, maximum: 10 });
  });
});

describe("The check of a plugin", () => {
  const plugin = (changes: Partial<Record<keyof ProviderDefinition, unknown>> = {}): unknown => ({
    ...definition,
    capabilities: { idempotentSubmit: true, lookup: true, cancel: false },
    ...changes,
  });

  it("finds nothing wrong with one that is right, and says what it is", async () => {
    expect(await checkProvider(plugin())).to.deep.equal({
      ...{ id: "owl", portVersion: PROVIDER_PORT_VERSION, ours: PROVIDER_PORT_VERSION },
      ...{ models: ["owl/song", "owl/beat"], issues: [], notes: [] },
    });
  });

  it("does not start one whose definition is not right", async () => {
    for (const value of [null, 7, {}, plugin({ models: "none", id: 7, portVersion: "1" })]) {
      const { id, portVersion, models, issues, notes } = await checkProvider(value);
      expect([id, portVersion, models]).to.deep.equal([null, null, []]);
      expect(issues).not.to.deep.equal([]);
      expect(notes).to.deep.equal(["not started: its definition is not right yet"]);
    }
    const odd = await checkProvider(plugin({ models: [null, { id: 7 }, { id: "owl/x" }] }));
    expect(odd.models).to.deep.equal(["owl/x"]);
  });

  it("starts it with examples of what it requires, and closes it", async () => {
    let given: unknown;
    let isClosed = false;
    const settings = {
      apiKey: { type: "string", required: true, secret: true, description: "A key." },
      baseUrl: { type: "string", required: true, description: "A URL." },
      region: { type: "string", required: true, allowed: ["eu", "us"], description: "A region." },
      count: { type: "integer", required: true, minimum: 4, description: "A number." },
      size: { type: "integer", required: true, description: "A number." },
      fast: { type: "boolean", required: true, description: "A switch." },
      name: { type: "string", default: "x", description: "A name." },
      rest: { type: "string", description: "Something else." },
    };
    const create = (host: { readonly settings: unknown }): unknown => {
      given = host.settings;
      const { submit, poll } = new ScriptedProvider("owl");
      return { submit, poll, lookup: async () => ({ state: "absent" }), close: async () => void (isClosed = true) };
    };
    expect((await checkProvider(plugin({ settings, create }))).issues).to.deep.equal([]);
    expect(given).to.deep.equal({
      ...{ apiKey: "example-value", baseUrl: "http://127.0.0.1:9", region: "eu", count: 4, size: 1, fast: false },
      name: "x",
    });
    expect(isClosed).to.equal(true);
  });

  it("compares what it declares for its settings, and its own models, with what the port allows", async () => {
    const issuesOf = async (changes: object): Promise<string> =>
      (await checkProvider(plugin(changes))).issues.join("\n");
    expect(await issuesOf({ concurrency: () => 0 })).to.equal(
      "concurrency: 0 for the default settings; allowed: a whole number from 1",
    );
    expect(await issuesOf({ concurrency: () => 1.5 })).to.include("concurrency: 1.5");
    expect(await issuesOf({ concurrency: () => 2 })).to.equal("");
    expect(await issuesOf({ longestCallMs: () => -1 })).not.to.equal("");
    expect(await issuesOf({ capabilities: () => ({ idempotentSubmit: true, lookup: true, cancel: true }) })).to.include(
      "cancel",
    );
    expect(
      await issuesOf({ checkModel: ({ id }: { id: string }) => (id === "owl/beat" ? "too short" : null) }),
    ).to.equal("checkModel refuses its own model owl/beat: too short");
  });

  it("notes that one does not start with examples, and lets it call nothing", async () => {
    const { issues, notes } = await checkProvider(
      plugin({
        create: () => {
          throw new Error("The key has 40 digits.");
        },
      }),
    );
    expect([issues, notes]).to.deep.equal([
      [],
      ["methods not compared with capabilities: it does not start with example settings (The key has 40 digits.)"],
    ]);
    const refusals: string[] = [];
    await checkProvider(
      plugin({
        create: async (host: {
          fetch(url: string): Promise<unknown>;
          sandbox(): { run(): Promise<unknown>; close(): Promise<void> };
          clock: { now(): number; sleep(): Promise<void> };
          logger: { info(): void; warn(): void };
        }) => {
          host.logger.info();
          host.logger.warn();
          await host.sandbox().close();
          for (const work of [host.fetch("https://a"), host.sandbox().run(), host.clock.sleep()])
            refusals.push(await work.then(String, (error: Error) => error.message));
          refusals.push(String(host.clock.now()));
          return new ScriptedProvider("owl");
        },
      }),
    );
    await new Promise((resolve) => setImmediate(resolve));
    expect(refusals).to.deep.equal([
      "a check makes no calls",
      "a check starts no processes",
      "a check does not wait",
      "0",
    ]);
  });
});

describe("Values that came from outside", () => {
  it("are objects, texts, whole numbers and costs, or are not", () => {
    for (const value of [null, [], "x", 1]) expect(isObject(value)).to.equal(false);
    expect(isObject({})).to.equal(true);
    for (const value of ["", "  ", 1, null]) expect(isText(value)).to.equal(false);
    expect(isText(" a ")).to.equal(true);
    expect([1, 2, 3, 4, 2.5, "2"].map((value) => isWhole(value, 2, 3))).to.deep.equal([
      ...[false, true, true, false, false, false],
    ]);
    expect(isWhole(Number.MAX_SAFE_INTEGER + 1, 0)).to.equal(false);
    expect(isCost({ amount: 0, unit: "USD" })).to.equal(true);
    for (const cost of [null, {}, { amount: -1, unit: "USD" }, { amount: "1", unit: "USD" }, { amount: 1, unit: "" }])
      expect(isCost(cost), JSON.stringify(cost)).to.equal(false);
    for (const cost of [
      { amount: Infinity, unit: "USD" },
      { amount: 1, unit: "x".repeat(99) },
    ])
      expect(isCost(cost)).to.equal(false);
    expect(isCost({ amount: 1, unit: "USD", per: "song" })).to.equal(false);
  });

  it("are named as JSON, or by their type", () => {
    const loop: { self?: unknown } = {};
    loop.self = loop;
    expect([undefined, "a", { b: 1 }, () => 1, 1n, loop].map(shown)).to.deep.equal([
      ...["missing", '"a"', '{"b":1}', "function", "bigint", "object"],
    ]);
  });

  it("survive JSON where they are plain", () => {
    for (const value of [1, "a", null, { a: [1, { b: true }] }, { a: undefined }, []])
      expect(survivesJson(value), JSON.stringify(value)).to.equal(true);
    for (const value of [
      NaN,
      undefined,
      1n,
      new Date(0),
      { a: () => 1 },
      [undefined],
      { a: new Map([[1, 2]]), b: NaN },
    ])
      expect(survivesJson(value)).to.equal(false);
  });
});
