import { expect } from "chai";
import type { MusicReference, MusicRequest, ProviderModel } from "../../core/ports/music-provider.js";
import { inputsOf, inputTemplateIssue, type JsonObject, type ReferenceTemplate } from "../../plugins/sdk/index.js";
import { aMusicRequest, aSource } from "../support/provider-kit/index.js";

const MODEL: ProviderModel = {
  id: "host/own",
  name: "Own",
  creditCost: 10,
  supportsLyrics: false,
  supportsInstrumental: true,
  duration: { minSeconds: 1, maxSeconds: 60, defaultSeconds: 20 },
  requestOptions: { seed: { type: "integer", minimum: 0, maximum: 9, description: "Equal seeds give equal music." } },
  upstream: "owner/own",
  options: { prompt: "caption", duration: "seconds", inputs: { seed: "random" }, fixed: { steps: 8 } },
};

type Mode = MusicReference["mode"];

function modelWith(mode: Mode, template: object, capability: object = {}): ProviderModel {
  const references = { [mode]: { sources: "any", maxBytes: 1, ...capability } } as const;
  return { ...MODEL, references, options: { ...MODEL.options, references: { [mode]: template } } };
}

describe("templates of models that work from a track", () => {
  const inputs = (
    mode: Mode,
    template: ReferenceTemplate,
    use: Partial<MusicReference> = {},
    request: Partial<MusicRequest> = {},
  ): JsonObject => {
    const besides = { fromSeconds: null, toSeconds: null, strength: null };
    const reference = { mode, source: aSource({ durationSeconds: 30.4 }), ...besides, ...use };
    const model = modelWith(mode, template);
    return inputsOf(aMusicRequest(model, { prompt: "sea", durationSeconds: null, ...request, reference }));
  };

  it("take from the model's own what they leave out, but for the duration", () => {
    expect(inputs("cover", { source: "song" }, {}, { options: { seed: 7 } })).to.deep.equal({
      ...{ caption: "sea", random: 7, steps: 8 },
    });
    const own = { source: "song", prompt: "style", inputs: { seed: "seed" }, fixed: {} };
    expect(inputs("cover", own, {}, { options: { seed: 7 } })).to.deep.equal({ style: "sea", seed: 7 });
  });

  it("say how long the result is: a cover as asked, else as the track, up to what the model makes", () => {
    const template = { source: "song", duration: "length", fixed: {} };
    expect(inputs("cover", template)).to.deep.equal({ caption: "sea", length: 30.4 });
    expect(inputs("cover", template, {}, { durationSeconds: 12 })).to.include({ length: 12 });
    expect(inputs("cover", template, { source: aSource({ durationSeconds: 90 }) })).to.include({ length: 60 });
    expect(inputs("cover", template, { source: aSource({ durationSeconds: null }) })).to.include({ length: 20 });
    const part = { source: "song", from: "a", to: "b", duration: "length" };
    const use = { fromSeconds: 1, toSeconds: 2 };
    expect(inputs("inpaint", part, use, { durationSeconds: 12 })).to.include({ length: 30.4 });
    expect(inputs("inpaint", part, { source: aSource({ durationSeconds: null }) })).not.to.have.property("length");
  });

  it("say how much is added, or how long the track is then", () => {
    const added = { source: "song", duration: "more", from: "at" };
    expect(inputs("extend", added)).to.include({ more: 20 }).and.not.to.have.property("at");
    const total = { source: "song", total: "length", from: "at" };
    expect(inputs("extend", total)).to.include({ length: 50.4 });
    expect(inputs("extend", total, { fromSeconds: 10 }, { durationSeconds: 8 })).to.include({ at: 10, length: 18 });
    expect(() => inputs("extend", total, { source: aSource({ durationSeconds: null }) })).to.throw(/is not known/);
  });

  it("count in whole seconds, around what is replaced, or in milliseconds", () => {
    const use = { fromSeconds: 4.6, toSeconds: 9.2 };
    const template = { source: "song", from: "a", to: "b", duration: "length" };
    expect(inputs("inpaint", { ...template, wholeSeconds: true }, use)).to.include({ a: 4, b: 10, length: 31 });
    const inMilliseconds = inputs("inpaint", { ...template, durationUnit: "ms" }, use);
    expect(inMilliseconds).to.include({ a: 4_600, b: 9_200, length: 30_400 });
  });

  it("say how much of the track is kept, in the bounds and the direction of the input", () => {
    const sent = (strength: number, template: object): unknown =>
      inputs("cover", { source: "song", strength: { input: "s", ...template } }, { strength })["s"];
    expect([0, 0.3, 1].map((strength) => sent(strength, {}))).to.deep.equal([0, 0.3, 1]);
    expect([0, 0.7, 1].map((strength) => sent(strength, { none: 1, all: 0 }))).to.deep.equal([1, 0.3, 0]);
    expect([0, 0.5, 1].map((strength) => sent(strength, { none: 100, all: 20 }))).to.deep.equal([100, 60, 20]);
    expect(inputs("cover", { source: "song", strength: { input: "s" } })).not.to.have.property("s");
  });

  it("are good as they are documented; operators may leave one whose mode they removed", () => {
    const cover = { source: "song", strength: { input: "s", none: 1, all: 0 }, wholeSeconds: true, upstream: "a/b" };
    expect(inputTemplateIssue(modelWith("cover", cover, { takesStrength: true }))).to.equal(null);
    expect(inputTemplateIssue({ ...modelWith("cover", cover), references: {} })).to.equal(null);
  });

  const at = "options.references";
  for (const [mode, template, issue, capability] of [
    ["cover", { prompt: "style" }, `${at}.cover.source: missing`],
    ["cover", { source: "" }, `${at}.cover.source: allowed: a name`],
    ["cover", { source: "song", sorce: "song" }, `${at}.cover.sorce: there is no such option; allowed: upstream`],
    ["cover", { source: "song", fixed: "x" }, `${at}.cover.fixed: allowed: inputs of the model`],
    ["cover", { source: "song", inputs: { tempo: "bpm" } }, `${at}.cover.inputs.seed: missing`],
    ["cover", { source: "song", total: "length" }, `${at}.cover.total: goes with extend alone`],
    ["cover", { source: "song", wholeSeconds: 1 }, `${at}.cover.wholeSeconds: allowed: true, false`],
    ["cover", { source: "song", strength: "s" }, `${at}.cover.strength: allowed: { input, none, all }`],
    ["cover", { source: "song", strength: { input: "s", most: 1 } }, `${at}.cover.strength: allowed`],
    ["cover", { source: "song" }, `${at}.cover.strength: missing`, { takesStrength: true }],
    ["inpaint", { source: "song", from: "a" }, `${at}.inpaint: needs \`from\` and \`to\``],
    ["extend", { source: "song" }, `${at}.extend: needs \`duration\` or \`total\``],
    ["cover", "song", `${at}.cover: allowed: an object`],
    ["remix", { source: "song" }, `${at}.remix: there is no such mode; allowed: extend, cover, inpaint`],
  ] as readonly (readonly [string, object, string, object?])[]) {
    it(`are refused where they cannot work: ${mode} ${JSON.stringify(template)}`, () => {
      expect(inputTemplateIssue(modelWith(mode as Mode, template, capability))).to.match(
        new RegExp(`^${issue.replace(/[.{}]/g, "\\$&")}`),
      );
    });
  }

  it("are missed for a mode that is declared", () => {
    const { options } = MODEL;
    const model = { ...modelWith("cover", { source: "song" }), options };
    expect(inputTemplateIssue(model)).to.match(/^options\.references\.cover: missing/);
  });
});
