import { expect } from "chai";
import { InvalidRequestError } from "../../core/errors.js";
import { checkModelBounds, type Model } from "../../core/providers/catalogue.js";
import type { MusicRequest, ProviderModel } from "../../core/ports/music-provider.js";
import definition from "../../plugins/fal/index.js";
import { aMusicRequest, FakeApi, json, providerHost, settingsOf } from "../support/provider-kit/index.js";
import { falHarness } from "./fal-support.js";

const aceStep = definition.models.find(({ id }) => id === "fal/ace-step") as ProviderModel;

describe("fal: options of a model", () => {
  const song: Partial<MusicRequest> = { prompt: "sea", lyrics: "la", durationSeconds: null };
  const tune: Partial<MusicRequest> = { prompt: "sea", lyrics: null, instrumental: true, durationSeconds: null };
  const open: Partial<MusicRequest> = { prompt: "sea", lyrics: null, instrumental: false, durationSeconds: null };
  for (const [id, path, parts, input] of [
    ["minimax-music-2.6", "/fal-ai/minimax-music/v2.6", song, { prompt: "sea", lyrics: "la" }],
    ["minimax-music-2.6", "/fal-ai/minimax-music/v2.6", tune, { prompt: "sea", is_instrumental: true }],
    ["minimax-music-2.5", "/fal-ai/minimax-music/v2.5", open, { prompt: "sea", lyrics_optimizer: true }],
    ["minimax-music-2", "/fal-ai/minimax-music/v2", song, { prompt: "sea", lyrics_prompt: "la" }],
    [
      "elevenlabs-music",
      "/fal-ai/elevenlabs/music",
      { ...tune, durationSeconds: 45 },
      { prompt: "sea", music_length_ms: 45_000, force_instrumental: true, output_format: "mp3_44100_128" },
    ],
    [
      "stable-audio-2.5",
      "/fal-ai/stable-audio-25/text-to-audio",
      { ...tune, durationSeconds: 45 },
      { prompt: "sea", seconds_total: 45 },
    ],
    ["ace-step", "/fal-ai/ace-step", { ...song, durationSeconds: 45 }, { tags: "sea", lyrics: "la", duration: 45 }],
    ["ace-step", "/fal-ai/ace-step", tune, { tags: "sea", lyrics: "[inst]", duration: 60 }],
    [
      "elevenlabs-music",
      "/fal-ai/elevenlabs/music",
      open,
      { prompt: "sea", music_length_ms: 60_000, output_format: "mp3_44100_128" },
    ],
    ["stable-audio-2.5", "/fal-ai/stable-audio-25/text-to-audio", open, { prompt: "sea", seconds_total: 190 }],
    ["stable-audio-3-medium", "/fal-ai/stable-audio-3/medium/text-to-audio", tune, { prompt: "sea", duration: 30 }],
    [
      "stable-audio-3-small",
      "/fal-ai/stable-audio-3/small/music/text-to-audio",
      { ...tune, durationSeconds: 45 },
      { prompt: "sea", duration: 45 },
    ],
    ["lyria-2", "/fal-ai/lyria2", tune, { prompt: "sea" }],
    [
      "lyria-2",
      "/fal-ai/lyria2",
      { ...tune, options: { seed: 0, negative_prompt: "drums" } },
      { prompt: "sea", seed: 0, negative_prompt: "drums" },
    ],
    [
      "ace-step",
      "/fal-ai/ace-step",
      { ...tune, options: { seed: 7 } },
      { tags: "sea", lyrics: "[inst]", duration: 60, seed: 7 },
    ],
    ["lyria-3", "/fal-ai/lyria3", open, { prompt: "sea" }],
    ["lyria-3-pro", "/fal-ai/lyria3/pro", open, { prompt: "sea" }],
    ["sonilo-1.1", "/sonilo/v1.1/text-to-music", open, { prompt: "sea", duration: 90 }],
  ] as const) {
    it(`make ${JSON.stringify(input)} of a request to ${id}`, async () => {
      const model = definition.models.find((candidate) => candidate.id === `fal/${id}`) as ProviderModel;
      const fake = await FakeApi.open();
      try {
        fake.on("POST", "/*", json({ request_id: "rq", status_url: "/s", response_url: "/r", cancel_url: "/c" }));
        const provider = definition.create(
          providerHost({ settings: settingsOf(definition, falHarness.settings(fake)) }),
        );
        await provider.submit(aMusicRequest(model, parts), { signal: new AbortController().signal });
        expect(fake.calls({ method: "POST", path }).map((request) => request.json)).to.deep.equal([input]);
      } finally {
        await fake.close();
      }
    });
  }

  it("ask for the lyrics of a song by ACE-Step, which sings nothing without them", () => {
    const model: Model = { ...aceStep, providerId: "fal", providerLabel: "fal" };
    const request = { prompt: "sea", lyrics: null, durationSeconds: null, options: {} };
    expect(() => checkModelBounds(model, { ...request, instrumental: false })).to.throw(InvalidRequestError);
    expect(() => checkModelBounds(model, { ...request, instrumental: true })).not.to.throw();
    expect(() => checkModelBounds(model, { ...request, lyrics: "la", instrumental: false })).not.to.throw();
  });

  for (const [parts, issue] of [
    [{ upstream: undefined }, /^upstream: missing; allowed: an endpoint id/],
    [{ upstream: "https://fal.run/fal-ai/ace-step" }, /^upstream: https/],
    [{ upstream: "fal-ai/ace-step?x=1" }, /^upstream: fal-ai/],
    [{ options: {} }, /^options\.prompt: missing/],
    [{ options: { prompt: "prompt" } }, /^options\.lyrics: missing/],
    [{ options: { prompt: "prompt", lyrics: "lyrics" } }, /^options\.duration: missing/],
    [{ options: { ...aceStep.options, promt: "x" } }, /^options\.promt: there is no such option; allowed: prompt, /],
    [{ options: { ...aceStep.options, inputs: {} } }, /^options\.inputs\.seed: missing/],
    [{ options: { ...aceStep.options, fixed: [] } }, /^options\.fixed: allowed: inputs/],
    [{ options: { ...aceStep.options, output: "" } }, /^options\.output: allowed: a name/],
    [{ options: { ...aceStep.options, durationUnit: "min" } }, /^options\.durationUnit: allowed: s, ms/],
  ] as const) {
    it(`are refused where they cannot work: ${JSON.stringify(parts)}`, () => {
      expect(definition.checkModel?.({ ...aceStep, ...parts })).to.match(issue);
    });
  }
});
