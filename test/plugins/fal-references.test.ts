import { expect } from "chai";
import type { MusicReference, MusicRequest, ProviderFailure, ProviderModel } from "../../core/ports/music-provider.js";
import definition from "../../plugins/fal/index.js";
import {
  aMusicRequest,
  aSource,
  FakeApi,
  fault,
  json,
  providerHost,
  settingsOf,
} from "../support/provider-kit/index.js";
import { falHarness, jwks, KEYS_PATH, signed } from "./fal-support.js";

const URL_OF_TRACK = "https://api.example/audio/track.mp3";
const { signal } = new AbortController();
const asFailure = (error: unknown): ProviderFailure => error as ProviderFailure;

const model = (id: string): ProviderModel =>
  definition.models.find((candidate) => candidate.id === `fal/${id}`) as ProviderModel;

/** At an endpoint of another owner, with inputs and an output of its own. */
const OWN: ProviderModel = {
  id: "fal/own",
  name: "Own",
  creditCost: 10,
  supportsLyrics: false,
  supportsInstrumental: true,
  duration: null,
  upstream: "acme/music",
  references: { cover: { sources: "any", needsUrl: true } },
  options: {
    prompt: "prompt",
    output: "audio",
    references: { cover: { upstream: "acme/remix/v2", source: "song", prompt: "style", output: "remix.file" } },
  },
};

const aReference = (mode: MusicReference["mode"], parts: Partial<MusicReference> = {}): MusicReference => ({
  mode,
  source: aSource({ durationSeconds: 95.5, url: URL_OF_TRACK }),
  ...(mode === "inpaint" ? { fromSeconds: 12.4, toSeconds: 20.6 } : { fromSeconds: null, toSeconds: null }),
  strength: null,
  ...parts,
});

