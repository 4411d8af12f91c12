import { expect } from "chai";
import type { ProviderModel } from "../../core/ports/music-provider.js";
import definition from "../../plugins/suno-compatible/index.js";

const model = (id: string, parts: Partial<ProviderModel> = {}): ProviderModel => {
  const found = definition.models.find((candidate) => candidate.id === `suno-compatible/${id}`);
  if (found === undefined) throw new Error(`there is no model ${id}`);
  return { ...found, ...parts };
};

describe("suno-compatible: models", () => {
  it("offers at each vendor the models that it has", () => {
    const offered = (dialect: string): unknown[] =>
      definition.models.filter((own) => definition.offersModel?.(own, { dialect })).map(({ upstream }) => upstream);
    expect(offered("kie.ai")).to.deep.equal(["V6", "V6_WILD", "V6_MINI"]);
    expect(offered("sunoapi.org")).to.deep.equal(definition.models.map(({ upstream }) => upstream));
  });

  it("names what is wrong with a model of the operator's", () => {
    const wrong = (parts: Partial<ProviderModel>): unknown => definition.checkModel?.(model("v5", parts));
    const options = { styleWeight: 0.5, weirdnessConstraint: 1 };
    expect(wrong({ options })).to.equal(null);
    const { upstream: _, ...nameless } = model("v5");
    expect(definition.checkModel?.(nameless)).to.match(/^needs `upstream`/);
    expect(wrong({ duration: { minSeconds: 1, maxSeconds: 2, defaultSeconds: 1 } })).to.match(/^has a `duration`/);
    const timed = model("v6", { duration: { minSeconds: 9, maxSeconds: 360, defaultSeconds: 180 } });
    expect(definition.checkModel?.(timed)).to.equal("has a `duration` outside 10 to 360 seconds");
    const untimed = model("v6", { duration: null });
    expect(definition.checkModel?.(untimed)).to.match(/^needs a `duration` within 10 to 360 seconds/);
    expect(definition.checkModel?.({ ...timed, upstream: "V7", duration: null })).to.equal(null);
    expect(wrong({ promptMaxLength: 1_001 })).to.match(/at most 1000$/);
    expect(wrong({ options: { seed: 1 } })).to.equal("has options.seed; allowed: styleWeight, weirdnessConstraint");
    const written = /^has options.\w+; it is a request option now: requestOptions: { (\w+): { default: \w+ } }$/;
    expect(wrong({ options: { vocalGender: "f" } }))
      .to.match(written)
      .and.include("vocal_gender");
    expect(wrong({ options: { negativeTags: "metal" } }))
      .to.match(written)
      .and.include("negative_prompt");
    const seed = { type: "integer", minimum: 0, maximum: 1, description: "Seed." } as const;
    expect(wrong({ requestOptions: { seed } })).to.equal(
      "has requestOptions.seed; allowed: negative_prompt, vocal_gender",
    );
    const references = { inpaint: { sources: "own" } } as const;
    expect(wrong({ references })).to.equal("has references.inpaint; allowed: extend, cover");
    for (const styleWeight of [1.1, 0.123, "1"])
      expect(wrong({ options: { styleWeight } })).to.match(/styleWeight than 0 to 1/);
  });

  it("works with every model from tracks of eight minutes, which it fetches, with one of them from a minute", () => {
    for (const { id, references } of definition.models) {
      const maxSeconds = id === "suno-compatible/v4.5-all" ? 60 : 480;
      const anyTrack = { sources: "any", needsUrl: true, maxSeconds, takesStrength: true };
      expect(references, id).to.deep.equal({ extend: anyTrack, cover: anyTrack });
    }
  });
});
