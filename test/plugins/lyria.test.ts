import { verify } from "node:crypto";
import { expect } from "chai";
import { ProviderFailure, STANDARD_OPTIONS } from "../../core/ports/music-provider.js";
import type {
  Completed,
  MusicProvider,
  MusicRequest,
  ProviderHost,
  ProviderModel,
} from "../../core/ports/music-provider.js";
import definition from "../../plugins/lyria/index.js";
import { musicProviderContract } from "../contract/music-provider.contract.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import {
  aMusicRequest,
  FakeApi,
  json,
  providerHost,
  settingsOf,
  text,
  tinyMp3,
  tinyWav,
} from "../support/provider-kit/index.js";
import {
  ACCESS_TOKEN,
  API_KEY,
  base64,
  GENERATE,
  geminiHarness,
  geminiSettings,
  grants,
  PREDICT,
  PRIVATE_KEY,
  PUBLIC_KEY,
  refusal,
  serviceAccount,
  song,
  TOKEN,
  vertexHarness,
  vertexSettings,
} from "./lyria-support.js";

musicProviderContract("lyria, Gemini API by generateContent", geminiHarness);
musicProviderContract("lyria, Vertex AI", vertexHarness);

const { signal } = new AbortController();
const HOUR_MS = 3_600_000;

describe("lyria", () => {
  let fake: FakeApi;
  let clock: ManualClock;
  beforeEach(async () => {
    fake = await FakeApi.open();
    clock = new ManualClock();
    await grants(fake);
    fake.on("POST", GENERATE.path, song(tinyMp3()));
    fake.on(
      "POST",
      PREDICT.path,
      json({ predictions: [{ bytesBase64Encoded: base64(tinyWav()), mimeType: "audio/wav" }] }),
    );
  });
  afterEach(() => fake.close());

  const open = (settings?: ProviderHost["settings"], models: readonly ProviderModel[] = []): MusicProvider => {
    const given = settings ?? { ...geminiSettings(fake), ...vertexSettings(fake) };
    return definition.create(providerHost({ clock, models, settings: settingsOf(definition, given) }));
  };
  const model = (id: string): ProviderModel => {
    const found = definition.models.find((candidate) => candidate.id === `lyria/${id}`);
    if (found === undefined) throw new Error(`there is no model ${id}`);
    return found;
  };
  const submitted = async (
    of: ProviderModel,
    parts: Partial<MusicRequest> = {},
    provider = open(),
  ): Promise<Completed> =>
    (await provider.submit(aMusicRequest(of, { prompt: "Synth pop, 118 BPM.", lyrics: null, ...parts }), {
      signal,
    })) as Completed;
  const failureOf = async (promise: Promise<unknown>): Promise<ProviderFailure> => {
    const response = await promise.catch((error: unknown) => error);
    if (!ProviderFailure.is(response)) throw new Error(`Expected a failure, and got ${JSON.stringify(response)}`);
    return response;
  };

  describe("on the Gemini API by generateContent", () => {
    const bodyOf = (words: string): object => ({
      contents: [{ parts: [{ text: words }] }],
      generationConfig: { responseModalities: ["AUDIO", "TEXT"] },
    });

    it("asks for everything in words: lyrics behind their mark, or for no voice", async () => {
      await submitted(model("3.5"), { lyrics: "[Verse]\nNeon on the water\n", instrumental: false });
      await submitted(model("3.5"), { instrumental: true });
      await submitted(model("3.5"), { instrumental: false });
      expect(fake.calls(GENERATE).map((request) => request.json)).to.deep.equal([
        bodyOf("Synth pop, 118 BPM.\nLyrics:\n[Verse]\nNeon on the water"),
        bodyOf("Synth pop, 118 BPM.\nInstrumental only, no vocals."),
        bodyOf("Synth pop, 118 BPM."),
      ]);
      const [call] = fake.calls(GENERATE);
      expect(call?.headers).to.include({ "x-goog-api-key": API_KEY }).and.not.have.any.keys("authorization");
      expect(call?.query).to.deep.equal({});
    });

    it("asks for WAV where the model's options say so", async () => {
      await submitted({ ...model("3.5"), options: { api: "gemini", format: "wav" } });
      expect(fake.calls(GENERATE)[0]?.json).to.have.nested.property(
        "generationConfig.responseFormat.audio.mimeType",
        "audio/wav",
      );
    });

    it("finds the sound wherever it stands among words and pictures", async () => {
      const [picture, sound] = [tinyMp3("picture"), tinyMp3("sound")].map(base64);
      const parts = [
        { inlineData: { mimeType: "image/png", data: picture } },
        { inlineData: { mimeType: "audio/mpeg", data: "not base64!" } },
        { inlineData: { mimeType: "audio/mpeg", data: sound } },
      ];
      fake.on("POST", GENERATE.path, json({ candidates: [{ finishReason: "MAX_TOKENS", content: { parts } }] }));
      const source = (await submitted(model("3.5"))).tracks[0]?.assets[0]?.source;
      expect(source).to.deep.equal({ kind: "text", encoding: "base64", text: sound });
    });

    it("takes the words that come with a song as its lyrics, and not those that describe its structure", async () => {
      const sound = { inlineData: { mimeType: "audio/mpeg", data: base64(tinyMp3()) } };
      const lyricsOf = async (...texts: readonly string[]): Promise<unknown> => {
        const parts = [...texts.map((text) => ({ text })), sound];
        fake.on("POST", GENERATE.path, json({ candidates: [{ finishReason: "STOP", content: { parts } }] }));
        return (await submitted(model("3.5"))).tracks[0]?.lyrics;
      };
      const structure = JSON.stringify({ sections: [{ name: "verse", start: 0 }] });
      const words = { text: "[Verse] Neon on the water\n[Chorus] Neon" };
      expect(await lyricsOf("[Verse] Neon on the water", structure, "[Chorus] Neon")).to.deep.equal(words);
      for (const texts of [[], [structure], [" "], ["[Instrumental]"]])
        expect(await lyricsOf(...texts), texts.join()).to.equal(undefined);
    });

    it("says why a song was not created, with the provider's own code", async () => {
      fake.on("POST", GENERATE.path, json({ promptFeedback: { blockReason: "MODEL_ARMOR" }, candidates: [] }));
      expect(await failureOf(submitted(model("3.5")))).to.include({
        kind: "content_rejected",
        providerCode: "MODEL_ARMOR",
      });
      fake.on("POST", GENERATE.path, json({ candidates: [] }));
      expect((await failureOf(submitted(model("3.5")))).kind).to.equal("outcome_unknown");
      fake.on("POST", GENERATE.path, refusal(500, "INTERNAL", "it failed"));
      expect(await failureOf(submitted(model("3.5")))).to.include({
        message: "500 INTERNAL: it failed",
        billable: "unknown",
      });
    });

    it("waits as long as Retry-After says where there is no RetryInfo", async () => {
      fake.on("POST", GENERATE.path, refusal(429, "RESOURCE_EXHAUSTED", "quota", { headers: { "retry-after": "7" } }));
      expect(await failureOf(submitted(model("3.5")))).to.include({ kind: "rate_limited", retryAfterMs: 7_000 });
    });
  });

  describe("on Vertex AI", () => {
    const two = (): ProviderModel => model("2");

    it("asks for clips by number, or for one by its seed", async () => {
      const prompt = "Synth pop, 118 BPM.";
      await submitted(two());
      const three = { ...two(), options: { api: "vertex", sampleCount: 3 } };
      await submitted(three, { options: { negative_prompt: "vocals" } });
      await submitted(two(), { options: { seed: 0, negative_prompt: "vocals" } });
      expect(fake.calls(PREDICT).map((request) => request.json)).to.deep.equal([
        { instances: [{ prompt }], parameters: { sample_count: 1 } },
        { instances: [{ prompt, negative_prompt: "vocals" }], parameters: { sample_count: 3 } },
        { instances: [{ prompt, negative_prompt: "vocals", seed: 0 }], parameters: {} },
      ]);
      expect(fake.calls(PREDICT)[0]?.headers).to.include({ authorization: `Bearer ${ACCESS_TOKEN}` });
      expect(fake.calls(PREDICT)[0]?.headers).to.not.have.any.keys("x-goog-api-key");
    });

    it("gets its token by a statement that is signed with the account's key", async () => {
      await submitted(two());
      const [call] = fake.calls(TOKEN);
      expect(call?.field("grant_type")).to.equal("urn:ietf:params:oauth:grant-type:jwt-bearer");
      const assertion = call?.field("assertion");
      if (typeof assertion !== "string") throw new Error("there is no statement");
      const [header = "", claims = "", signature = ""] = assertion.split(".");
      const read = (part: string): unknown => JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
      expect(read(header)).to.deep.equal({ alg: "RS256", typ: "JWT", kid: "kid-1" });
      const iat = Math.floor(clock.now() / 1_000);
      expect(read(claims)).to.deep.equal({
        iss: "fermata@band-practice.iam.gserviceaccount.com",
        scope: "https://www.googleapis.com/auth/cloud-platform",
        aud: `${fake.url}/token`,
        iat,
        exp: iat + 3_600,
      });
      const signed = Buffer.from(`${header}.${claims}`);
      expect(verify("sha256", signed, PUBLIC_KEY, Buffer.from(signature, "base64url"))).to.equal(true);
    });

    it("uses a token until a minute before its end, and one that was refused never again", async () => {
      const provider = open();
      const tokens = async (): Promise<number> => {
        await submitted(two(), {}, provider).catch(() => undefined);
        return fake.calls(TOKEN).length;
      };
      expect([await tokens(), await tokens()]).to.deep.equal([1, 1]);
      await clock.advance(HOUR_MS - 1_000 - 60_000 - 1);
      expect(await tokens()).to.equal(1);
      await clock.advance(1);
      expect(await tokens()).to.equal(2);
      fake.once("POST", PREDICT.path, refusal(401, "UNAUTHENTICATED"));
      expect([await tokens(), await tokens()]).to.deep.equal([2, 3]);
    });

    it("keeps a token no longer than the response allows: not at all where it has no lifetime", async () => {
      fake.on("POST", TOKEN.path, json({ access_token: ACCESS_TOKEN }));
      const provider = open();
      await submitted(two(), {}, provider);
      await submitted(two(), {}, provider);
      expect(fake.calls(TOKEN)).to.have.lengthOf(2);
    });

    it("keeps token, statement and key to itself when they are repeated in a refusal", async () => {
      fake.on("POST", PREDICT.path, ({ headers }) =>
        text(`bad token ${String(headers["authorization"])}`, { status: 401 }),
      );
      expect((await failureOf(submitted(two()))).message).to.not.include(ACCESS_TOKEN);
      fake.on("POST", TOKEN.path, ({ text: body }) => text(body, { status: 400 }));
      const failure = await failureOf(submitted(two()));
      expect([failure.kind, failure.billable]).to.deep.equal(["misconfigured", "no"]);
      expect(failure.message).to.not.include("assertion");
    });

    it("is where project, location and address of the settings say", async () => {
      const path = "/v1/projects/other/locations/europe-west4/publishers/google/models/lyria-002:predict";
      fake.on("POST", path, json({ predictions: [{ audioContent: base64(tinyWav()) }] }));
      const provider = open({
        ...vertexSettings(fake),
        vertexUrl: `${fake.url}/v1/`,
        project: "other",
        location: "europe-west4",
      });
      expect((await submitted(two(), {}, provider)).tracks).to.have.lengthOf(1);
    });

    it("delivers the clips that are there", async () => {
      const [first, second] = [tinyWav(220), tinyWav(330)].map(base64);
      fake.on(
        "POST",
        PREDICT.path,
        json({ predictions: [{ bytesBase64Encoded: first }, {}, { audioContent: second }] }),
      );
      const { tracks } = await submitted(two());
      expect(tracks.map(({ assets }) => assets[0]?.source)).to.deep.equal(
        [first, second].map((data) => ({ kind: "text", encoding: "base64", text: data })),
      );
    });
  });

  describe("settings", () => {
    const refused = (settings: ProviderHost["settings"], models: readonly ProviderModel[] = []): string => {
      try {
        open(settings, models);
      } catch (error) {
        return String(error);
      }
      throw new Error("it started");
    };

    it("need one of the two keys, and that of every model", () => {
      expect(refused({})).to.match(/^Error: apiKey, serviceAccount: neither is set/);
      expect(refused(geminiSettings(fake), definition.models)).to.match(
        /^Error: serviceAccount: missing, and needed for lyria\/2; /,
      );
      expect(refused(vertexSettings(fake), definition.models)).to.match(
        /^Error: apiKey: missing, and needed for lyria\/3\.5, /,
      );
      expect(() => open({ ...geminiSettings(fake), ...vertexSettings(fake) }, definition.models)).to.not.throw();
    });

    it("are refused by name where the account cannot be read, and nothing of it is repeated", () => {
      const broken = [
        ["{", /it is not a JSON object/],
        ["[]", /it is not a JSON object/],
        [serviceAccount(fake, { client_email: undefined }), /a member is missing/],
        [serviceAccount(fake, { token_uri: "token" }), /its token_uri is not a URL/],
        [serviceAccount(fake, { private_key: PRIVATE_KEY.slice(0, 400) }), /its private_key cannot be read/],
      ] as const;
      for (const [account, says] of broken) {
        const message = refused({ serviceAccount: account });
        expect(message).to.match(says);
        expect(message).to.not.include(PRIVATE_KEY.slice(40, 80));
      }
      expect(refused({ serviceAccount: serviceAccount(fake, { project_id: undefined }) })).to.match(
        /^Error: project: missing/,
      );
    });

    it("that lack the key of a model keep it from being asked for", async () => {
      expect((await failureOf(submitted(model("2"), {}, open(geminiSettings(fake))))).kind).to.equal("invalid_input");
      expect((await failureOf(submitted(model("3.5"), {}, open(vertexSettings(fake))))).kind).to.equal("invalid_input");
      expect(fake.requests).to.have.lengthOf(0);
    });
  });

  it("names what is wrong with a model of the operator's", () => {
    const wrong = (parts: Partial<ProviderModel>, of = "3.5"): string | null | undefined =>
      definition.checkModel?.({ ...model(of), ...parts });
    const { upstream: _, ...nameless } = model("2");
    expect(wrong({ options: { api: "vertex", sampleCount: 4 }, requestOptions: {} }, "2")).to.equal(null);
    expect(wrong({ options: { api: "gemini", format: "mp3" } })).to.equal(null);
    expect(definition.checkModel?.(nameless)).to.match(/^needs `upstream`/);
    expect(wrong({ duration: { minSeconds: 1, maxSeconds: 2, defaultSeconds: 1 } })).to.match(/^has a `duration`/);
    expect(wrong({ options: {} })).to.equal("needs options.api; allowed: gemini, vertex");
    expect(wrong({ options: { api: "gemini", sampleCount: 2 } })).to.equal(
      "has options.sampleCount; allowed for gemini: api, format",
    );
    expect(wrong({ options: { api: "gemini", format: "flac" } })).to.match(/options\.format/);
    expect(wrong({ options: { api: "vertex" } })).to.match(/^supports lyrics/);
    for (const sampleCount of [0, 1.5, "2"])
      expect(wrong({ options: { api: "vertex", sampleCount } }, "2")).to.match(/sampleCount/);
    const former = { api: "vertex", negativePrompt: "drums" };
    expect(wrong({ options: former }, "2")).to.match(/^has options\.negativePrompt; /);
  });

  it("refuses several clips with a seed, and options that the model's API does not take", () => {
    const wrong = (parts: Partial<ProviderModel>, of: string): string | null | undefined =>
      definition.checkModel?.({ ...model(of), ...parts });
    const { seed, negative_prompt } = STANDARD_OPTIONS;
    expect(wrong({ options: { api: "vertex", sampleCount: 2 } }, "2")).to.equal(
      "has options.sampleCount: 2 and requestOptions.seed; Vertex AI takes one of the two: " +
        "set sampleCount: 1, or remove the seed (requestOptions: { seed: false })",
    );
    const two = { options: { api: "vertex", sampleCount: 2 }, requestOptions: { negative_prompt } };
    expect(wrong(two, "2")).to.equal(null);
    expect(wrong({ requestOptions: { bpm: STANDARD_OPTIONS.bpm } }, "2")).to.equal(
      "has requestOptions.bpm; allowed for vertex: seed, negative_prompt",
    );
    expect(wrong({ requestOptions: { seed } }, "3.5")).to.equal("has requestOptions.seed; allowed for gemini: none");
  });
});
