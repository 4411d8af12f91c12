import { expect } from "chai";
import type { MusicReference, MusicRequest, ProviderModel } from "../../core/ports/music-provider.js";
import definition from "../../plugins/ace-step/index.js";
import { aSource, type FakeRequest } from "../support/provider-kit/index.js";
import { AceStepBench, aModel, failureOf } from "./ace-step-bench.js";
import { API_KEY, MODEL, SUBMIT } from "./ace-step-support.js";

const SONG = new TextEncoder().encode("fLaC of a song");

const aReference = (parts: Partial<MusicReference> = {}): MusicReference => ({
  mode: "cover",
  source: aSource({ contentType: "audio/flac", durationSeconds: 95.5 }, SONG),
  ...{ fromSeconds: null, toSeconds: null, strength: null },
  ...parts,
});

describe("ace-step: tracks to work from", () => {
  let bench: AceStepBench;
  beforeEach(async () => {
    bench = await AceStepBench.open();
  });
  afterEach(() => bench.close());

  const submitted = async (
    parts: Partial<MusicReference>,
    request: Partial<MusicRequest> = {},
    model?: ProviderModel,
  ): Promise<FakeRequest> => {
    const song = { prompt: "folk", lyrics: "la", durationSeconds: null };
    await bench.accepted(model, { ...song, ...request, reference: aReference(parts) });
    const [call, ...others] = bench.fake.calls(SUBMIT);
    if (call === undefined || others.length > 0) throw new Error("there is to be one submission");
    return call;
  };
  const fieldsOf = ({ fields }: FakeRequest): Record<string, unknown> =>
    Object.fromEntries(fields.filter(({ value }) => typeof value === "string").map(({ name, value }) => [name, value]));
  const pointsOf = (call: FakeRequest): unknown[] =>
    ["task_type", "repainting_start", "repainting_end"].map((name) => call.field(name));

  it("are sent as a file of a form, with the fields of a task as text", async () => {
    const call = await submitted({ strength: 0.4 }, { options: { seed: 7, bpm: 92 } });
    expect(call.headers["authorization"]).to.equal(`Bearer ${API_KEY}`);
    expect(call.field("src_audio")).to.deep.equal({
      filename: "track.flac",
      contentType: "audio/flac",
      bytes: SONG,
    });
    expect(fieldsOf(call)).to.deep.equal({
      prompt: "folk",
      lyrics: "la",
      task_type: "cover",
      audio_cover_strength: "0.4",
      batch_size: "1",
      audio_format: "flac",
      model: MODEL,
      thinking: "false",
      bpm: "92",
      use_random_seed: "false",
      seed: "7",
    });
  });

  it("give a cover its length, whatever the request says, and leave the strength to the server", async () => {
    const call = await submitted({}, { durationSeconds: 30 }, aModel({ options: { thinking: true } }));
    expect(fieldsOf(call)).to.not.have.any.keys("audio_duration", "audio_cover_strength", "repainting_start");
    expect(call.field("thinking")).to.equal("false");
  });

  it("are repainted in a part", async () => {
    const call = await submitted({ mode: "inpaint", fromSeconds: 0, toSeconds: 12.25 });
    expect(pointsOf(call)).to.deep.equal(["repaint", "0", "12.25"]);
    expect(call.field("audio_duration")).to.equal(undefined);
  });

  for (const [what, use, request, points] of [
    ["by a part behind its end", {}, { durationSeconds: 30 }, ["repaint", "95.5", "125.5"]],
    ["by no more than the model is made for", {}, {}, ["repaint", "95.5", "185.5"]],
    ["from an earlier point", { fromSeconds: 80 }, { durationSeconds: 30 }, ["repaint", "80", "110"]],
    // What follows the part would stay as it was.
    [
      "from an earlier point, to its end at least",
      { fromSeconds: 20 },
      { durationSeconds: 30 },
      ["repaint", "20", "95.5"],
    ],
  ] as const) {
    it(`are extended ${what}`, async () => {
      expect(pointsOf(await submitted({ mode: "extend", ...use }, request))).to.deep.equal(points);
    });
  }

  for (const [what, parts, request] of [
    ["whose length is not known", { mode: "extend", source: aSource({ durationSeconds: null }) }, {}],
    ["that would get longer than 600 s", { mode: "extend" }, { durationSeconds: 505 }],
  ] as const) {
    it(`are not extended ${what}`, async () => {
      const failure = await failureOf(submitted(parts, request));
      expect([failure.kind, failure.billable]).to.deep.equal(["invalid_input", "no"]);
      expect(bench.fake.requests).to.have.lengthOf(0);
    });
  }

  it("that cannot be read are tried again, and nothing is sent", async () => {
    const source = aSource({
      open: async function* () {
        yield SONG;
        throw new Error("the disk is away");
      },
    });
    const failure = await failureOf(submitted({ source }));
    expect([failure.kind, failure.billable]).to.deep.equal(["unavailable", "no"]);
    expect(bench.fake.requests).to.have.lengthOf(0);
  });

  it("may be declared for an operator's model, within what is taken", () => {
    const { references } = aModel();
    const issueOf = (declared: ProviderModel["references"]): string | null | undefined =>
      definition.checkModel?.(aModel({ id: "ace-step/own", references: declared }));
    expect(issueOf(references)).to.equal(null);
    expect(issueOf({ inpaint: { sources: "any", maxBytes: 1, takesStrength: true } })).to.match(
      /^has references\.inpaint\.takesStrength: only a cover/,
    );
    expect(issueOf({ cover: { sources: "any", maxBytes: 1e9 } })).to.match(/^needs references\.cover\.maxBytes of at/);
    expect(issueOf({ cover: { sources: "any" } })).to.match(/^needs references\.cover\.maxBytes of at most 67108864$/);
  });
});
