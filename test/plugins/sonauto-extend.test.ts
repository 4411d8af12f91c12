import { expect } from "chai";
import {
  type MusicProvider,
  type MusicReference,
  type MusicRequest,
  ProviderFailure,
  type ProviderModel,
  type SourceAudio,
} from "../../core/ports/music-provider.js";
import definition from "../../plugins/sonauto/index.js";
import {
  aMusicRequest,
  aSource,
  FakeApi,
  json,
  providerHost,
  settingsOf,
  tinyMp3,
} from "../support/provider-kit/index.js";
import { accepts, API_KEY, EXTEND_V2, EXTEND_V3 } from "./sonauto-support.js";

const { signal } = new AbortController();
const TRACK = tinyMp3("to be extended");
const LINK = "https://fermata.example/audio/signed";

describe("sonauto: extending a track", () => {
  let fake: FakeApi;
  beforeEach(async () => {
    fake = await FakeApi.open();
    await accepts(fake);
  });
  afterEach(() => fake.close());

  const open = (): MusicProvider =>
    definition.create(
      providerHost({ settings: settingsOf(definition, { apiKey: API_KEY, baseUrl: `${fake.url}/v1` }) }),
    );
  const model = (version: string): ProviderModel => {
    const found = definition.models.find(({ upstream }) => upstream === version);
    if (found === undefined) throw new Error(`there is no model ${version}`);
    return found;
  };
  const extend = (
    version: string,
    source: Partial<SourceAudio>,
    use: Partial<MusicReference> = {},
    parts: Partial<MusicRequest> = {},
  ): Promise<unknown> => {
    const track = aSource({ durationSeconds: 95.5, ...source }, TRACK);
    const points = { fromSeconds: null, toSeconds: null, strength: null };
    const reference = { mode: "extend", source: track, ...points, ...use } as const;
    const common = { prompt: "a louder verse", lyrics: null, instrumental: true, durationSeconds: null, reference };
    return open().submit(aMusicRequest(model(version), { ...common, ...parts }), { signal });
  };
  const refusal = async (promise: Promise<unknown>): Promise<ProviderFailure> => {
    const outcome = await promise.catch((error: unknown) => error);
    if (!ProviderFailure.is(outcome)) throw new Error(`Expected a failure, and got ${JSON.stringify(outcome)}`);
    return outcome;
  };

  it("gives v3 a link to the track, what is cropped of it, and no length of the song", async () => {
    await extend("v3", { url: LINK }, { fromSeconds: 80.25 }, { options: { prompt_strength: 2 } });
    expect(fake.calls(EXTEND_V3).map((call) => call.json)).to.deep.equal([
      {
        prompt: "a louder verse",
        instrumental: true,
        output_format: "mp3",
        prompt_strength: 2,
        audio_url: LINK,
        crop_duration: 15.25,
      },
    ]);
  });

  it("gives v2 the side, and the track itself where there is no link", async () => {
    const callbackUrl = "https://f.example/cb";
    await extend("v2", {}, {}, { lyrics: "[Verse]\nBoats", instrumental: false, callbackUrl, options: { seed: 7 } });
    expect(fake.calls(EXTEND_V2).map((call) => call.json)).to.deep.equal([
      {
        prompt: "a louder verse",
        instrumental: false,
        lyrics: "[Verse]\nBoats",
        output_format: "mp3",
        num_songs: 1,
        seed: 7,
        audio_base64: Buffer.from(TRACK).toString("base64"),
        side: "right",
        webhook_url: callbackUrl,
      },
    ]);
  });

  it("refuses options that an extension does not take, and starts nothing", async () => {
    const refused = [
      await refusal(extend("v3", { durationSeconds: null }, { fromSeconds: 4 })),
      await refusal(extend("v2", {}, {}, { options: { bpm: 90 } })),
      await refusal(extend("v3", {}, { mode: "cover" })),
      await refusal(extend("v3", {}, {}, { durationSeconds: 60 })),
    ];
    expect(refused.map(({ kind, billable, message }) => [kind, billable, message])).to.deep.equal([
      ["invalid_input", "no", "The length of the track is not known: it can be extended from its end alone."],
      ["invalid_input", "no", "The option bpm does not go with extend."],
      ["invalid_input", "no", "Sonauto has no cover here."],
      ["invalid_input", "no", "A duration does not go with extend: the length of what follows is theirs."],
    ]);
    expect(fake.requests).to.deep.equal([]);
  });

  it("extends a track of unknown length from its end", async () => {
    await extend("v3", { durationSeconds: null });
    expect(fake.calls(EXTEND_V3)[0]?.json).to.not.have.any.keys("crop_duration", "side", "length_range");
  });

  it("keeps the model where an extension is not found, and says that content was refused", async () => {
    for (const [status, detail, kind] of [
      [404, "Not Found", "invalid_input"],
      [405, "Method Not Allowed", "invalid_input"],
      [422, "The audio was refused by moderation", "content_rejected"],
      [402, "Insufficient credits", "out_of_credit"],
    ] as const) {
      fake.on(EXTEND_V3.method, EXTEND_V3.path, json({ detail }, { status }));
      expect((await refusal(extend("v3", {}))).kind, detail).to.equal(kind);
    }
  });
});
