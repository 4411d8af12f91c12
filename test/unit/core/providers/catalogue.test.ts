import { expect } from "chai";
import { InvalidModelError, InvalidRequestError, ModelNotFoundError } from "../../../../core/errors.js";
import { Catalogue, checkModelBounds, type Model } from "../../../../core/providers/catalogue.js";

const NOTE = "\u{1f3b5}";

function aModel(overrides: Partial<Model> = {}): Model {
  return {
    id: "synth/v1",
    name: "Synth",
    creditCost: 5,
    supportsLyrics: true,
    supportsInstrumental: true,
    duration: { minSeconds: 10, maxSeconds: 60, defaultSeconds: 30 },
    providerId: "synth",
    providerLabel: "Synth",
    ...overrides,
  };
}

const PLAIN = { prompt: "rain", lyrics: null, durationSeconds: null, instrumental: false, options: {} };

function messagesOf(
  model: Model,
  request: Partial<typeof PLAIN | { prompt: string; lyrics: string; durationSeconds: number; instrumental: boolean }>,
): string[] {
  try {
    checkModelBounds(model, { ...PLAIN, ...request });
    return [];
  } catch (error) {
    if (!(error instanceof InvalidRequestError)) throw error;
    return error.details.issues.map(({ path, message }) => `${path} ${message}`);
  }
}

describe("checkModelBounds", () => {
  it("asks nothing of a request that leaves everything to the model", () => {
    expect(
      messagesOf(aModel({ supportsLyrics: false, supportsInstrumental: false, duration: null }), {}),
    ).to.deep.equal([]);
  });

  for (const [seconds, fits] of [
    [9, false],
    [10, true],
    [60, true],
    [61, false],
    [0, false],
    [-1, false],
  ] as const) {
    it(`${fits ? "takes" : "refuses"} ${seconds} s for a model of 10 to 60 s`, () => {
      const message = "body.duration must be 10 to 60 seconds for synth/v1";
      expect(messagesOf(aModel(), { durationSeconds: seconds })).to.deep.equal(fits ? [] : [message]);
    });
  }

  it("refuses any duration for a model that chooses its own", () => {
    expect(messagesOf(aModel({ duration: null }), { durationSeconds: 30 })).to.deep.equal([
      "body.duration cannot be chosen for synth/v1",
    ]);
  });

  it("refuses lyrics for a model without, whatever their length, the empty text too", () => {
    for (const lyrics of ["", "la", "a".repeat(20_000)]) {
      expect(messagesOf(aModel({ supportsLyrics: false }), { lyrics })).to.deep.equal([
        "body.lyrics are not supported by synth/v1",
      ]);
    }
  });

  it("counts lyrics in code points up to the model's own bound", () => {
    const model = aModel({ lyricsMaxLength: 4 });
    expect(messagesOf(model, { lyrics: NOTE.repeat(4) })).to.deep.equal([]);
    expect(messagesOf(model, { lyrics: NOTE.repeat(5) })).to.deep.equal([
      "body.lyrics must have at most 4 characters for synth/v1",
    ]);
  });

  it("allows no model more than 10,000 characters of lyrics", () => {
    for (const model of [aModel(), aModel({ lyricsMaxLength: 50_000 })]) {
      expect(messagesOf(model, { lyrics: "a".repeat(10_000) })).to.deep.equal([]);
      expect(messagesOf(model, { lyrics: "a".repeat(10_001) })).to.have.length(1);
    }
  });

  it("refuses an instrumental of a model that always sings", () => {
    expect(messagesOf(aModel({ supportsInstrumental: false }), { instrumental: true })).to.deep.equal([
      "body.instrumental must not be true for synth/v1",
    ]);
  });

  it("names every field at once", () => {
    const none = aModel({ supportsLyrics: false, supportsInstrumental: false, duration: null });
    expect(messagesOf(none, { lyrics: "la", instrumental: true, durationSeconds: 30 })).to.have.length(3);
  });
});

describe("Catalogue", () => {
  const { providerId: _providerId, providerLabel: _providerLabel, ...model } = aModel();
  const catalogue = new Catalogue([
    { id: "synth", label: "Synth", enabled: true, isReachable: false, models: [model, { ...model, id: "synth/v2" }] },
    { id: "off", label: "Switched off", enabled: false, isReachable: false, models: [{ ...model, id: "off/v1" }] },
  ]);

  it("holds the models of all providers in the order of config, those of switched-off ones too", () => {
    expect(catalogue.models.map(({ id }) => id)).to.deep.equal(["synth/v1", "synth/v2", "off/v1"]);
    expect(catalogue.get("off/v1")).to.include({ providerId: "off", providerLabel: "Switched off" });
    expect([catalogue.isEnabled("synth"), catalogue.isEnabled("off"), catalogue.isEnabled("none")]).to.deep.equal([
      true,
      false,
      false,
    ]);
  });

  it("refuses an unknown model with the error of the place that named it", () => {
    for (const id of ["synth/v3", "SYNTH/V1", "", "constructor"]) {
      expect(() => catalogue.get(id)).to.throw(ModelNotFoundError);
      expect(() => catalogue.requested(id)).to.throw(InvalidModelError);
    }
    expect(catalogue.requested("synth/v2")).to.equal(catalogue.get("synth/v2"));
  });
});
