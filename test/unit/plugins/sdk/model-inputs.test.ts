import { expect } from "chai";
import {
  inputsOf,
  inputTemplateIssue,
  inputTemplateOf,
  type MusicRequest,
  type ProviderModel,
} from "../../../../plugins/sdk/index.js";
import { aMusicRequest } from "../../../support/provider-kit/index.js";

/** With everything that a template can say. */
const MODEL: ProviderModel = {
  id: "hosted/own",
  name: "Own",
  creditCost: 10,
  supportsLyrics: true,
  supportsInstrumental: true,
  duration: { minSeconds: 1, maxSeconds: 60, defaultSeconds: 20 },
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

describe("Input templates of hosted models", () => {
  const sent = (members: Partial<MusicRequest>, model = MODEL): unknown =>
    inputsOf(
      aMusicRequest(model, { prompt: "sea", lyrics: null, durationSeconds: null, instrumental: false, ...members }),
    );

  it("name the inputs, with the duration in its unit", () => {
    expect(sent({ lyrics: "la", durationSeconds: 2 })).to.deep.equal({
      steps: 8,
      caption: "sea",
      length_ms: 2_000,
      words: "la",
    });
    const inSeconds = { ...MODEL, options: { prompt: "prompt", duration: "seconds" } };
    expect(sent({ lyrics: "la", durationSeconds: 2 }, inSeconds)).to.deep.equal({ prompt: "sea", seconds: 2 });
  });

  it("send the model's default duration where the caller names none", () => {
    expect(sent({ lyrics: "la" })).to.deep.equal({ steps: 8, caption: "sea", length_ms: 20_000, words: "la" });
    expect(sent({ lyrics: "la" }, { ...MODEL, duration: null })).to.deep.equal({
      steps: 8,
      caption: "sea",
      words: "la",
    });
  });

  it("add inputs to instrumental requests, and to requests that are neither instrumental nor have lyrics", () => {
    const two = { durationSeconds: 2 };
    expect(sent({ ...two, instrumental: true })).to.deep.equal({
      steps: 8,
      caption: "sea",
      length_ms: 2_000,
      words: "[inst]",
    });
    expect(sent(two)).to.deep.equal({ steps: 8, caption: "sea", length_ms: 2_000, write: true });
  });

  it("name the path to the files in the output", () => {
    expect(inputTemplateOf(MODEL).output).to.equal("result.0");
  });

  for (const [changes, issue] of [
    [{ options: {} }, /^options\.prompt: missing/],
    [{ options: { prompt: "prompt" } }, /^options\.lyrics: missing/],
    [{ options: { prompt: "prompt", lyrics: "lyrics" } }, /^options\.duration: missing/],
    [{ options: { ...MODEL.options, promt: "x" } }, /^options\.promt: there is no such option; allowed: prompt, /],
    [{ options: { ...MODEL.options, fixed: "x" } }, /^options\.fixed: allowed: inputs/],
    [{ options: { ...MODEL.options, instrumental: ["x"] } }, /^options\.instrumental: allowed: inputs/],
    [{ options: { ...MODEL.options, output: 0 } }, /^options\.output: allowed: a name/],
    [{ options: { ...MODEL.options, lyrics: "" } }, /^options\.lyrics: allowed: a name/],
    [{ options: { ...MODEL.options, durationUnit: "min" } }, /^options\.durationUnit: allowed: s, ms/],
  ] as const) {
    it(`are refused where they cannot work: ${JSON.stringify(changes)}`, () => {
      expect(inputTemplateIssue({ ...MODEL, ...changes })).to.match(issue);
    });
  }

  it("are accepted with everything, and without inputs that the model does not need", () => {
    expect(inputTemplateIssue(MODEL)).to.equal(null);
    expect(
      inputTemplateIssue({ ...MODEL, supportsLyrics: false, duration: null, options: { prompt: "prompt" } }),
    ).to.equal(null);
  });
});
