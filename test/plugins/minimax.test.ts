import { expect } from "chai";
import { ProviderFailure } from "../../core/ports/music-provider.js";
import type {
  Completed,
  MusicProvider,
  MusicRequest,
  ProviderHost,
  ProviderModel,
} from "../../core/ports/music-provider.js";
import definition from "../../plugins/minimax/index.js";
import { musicProviderContract } from "../contract/music-provider.contract.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { aMusicRequest, FakeApi, json, providerHost, settingsOf, tinyMp3 } from "../support/provider-kit/index.js";
import { answered, API_KEY, GENERATE, miniMaxHarness, refusal } from "./minimax-support.js";

musicProviderContract("minimax", miniMaxHarness);

const { signal } = new AbortController();
const DAY_MS = 86_400_000;

describe("minimax", () => {
  let fake: FakeApi;
  let clock: ManualClock;
  beforeEach(async () => {
    fake = await FakeApi.open();
    clock = new ManualClock();
    fake.on(GENERATE.method, GENERATE.path, json(answered("https://cdn.example/x.mp3")));
  });
  afterEach(() => fake.close());

  const open = (settings: ProviderHost["settings"] = {}): MusicProvider =>
    definition.create(
      providerHost({
        clock,
        settings: settingsOf(definition, { apiKey: API_KEY, baseUrl: `${fake.url}/`, ...settings }),
      }),
    );
  const model = (id: string): ProviderModel => {
    const found = definition.models.find((candidate) => candidate.id === `minimax/${id}`);
    if (found === undefined) throw new Error(`there is no model ${id}`);
    return found;
  };
  const submitted = async (
    parts: Partial<MusicRequest> = {},
    settings: ProviderHost["settings"] = {},
  ): Promise<Completed> => {
    const request = aMusicRequest(model("music-2.6"), { prompt: "Indie folk, 92 BPM", ...parts });
    return (await open(settings).submit(request, { signal })) as Completed;
  };
  const failureOf = async (promise: Promise<unknown>): Promise<ProviderFailure> => {
    const response = await promise.catch((error: unknown) => error);
    if (!ProviderFailure.is(response)) throw new Error(`Expected a failure, and got ${JSON.stringify(response)}`);
    return response;
  };
  const responses = (body: object): void => void fake.on(GENERATE.method, GENERATE.path, json(body));

  describe("what is sent", () => {
    const body = {
      model: "music-2.6",
      prompt: "Indie folk, 92 BPM",
      audio_setting: { format: "mp3", sample_rate: 44_100, bitrate: 256_000 },
      output_format: "url",
    };

    it("has the lyrics, the option for none, or the option for some of its own: never two of them", async () => {
      await submitted({ lyrics: "[Verse]\r\nOld coat on the door\n", instrumental: false });
      await submitted({ lyrics: null, instrumental: true });
      await submitted({ lyrics: null, instrumental: false });
      await submitted({ lyrics: " ", instrumental: false });
      expect(fake.calls(GENERATE).map((request) => request.json)).to.deep.equal([
        { ...body, lyrics: "[Verse]\nOld coat on the door" },
        { ...body, is_instrumental: true },
        { ...body, lyrics_optimizer: true },
        { ...body, lyrics_optimizer: true },
      ]);
      expect(fake.calls(GENERATE)[0]?.headers).to.include({
        authorization: `Bearer ${API_KEY}`,
        "content-type": "application/json",
      });
    });

    it("asks for the kind of file and the way that the settings name", async () => {
      await submitted({}, { audioFormat: "wav", delivery: "hex" });
      expect(fake.calls(GENERATE)[0]?.json).to.deep.include({
        audio_setting: { format: "wav", sample_rate: 44_100 },
        output_format: "hex",
      });
    });

    it("calls every model as MiniMax does", async () => {
      const names = ["music-3.0", "music-2.6", "music-2.5-plus", "music-2.5", "music-2.0"];
      for (const name of names) await open().submit(aMusicRequest(model(name)), { signal });
      expect(fake.calls(GENERATE).map((request) => (request.json as { model: string }).model)).to.deep.equal([
        "music-3.0",
        "music-2.6",
        "music-2.5+",
        "music-2.5",
        "music-2.0",
      ]);
    });
  });

  describe("what comes of it", () => {
    const mixOf = ({ tracks }: Completed): unknown => tracks[0]?.assets[0];
    const mix = { role: "mix", label: "full", contentType: null, durationSeconds: 128.4 };

    it("is a link that dies after a day, under either name", async () => {
      const source = { kind: "url", url: "https://cdn.example/x.mp3", expiresAt: clock.now() + DAY_MS };
      expect(mixOf(await submitted())).to.deep.equal({ ...mix, source });
      responses(answered("", { data: { status: 2, audio_url: "https://cdn.example/x.mp3" } }));
      expect(mixOf(await submitted())).to.deep.equal({ ...mix, source });
    });

    it("is hex where hex comes, whichever was asked for", async () => {
      const text = Buffer.from(tinyMp3("hex")).toString("hex");
      responses(answered(text));
      expect(mixOf(await submitted())).to.deep.equal({ ...mix, source: { kind: "text", encoding: "hex", text } });
    });

    it("lasts as long as milliseconds say, under either name; else it is not known", async () => {
      const lasts = async (info: object): Promise<unknown> => {
        responses(answered("https://cdn.example/x.mp3", { extra_info: info }));
        return (mixOf(await submitted()) as { durationSeconds: number | null }).durationSeconds;
      };
      expect(await lasts({ audio_length: 61_500 })).to.equal(61.5);
      expect([await lasts({ music_duration: 0 }), await lasts({})]).to.deep.equal([null, null]);
    });

    it("is of unknown outcome where a successful response has no complete music", async () => {
      for (const data of [
        null,
        { status: 2, audio: "" },
        { status: 1, audio: "ffd8" },
        { status: 2, audio: "abc" },
        { audio: "no hex" },
      ]) {
        responses(answered("", { data }));
        expect((await failureOf(submitted())).kind, JSON.stringify(data)).to.equal("outcome_unknown");
      }
    });

    it("is a failure with code, words and trace id, and says whether it may be billed", async () => {
      fake.on(GENERATE.method, GENERATE.path, refusal(1026, "input new_sensitive"));
      const failure = await failureOf(submitted());
      expect(failure).to.include({
        providerCode: "1026",
        requestId: "t2",
        billable: "no",
        message: "200: code 1026: input new_sensitive",
      });
      fake.on(GENERATE.method, GENERATE.path, refusal(1027, "output new_sensitive"));
      expect((await failureOf(submitted())).billable).to.equal("unknown");
      fake.on(
        GENERATE.method,
        GENERATE.path,
        json({}, { status: 503, headers: { "trace-id": "t9", "retry-after": "3" } }),
      );
      expect(await failureOf(submitted())).to.include({ kind: "unavailable", requestId: "t9", retryAfterMs: 3_000 });
    });
  });

  it("waits for a usage window until it begins again, by its own words", async () => {
    const resets = new Date(clock.now() + 5_400_000).toISOString();
    const limit = "5-hour usage limit reached for Token Plan Starter (0/0 used)";
    const message = `usage limit exceeded, ${limit}, resets at ${resets} (2056)`;
    fake.on(GENERATE.method, GENERATE.path, refusal(2056, message));
    const failure = { kind: "out_of_credit", retryAfterMs: 5_400_000, providerCode: "2056" };
    expect(await failureOf(submitted())).to.include(failure);
    fake.on(GENERATE.method, GENERATE.path, refusal(2056, "usage limit exceeded, resets at noon"));
    expect((await failureOf(submitted())).retryAfterMs).to.equal(null);
  });

  it("offers the newest model first", () => {
    expect(definition.models[0]).to.include({ id: "minimax/music-3.0", upstream: "music-3.0" });
  });

  it("names what is wrong with a model of the operator's", () => {
    const own = model("music-2.6");
    const { upstream: _, ...nameless } = own;
    expect(definition.checkModel?.({ ...own, upstream: "music-3.0" })).to.equal(null);
    expect(definition.checkModel?.(nameless)).to.match(/^needs `upstream`/);
    const duration = { minSeconds: 1, maxSeconds: 2, defaultSeconds: 1 };
    expect(definition.checkModel?.({ ...own, duration })).to.match(/^has a `duration`/);
    expect(definition.checkModel?.({ ...own, options: { seed: 1 } })).to.equal("has options.seed; allowed: none");
  });
});
