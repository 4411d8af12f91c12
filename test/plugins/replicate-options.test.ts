import { expect } from "chai";
import type { MusicRequest, ProviderModel } from "../../core/ports/music-provider.js";
import definition from "../../plugins/replicate/index.js";
import { inputsOf } from "../../plugins/sdk/index.js";
import { aMusicRequest } from "../support/provider-kit/index.js";

/** With everything that an option can say. */
const OWN: ProviderModel = {
  id: "replicate/own",
  name: "Own",
  creditCost: 10,
  supportsLyrics: true,
  supportsInstrumental: true,
  duration: { minSeconds: 1, maxSeconds: 60, defaultSeconds: 20 },
  upstream: "a".repeat(64),
  options: {
    prompt: "caption",
    lyrics: "words",
    duration: "length_ms",
    durationUnit: "ms",
    fixed: { steps: 8 },
    instrumental: { words: "[inst]" },
    wordless: { write: true },
    output: "result.0",
  },
};

describe("replicate: options of a model", () => {
  const sent = (parts: Partial<MusicRequest>): unknown =>
    inputsOf(aMusicRequest(OWN, { prompt: "sea", lyrics: null, durationSeconds: null, instrumental: false, ...parts }));

  it("name its inputs, with the duration in its unit", () => {
    expect(sent({ lyrics: "la", durationSeconds: 2 })).to.deep.equal({
      steps: 8,
      caption: "sea",
      length_ms: 2_000,
      words: "la",
    });
  });

  it("say what else goes with instrumental music, and with music that has neither lyrics nor that option", () => {
    expect(sent({ instrumental: true })).to.deep.equal({
      steps: 8,
      caption: "sea",
      length_ms: 20_000,
      words: "[inst]",
    });
    expect(sent({})).to.deep.equal({ steps: 8, caption: "sea", length_ms: 20_000, write: true });
  });

  it("always say to ElevenLabs whether voices are wanted, which would leave them out", () => {
    const model = (id: string): ProviderModel =>
      definition.models.find((candidate) => candidate.id === `replicate/${id}`) as ProviderModel;
    const input = (id: string, parts: Partial<MusicRequest>): unknown =>
      inputsOf(aMusicRequest(model(id), { prompt: "rain", lyrics: null, durationSeconds: null, ...parts }));
    expect(model("elevenlabs-music").upstream).to.equal("elevenlabs/music");
    expect(input("elevenlabs-music", { instrumental: false })).to.deep.equal({
      prompt: "rain",
      music_length_ms: 60_000,
      force_instrumental: false,
    });
    expect(input("elevenlabs-music", { durationSeconds: 45, instrumental: true })).to.deep.equal({
      prompt: "rain",
      music_length_ms: 45_000,
      force_instrumental: true,
    });
    expect(model("lyria-2").upstream).to.equal("google/lyria-2");
    expect(input("lyria-2", { instrumental: true })).to.deep.equal({ prompt: "rain" });
  });

  it("name the inputs of request options", () => {
    const model = definition.models.find(({ id }) => id === "replicate/lyria-2") as ProviderModel;
    const options = { seed: 7, negative_prompt: "drums" };
    expect(inputsOf(aMusicRequest(model, { prompt: "rain", options }))).to.deep.equal({ prompt: "rain", ...options });
  });

  it("send the duration that the table of models names where the caller names none", () => {
    const input = inputsOf(aMusicRequest({ ...OWN, duration: null }, { lyrics: null, durationSeconds: null }));
    expect(input).not.to.have.property("length_ms");
    for (const model of definition.models) {
      const { duration, options = {} } = model;
      const inputs = inputsOf(aMusicRequest(model, { durationSeconds: null }));
      const name = options["duration"] as string | undefined;
      const factor = options["durationUnit"] === "ms" ? 1_000 : 1;
      if (duration === null) expect(name, model.id).to.equal(undefined);
      else expect(inputs[name ?? ""], model.id).to.equal(duration.defaultSeconds * factor);
    }
  });

  for (const [parts, issue] of [
    [{ upstream: undefined }, /^upstream: missing; allowed: owner\/name/],
    [{ upstream: "https://replicate.com/meta/musicgen" }, /^upstream: https/],
    [{ options: {} }, /^options\.prompt: missing/],
    [{ options: { prompt: "prompt" } }, /^options\.lyrics: missing/],
    [{ options: { prompt: "prompt", lyrics: "lyrics" } }, /^options\.duration: missing/],
    [{ options: { ...OWN.options, promt: "x" } }, /^options\.promt: there is no such option; allowed: prompt, /],
    [{ options: { ...OWN.options, fixed: "x" } }, /^options\.fixed: allowed: inputs/],
    [{ options: { ...OWN.options, instrumental: ["x"] } }, /^options\.instrumental: allowed: inputs/],
    [{ options: { ...OWN.options, output: 0 } }, /^options\.output: allowed: a name/],
    [{ options: { ...OWN.options, lyrics: "" } }, /^options\.lyrics: allowed: a name/],
    [{ options: { ...OWN.options, durationUnit: "min" } }, /^options\.durationUnit: allowed: s, ms/],
  ] as const) {
    it(`are refused where they cannot work: ${JSON.stringify(parts)}`, () => {
      expect(definition.checkModel?.({ ...OWN, ...parts })).to.match(issue);
    });
  }

  it("are good as the models have them", () => {
    for (const model of [...definition.models, OWN]) expect(definition.checkModel?.(model), model.id).to.equal(null);
  });
});