describe("fal: tracks to work from", () => {
  let fake: FakeApi;
  beforeEach(async () => {
    fake = await FakeApi.open();
    fake.on("POST", "/*", json({ request_id: "rq", status_url: "/s", response_url: "/r", cancel_url: "/c" }));
  });
  afterEach(() => fake.close());

  const host = (models = definition.models): ReturnType<typeof providerHost> =>
    providerHost({ settings: settingsOf(definition, falHarness.settings(fake)), models });
  const submit = (
    of: ProviderModel,
    reference: MusicReference,
    parts: Partial<MusicRequest> = {},
  ): Promise<unknown> => {
    const besides = { prompt: "sea", lyrics: null, instrumental: true, durationSeconds: null };
    return definition.create(host()).submit(aMusicRequest(of, { ...besides, ...parts, reference }), { signal });
  };

  const audio_url = URL_OF_TRACK;
  for (const [id, path, reference, parts, input] of [
    [
      "ace-step",
      "/fal-ai/ace-step/audio-outpaint",
      aReference("extend"),
      { options: { seed: 7 } },
      { tags: "sea", lyrics: "[inst]", seed: 7, audio_url, extend_after_duration: 60 },
    ],
    [
      "ace-step",
      "/fal-ai/ace-step/audio-outpaint",
      // The end, as it is measured.
      aReference("extend", { fromSeconds: 95.45 }),
      { lyrics: "la", instrumental: false, durationSeconds: 20 },
      { tags: "sea", lyrics: "la", audio_url, extend_after_duration: 20 },
    ],
    [
      "ace-step",
      "/fal-ai/ace-step/audio-inpaint",
      aReference("inpaint"),
      {},
      { tags: "sea", lyrics: "[inst]", audio_url, start_time: 12.4, end_time: 20.6 },
    ],
    [
      "stable-audio-2.5",
      "/fal-ai/stable-audio-25/audio-to-audio",
      aReference("cover", { strength: 1 }),
      {},
      { prompt: "sea", audio_url, total_seconds: 96, strength: 0.01 },
    ],
    [
      "stable-audio-2.5",
      "/fal-ai/stable-audio-25/audio-to-audio",
      aReference("cover"),
      { durationSeconds: 30 },
      { prompt: "sea", audio_url, total_seconds: 30 },
    ],
    [
      "stable-audio-2.5",
      "/fal-ai/stable-audio-25/inpaint",
      aReference("inpaint"),
      { durationSeconds: 30 },
      { prompt: "sea", audio_url, mask_start: 12, mask_end: 21, seconds_total: 96 },
    ],
    [
      "stable-audio-3-medium",
      "/fal-ai/stable-audio-3/medium/audio-outpainting",
      aReference("extend"),
      { options: { negative_prompt: "drums" } },
      { prompt: "sea", negative_prompt: "drums", audio_url, extend_seconds_after: 30 },
    ],
    [
      "stable-audio-3-small",
      "/fal-ai/stable-audio-3/small/music/audio-to-audio",
      aReference("cover", { strength: 0.25 }),
      {},
      { prompt: "sea", audio_url, duration: 95.5, init_noise_level: 0.7525 },
    ],
    [
      "stable-audio-3-small",
      "/fal-ai/stable-audio-3/small/music/audio-inpainting",
      aReference("inpaint"),
      {},
      { prompt: "sea", audio_url, mask_start_seconds: 12.4, mask_end_seconds: 20.6 },
    ],
  ] as const) {
    it(`make ${JSON.stringify(input)} of a request to ${id}`, async () => {
      await submit(model(id), reference, parts);
      expect(fake.calls({ method: "POST", path }).map((request) => request.json)).to.deep.equal([input]);
    });
  }

  it("are part of the request where there is no link to them, within a bound", async () => {
    const content = new TextEncoder().encode("RIFF of a song");
    const source = aSource({ contentType: "audio/wav", durationSeconds: 95.5 }, content);
    await submit(model("ace-step"), aReference("inpaint", { source }));
    const [call] = fake.calls({ method: "POST", path: "/fal-ai/ace-step/audio-inpaint" });
    expect(call?.json).to.include({ audio_url: `data:audio/wav;base64,${Buffer.from(content).toString("base64")}` });
    for (const { references = {} } of definition.models)
      for (const { maxBytes } of Object.values(references)) expect(maxBytes).to.equal(10 * 1024 * 1024);
  });

  it("have a time of their own to be sent in", async () => {
    const path = "/fal-ai/ace-step/audio-inpaint";
    fake.on("POST", path, fault("hang"));
    const settings = { ...falHarness.settings(fake), timeoutMs: 600_000, uploadTimeoutMs: 1_000 };
    const provider = definition.create(providerHost({ settings: settingsOf(definition, settings) }));
    const reference = aReference("inpaint", { source: aSource() });
    const failure = await provider.submit(aMusicRequest(model("ace-step"), { reference }), { signal }).catch(asFailure);
    expect(failure).to.include({ kind: "outcome_unknown", message: "No response in time." });
  });

  it("work at another endpoint with inputs of its own, as an operator says", async () => {
    expect(definition.checkModel?.(OWN)).to.equal(null);
    await submit(OWN, aReference("cover"));
    const [call] = fake.calls({ method: "POST", path: "/acme/remix/v2" });
    expect(call?.json).to.deep.equal({ style: "sea", song: URL_OF_TRACK });
  });

  for (const [what, of, reference] of [
    ["an extension from an earlier point", model("ace-step"), aReference("extend", { fromSeconds: 40 })],
    [
      "an extension from a point of a track of unknown length",
      model("stable-audio-3-small"),
      aReference("extend", { fromSeconds: 40, source: aSource({ url: URL_OF_TRACK, durationSeconds: null }) }),
    ],
    ["a track without a link where one is needed", OWN, aReference("cover", { source: aSource() })],
  ] as const) {
    it(`refuse ${what}, and nothing is sent`, async () => {
      const failure = (await submit(of, reference).catch(asFailure)) as ProviderFailure;
      expect([failure.kind, failure.billable]).to.deep.equal(["invalid_input", "no"]);
      expect(fake.requests).to.have.lengthOf(0);
    });
  }

  it("leave open where lost work is when the modes of its model are at several places", async () => {
    const models = [...definition.models, OWN];
    const tested = host(models);
    const provider = definition.create(tested);
    fake.on("GET", KEYS_PATH, json(jwks));
    const trustOf = async (modelId: string): Promise<unknown> => {
      const body = JSON.stringify({ request_id: "rq-lost", status: "ERROR", payload: {} });
      const sent = signed(body, tested.clock.now());
      const callback = {
        ...{ headers: sent.headers, body: Buffer.from(sent.body), query: {}, receivedAt: tested.clock.now() },
        handle: { version: 0, data: {} },
        request: { operation: "music", modelId },
      } as const;
      return (await provider.parseCallback?.(callback, { signal }))?.trust;
    };
    expect(await trustOf("fal/ace-step")).to.equal("verified");
    expect(await trustOf("fal/own")).to.equal("hint");
  });

  it("are refused in a template that cannot work", () => {
    const issueOf = (parts: Partial<ProviderModel>): unknown => definition.checkModel?.({ ...OWN, ...parts });
    const cover = { source: "song", upstream: "remix" };
    expect(issueOf({ options: { ...OWN.options, references: { cover } } })).to.match(
      /^options\.references\.cover\.upstream: remix; allowed: an endpoint id/,
    );
    expect(issueOf({ references: { cover: { sources: "any" } } })).to.match(
      /^references\.cover: needs `maxBytes` of at most 10485760, or `needsUrl: true`$/,
    );
  });
});
