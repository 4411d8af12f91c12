import { expect } from "chai";
import { type RoutePreferences, Routes } from "../../../../core/providers/routes.js";
import { sourceFileOf } from "../../../../core/providers/sources.js";
import { Catalogue, type CatalogueProvider } from "../../../../core/providers/catalogue.js";
import type { OptionValues, ProviderModel, ReferenceModes } from "../../../../core/ports/music-provider.js";
import { anAsset, aTrack } from "../../../support/builders.js";

function aModel(id: string, overrides: Partial<ProviderModel> = {}): ProviderModel {
  return {
    id,
    name: id,
    creditCost: 1,
    supportsLyrics: true,
    supportsInstrumental: true,
    duration: null,
    ...overrides,
  };
}

function aProvider(id: string, overrides: Partial<CatalogueProvider> = {}): CatalogueProvider {
  return { id, label: id, enabled: true, models: [aModel(`${id}/v1`)], isReachable: true, ...overrides };
}

function routesOver(providers: readonly CatalogueProvider[], preferences: Partial<RoutePreferences> = {}): Routes {
  return new Routes({
    catalogue: new Catalogue(providers),
    preferences: { fallbacks: {}, splits: { stem_split: [], vocal_removal: [] }, ...preferences },
  });
}

const REQUEST = { prompt: "rain", lyrics: null, durationSeconds: null, instrumental: true, options: {} };

describe("Routes of a generation", () => {
  const job = { kind: "music", modelId: "a/v1", request: REQUEST } as const;
  const chain = { fallbacks: { "a/v1": ["b/v1", "c/v1"] } };

  it("lead to the model's own provider, then to its fallbacks in their order", () => {
    const routes = routesOver(
      ["c", "b", "a"].map((id) => aProvider(id)),
      chain,
    ).routesOf(job, null);
    expect(
      routes.map(({ providerId, servedModelId, operation }) => [providerId, servedModelId, operation]),
    ).to.deep.equal([
      ["a", "a/v1", "music_a_full"],
      ["b", "b/v1", "music_b_full"],
      ["c", "c/v1", "music_c_full"],
    ]);
  });

  it("pass over what is off, what is not in config, and what does not take the request", () => {
    const short = { minSeconds: 1, maxSeconds: 9, defaultSeconds: 5 };
    const providers = [
      aProvider("a", { enabled: false }),
      aProvider("c", { models: [aModel("c/v1", { duration: short })] }),
    ];
    const routes = routesOver(providers, chain);
    const ids = (durationSeconds: number | null): string[] =>
      routes.routesOf({ ...job, request: { ...REQUEST, durationSeconds } }, null).map(({ providerId }) => providerId);
    expect([ids(9), ids(10), ids(null)]).to.deep.equal([["c"], [], ["c"]]);
  });

  it("skip fallbacks that do not take a given option: it is never dropped", () => {
    const seed = { type: "integer", minimum: 0, maximum: 99, description: "Seed." } as const;
    const taking = (id: string, maximum: number): CatalogueProvider =>
      aProvider(id, { models: [aModel(`${id}/v1`, { requestOptions: { seed: { ...seed, maximum } } })] });
    const routes = routesOver([taking("a", 99), aProvider("b"), taking("c", 9)], chain);
    const ids = (options: OptionValues): string[] =>
      routes.routesOf({ ...job, request: { ...REQUEST, options } }, null).map(({ providerId }) => providerId);
    expect([ids({}), ids({ seed: 9 }), ids({ seed: 10 })]).to.deep.equal([["a", "b", "c"], ["a", "c"], ["a"]]);
  });

  it("skip fallbacks that cannot work from the track in the same mode", () => {
    const working = (id: string, references: ReferenceModes): CatalogueProvider =>
      aProvider(id, { models: [aModel(`${id}/v1`, { references })] });
    const providers = [working("a", { cover: { sources: "any" } }), working("b", { extend: { sources: "any" } })];
    const routes = routesOver([...providers, working("c", { cover: { sources: "own" } })], chain);
    const sourceUse = { mode: "cover", fromSeconds: null, toSeconds: null, strength: null } as const;
    const ids = (providerId: string): string[] => {
      const track = aTrack({ assets: [anAsset({ role: "mix" })], origin: { providerId, reference: null } });
      return routes.routesOf({ ...job, request: { ...REQUEST, sourceUse } }, track).map((route) => route.providerId);
    };
    expect([ids("z"), ids("c")]).to.deep.equal([["a"], ["a", "c"]]);
  });

  it("go on behind the present one, and begin again for a provider that is no longer among them", () => {
    const routes = routesOver(
      ["a", "b", "c"].map((id) => aProvider(id)),
      chain,
    );
    const after = (providerId: string, servedModelId: string): string[] =>
      routes.routesAfter({ ...job, providerId, servedModelId }, null).map((route) => route.providerId);
    expect([after("a", "a/v1"), after("b", "b/v1"), after("c", "c/v1"), after("z", "z/v1")]).to.deep.equal([
      ["b", "c"],
      ["c"],
      [],
      ["a", "b", "c"],
    ]);
  });

  it("say whether a provider's jobs have a fallback", () => {
    const routes = routesOver([aProvider("a"), aProvider("b"), aProvider("d")], {
      fallbacks: { "a/v1": ["b/v1"] },
      splits: { stem_split: ["d"], vocal_removal: [] },
    });
    expect(["a", "b", "d", "none"].map((id) => routes.hasFallbacks(id))).to.deep.equal([true, true, false, false]);
  });
});

