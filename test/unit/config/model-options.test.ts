import { expect } from "chai";
import { models, withGivenModels } from "../../../config/settings/models.js";
import { type ProviderModel, STANDARD_OPTIONS } from "../../../core/ports/music-provider.js";

const weight = { type: "number", minimum: 0, maximum: 1, default: 0.5, description: "How much style." } as const;
const SONG: ProviderModel = {
  ...{ id: "p/song", name: "Song", creditCost: 10, supportsLyrics: true, supportsInstrumental: true, duration: null },
  requestOptions: {
    seed: STANDARD_OPTIONS.seed,
    bpm: STANDARD_OPTIONS.bpm,
    vocal_gender: STANDARD_OPTIONS.vocal_gender,
    weight,
  },
};
const { requestOptions: _none, ...BEAT } = { ...SONG, id: "p/beat" };

const definition = { id: "p", models: [SONG, BEAT] };

type Given = Parameters<typeof withGivenModels>[1][number];
const changed = (
  requestOptions: NonNullable<Given["requestOptions"]>,
  id = "p/song",
): ReturnType<typeof withGivenModels> => withGivenModels(definition, [{ id, requestOptions }]);

describe("Options of models in config", () => {
  it("are removed and narrowed one by one; the others stay", () => {
    const { models: result, issues: found } = changed({
      seed: false,
      bpm: { maximum: 180, default: 120 },
      vocal_gender: { allowed: ["female"] },
      weight: { default: null, description: "Style, from 0 to 1." },
    });
    expect(found).to.deep.equal([]);
    expect(result[0]?.requestOptions).to.deep.equal({
      bpm: { ...STANDARD_OPTIONS.bpm, maximum: 180, default: 120 },
      vocal_gender: { ...STANDARD_OPTIONS.vocal_gender, allowed: ["female"] },
      weight: { type: "number", minimum: 0, maximum: 1, description: "Style, from 0 to 1." },
    });
  });

  it("stay as the plugin has them where the model changes otherwise", () => {
    const { models: result } = withGivenModels(definition, [{ id: "p/song", creditCost: 3 }]);
    expect(result[0]).to.deep.equal({ ...SONG, creditCost: 3 });
  });

  it("are declared whole with a model that the operator adds", () => {
    const added = { id: "p/new", name: "New", creditCost: 1 };
    const { models: result, issues: found } = withGivenModels(definition, [
      { ...added, requestOptions: { weight: { ...weight } } },
    ]);
    expect(found).to.deep.equal([]);
    expect(result.at(-1)?.requestOptions).to.deep.equal({ weight });
    expect(
      withGivenModels(definition, [{ ...added, requestOptions: { weight: { maximum: 1 } } }]).issues,
    ).to.deep.equal([
      "plugins.p.models: p/new requestOptions.weight.type: missing; allowed: integer, number, string, boolean",
    ]);
  });

  const wrong: readonly (readonly [Parameters<typeof changed>[0], string])[] = [
    [
      { tempo: { maximum: 1 } },
      "requestOptions.tempo: not an option of this model; allowed: seed, bpm, vocal_gender, weight",
    ],
    [{ tempo: false }, "requestOptions.tempo: not an option of this model; allowed: seed, bpm, vocal_gender, weight"],
    [{ bpm: { maximum: 400 } }, "requestOptions.bpm.maximum: 400; allowed: 20 to 300"],
    [{ weight: { minimum: -1 } }, "requestOptions.weight.minimum: -1; allowed: 0 to 1"],
    [{ weight: { maximum: 0.4 } }, "requestOptions.weight.default: 0.5; allowed: a number from 0 to 0.4"],
    [{ weight: { type: "integer" } }, "requestOptions.weight.default: 0.5; allowed: a whole number from 0 to 1"],
    [
      { weight: { type: "integer", default: 1 } },
      "requestOptions.weight.type: integer; allowed: number, as the plugin declares it",
    ],
    [
      { vocal_gender: { allowed: ["male", "any"] } },
      'requestOptions.vocal_gender.allowed: "any"; allowed: one of: female, male',
    ],
  ];
  for (const [given, says] of wrong) {
    it(`stop the start with what is wrong, where, and what is allowed: ${says.slice(0, 60)}`, () => {
      expect(changed(given).issues).to.deep.equal([`plugins.p.models: p/song ${says}`]);
    });
  }

  it("cannot be given to a model of the plugin's that declares none", () => {
    expect(changed({ seed: { ...STANDARD_OPTIONS.seed } }, "p/beat").issues).to.deep.equal([
      "plugins.p.models: p/beat requestOptions.seed: not an option of this model; allowed: none",
    ]);
  });

  it("are read from settings by their members alone", () => {
    const accepts = (requestOptions: unknown): boolean =>
      models.options.schema.safeParse([{ id: "p/song", requestOptions }]).success;
    for (const right of [{}, { seed: false }, { bpm: { minimum: 60 } }, { weight: { default: null } }])
      expect(accepts(right), JSON.stringify(right)).to.equal(true);
    for (const bad of [
      null,
      [],
      { seed: true },
      { seed: null },
      { Seed: false },
      { bpm: { min: 60 } },
      { bpm: { minimum: "60" } },
    ])
      expect(accepts(bad), JSON.stringify(bad)).to.equal(false);
  });
});
