import { expect } from "chai";
import { liveGenerationOf } from "../../../../core/live-check/live-generation.js";
import { STANDARD_OPTIONS, type ProviderModel } from "../../../../core/ports/music-provider.js";
import { checkModelBounds } from "../../../../core/providers/catalogue.js";
import { BUILT_IN } from "../../../../config/plugins.js";

function aModel(name: string, changes: Partial<ProviderModel> = {}): ProviderModel {
  const supports = { supportsLyrics: true, supportsInstrumental: true };
  return { id: `owl/${name}`, name, creditCost: 10, ...supports, duration: null, ...changes };
}

const usd = (amount: number): Partial<ProviderModel> => ({ upstreamCost: { amount, unit: "USD" } });

describe("The generation of a live check", () => {
  it("is of the model that costs least at the provider, where all models say so in one unit", () => {
    const models = [aModel("a", { creditCost: 1, ...usd(0.9) }), aModel("b", usd(0.1)), aModel("c", usd(0.5))];
    const generation = liveGenerationOf(models, null);
    expect(generation?.model.id).to.equal("owl/b");
    expect(generation?.expectedCost).to.deep.equal({ amount: 0.1, unit: "USD" });
  });

  it("is of the fewest credits where costs cannot be compared, then the shortest, then the first", () => {
    const minutes = { upstreamCost: { amount: 0, unit: "minutes" } };
    const duration = { minSeconds: 5, maxSeconds: 60, defaultSeconds: 30 };
    const models = [aModel("a", usd(0.1)), aModel("b", { creditCost: 4, ...minutes }), aModel("c", { creditCost: 4 })];
    expect(liveGenerationOf(models, null)?.model.id).to.equal("owl/b");
    expect(liveGenerationOf([...models, aModel("d", { creditCost: 4, duration })], null)?.model.id).to.equal("owl/d");
    expect(liveGenerationOf(models, null)?.expectedCost).to.deep.equal({ amount: 0, unit: "minutes" });
    expect(liveGenerationOf([aModel("a")], null)?.expectedCost).to.equal(null);
  });

  it("is of the named model; another one is refused with those that there are", () => {
    const models = [aModel("a"), aModel("b", { creditCost: 99 })];
    expect(liveGenerationOf(models, "owl/b")?.model.id).to.equal("owl/b");
    const refused = 'There is no model "owl/c" of this plugin';
    expect(() => liveGenerationOf(models, "owl/c")).to.throw(`${refused}; allowed: owl/a, owl/b.`);
    expect(() => liveGenerationOf([], "owl/c")).to.throw(`${refused}; it has none.`);
  });

  it("is null where there are no models", () => {
    expect(liveGenerationOf([], null)).to.equal(null);
  });

  it("is as short as the model takes, instrumental where that is possible, with declared defaults of options", () => {
    const duration = { minSeconds: 7, maxSeconds: 60, defaultSeconds: 30 };
    const requestOptions = { bpm: { ...STANDARD_OPTIONS.bpm, default: 90 }, seed: STANDARD_OPTIONS.seed };
    const request = liveGenerationOf([aModel("a", { duration, requestOptions })], null)?.request;
    expect(request).to.deep.include({ durationSeconds: 7, instrumental: true, lyrics: null, options: { bpm: 90 } });
  });

  it("has two lines of lyrics, within the model's bounds, where the model only sings", () => {
    const limits = { supportsInstrumental: false, requiresLyrics: true, lyricsMaxLength: 20, promptMaxLength: 10 };
    const request = liveGenerationOf([aModel("a", limits)], null)?.request;
    expect(request).to.deep.include({ instrumental: false, lyrics: "[Verse]\nRain on the ", prompt: "calm solo " });
  });

  it("is a request that every model of every built-in plugin takes", async () => {
    for (const load of Object.values(BUILT_IN)) {
      const { models } = (await load()).default;
      for (const { id } of models) {
        const generation = liveGenerationOf(models, id);
        if (generation === null) throw new Error(`There is no generation of ${id}.`);
        checkModelBounds({ ...generation.model, providerId: "owl", providerLabel: "Owl" }, generation.request);
      }
    }
  });
});