describe("Routes of a split", () => {
  const job = { kind: "stem_split", modelId: "stem_split", request: { ...REQUEST, prompt: "" } } as const;
  const preferences = { splits: { stem_split: ["own", "any", "off", "url", "cannot"], vocal_removal: [] } };
  const providers = [
    aProvider("any", { stemSplit: { sources: "any" } }),
    aProvider("own", { stemSplit: { sources: "own" } }),
    aProvider("off", { stemSplit: { sources: "any" }, enabled: false }),
    aProvider("url", { stemSplit: { sources: "any", needsUrl: true }, isReachable: false }),
    aProvider("cannot", { vocalRemoval: { sources: "any" } }),
  ];

  it("lead in the order of config to those that are on and can take this track", () => {
    const ids = (origin: string | null): string[] =>
      routesOver(providers, preferences)
        .routesOf(job, aTrack({ origin: origin === null ? null : { providerId: origin, reference: null } }))
        .map(({ providerId, servedModelId, operation }) => `${providerId} ${String(servedModelId)} ${operation}`);
    expect(ids(null)).to.deep.equal(["any null stem_split"]);
    expect(ids("own")).to.deep.equal(["own null stem_split", "any null stem_split"]);
  });

  it("lead nowhere when the track is gone, or has no audio", () => {
    const routes = routesOver(providers, preferences);
    expect([routes.routesOf(job, null), routes.routesOf(job, aTrack({ assets: [] }))]).to.deep.equal([[], []]);
  });

  it("lead to a provider that fetches the file once this installation has a public URL", () => {
    const reachable = providers.map((provider) => ({ ...provider, isReachable: true }));
    expect(
      routesOver(reachable, preferences)
        .routesOf(job, aTrack())
        .map(({ providerId }) => providerId),
    ).to.deep.equal(["any", "url"]);
  });
});

describe("sourceFileOf", () => {
  const mix = anAsset({ sizeBytes: 100, durationSeconds: 30 });
  const master = anAsset({ role: "master", contentType: "audio/wav", sizeBytes: 1_000, durationSeconds: null });

  it("is the lossless copy where the provider takes it, else the mix, else nothing", () => {
    const track = aTrack({ assets: [mix, master] });
    expect(sourceFileOf(track, { sources: "any" })).to.equal(master);
    expect(sourceFileOf(track, { sources: "any", contentTypes: ["audio/mpeg"] })).to.equal(mix);
    expect(sourceFileOf(track, { sources: "any", maxBytes: 999 })).to.equal(mix);
    expect(sourceFileOf(track, { sources: "any", maxSeconds: 10 })).to.equal(master);
    expect(sourceFileOf(aTrack({ assets: [mix] }), { sources: "any", maxSeconds: 29 })).to.equal(null);
    expect(sourceFileOf(track, { sources: "any", contentTypes: ["audio/flac"] })).to.equal(null);
  });
});
