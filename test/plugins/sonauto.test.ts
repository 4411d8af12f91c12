import { expect } from "chai";
import {
  type Completed,
  type MusicProvider,
  type MusicRequest,
  ProviderFailure,
  type ProviderModel,
  STANDARD_OPTIONS,
} from "../../core/ports/music-provider.js";
import definition from "../../plugins/sonauto/index.js";
import { musicProviderContract } from "../contract/music-provider.contract.js";
import { aMusicRequest, FakeApi, json, providerHost, settingsOf } from "../support/provider-kit/index.js";
import {
  accepts,
  API_KEY,
  BALANCE,
  ended,
  generation,
  GENERATION,
  INVALID_TAGS,
  refused,
  sonauto,
  STATUS,
  status,
  V2,
  V3,
} from "./sonauto-support.js";

musicProviderContract("sonauto", sonauto);

const { signal } = new AbortController();

describe("sonauto", () => {
  let fake: FakeApi;
  beforeEach(async () => {
    fake = await FakeApi.open();
    await accepts(fake);
  });
  afterEach(() => fake.close());

  const open = (settings: Record<string, string | number> = {}): MusicProvider => {
    const given = { apiKey: API_KEY, baseUrl: `${fake.url}/v1`, ...settings };
    return definition.create(providerHost({ settings: settingsOf(definition, given) }));
  };
  const model = (version: "v2" | "v3", parts: Partial<ProviderModel> = {}): ProviderModel => {
    const found = definition.models.find(({ upstream }) => upstream === version);
    if (found === undefined) throw new Error(`there is no model ${version}`);
    return { ...found, ...parts };
  };
  const submit = (of: ProviderModel, parts: Partial<MusicRequest>, settings = {}) =>
    open(settings).submit(aMusicRequest(of, { prompt: "dream pop", ...parts }), { signal });
  const sent = (route: typeof V3 | typeof V2): unknown => fake.calls(route).at(-1)?.json;
  const polled = async (): Promise<unknown> => open().poll?.({ version: 1, data: { taskId: "a/b" } }, { signal });
  const failureOf = async (promise: Promise<unknown>): Promise<ProviderFailure> => {
    try {
      throw new Error(`Expected a failure, and got ${JSON.stringify(await promise)}`);
    } catch (error) {
      if (!ProviderFailure.is(error)) throw error;
      return error;
    }
  };

  it("sends prompt and lyrics, the length as a range, and no tags: all three together are refused", async () => {
    await submit(model("v3"), { lyrics: "[Verse]\nBoats", durationSeconds: 100, callbackUrl: "https://f.example/cb" });
    expect(sent(V3)).to.deep.equal({
      prompt: "dream pop",
      lyrics: "[Verse]\nBoats",
      instrumental: false,
      output_format: "mp3",
      length_range: [90, 120],
      webhook_url: "https://f.example/cb",
    });
    expect(fake.calls(V3)[0]?.headers).to.include({ authorization: `Bearer ${API_KEY}` });
  });

  it("names ranges whose ends are multiples of 30 seconds, within 0 and 300", async () => {
    const ranges: Record<number, unknown> = {};
    for (const seconds of [30, 31, 60, 150, 299, 300]) {
      await submit(model("v3"), { durationSeconds: seconds });
      ranges[seconds] = (sent(V3) as { length_range: unknown }).length_range;
    }
    expect(ranges).to.deep.equal({
      30: [0, 30],
      31: [30, 60],
      60: [30, 60],
      150: [120, 150],
      299: [270, 300],
      300: [270, 300],
    });
  });

  it("sends no lyrics of an instrumental, and has words written where there are none", async () => {
    const untimed = model("v3", { duration: null });
    await submit(untimed, { instrumental: true, lyrics: "[Verse]\nBoats" });
    expect(sent(V3)).to.deep.equal({ prompt: "dream pop", instrumental: true, output_format: "mp3" });
    await submit(untimed, { instrumental: false, lyrics: null });
    expect(sent(V3)).to.deep.equal({ prompt: "dream pop", instrumental: false, output_format: "mp3" });
  });

  it("sends the default length of its README where a request names none", async () => {
    await submit(model("v3"), { durationSeconds: null });
    expect(sent(V3)).to.deep.include({ length_range: [120, 150] });
  });

  it("asks v2 for one song unless the model says two, and sends no length", async () => {
    const body = { prompt: "dream pop", instrumental: true, output_format: "flac" };
    await submit(model("v2"), { instrumental: true }, { outputFormat: "flac" });
    expect(sent(V2)).to.deep.equal({ ...body, num_songs: 1 });
    await submit(model("v2", { options: { songs: 2 } }), { instrumental: true }, { outputFormat: "flac" });
    expect(sent(V2)).to.deep.equal({ ...body, num_songs: 2 });
  });

  it("sends the tags to avoid as a list, and none where the text has none", async () => {
    await submit(model("v3"), { options: { negative_tags: " opera,, male vocalist " } });
    expect(sent(V3)).to.deep.include({ negative_tags: ["opera", "male vocalist"] });
    await submit(model("v3"), { options: { negative_tags: " , " } });
    expect(sent(V3)).to.not.have.any.keys("negative_tags");
  });

  it("sends the options of v2 as numbers", async () => {
    const options = { seed: 0, bpm: 90, prompt_strength: 2.5, balance_strength: 0.3 };
    await submit(model("v2"), { options });
    expect(sent(V2)).to.deep.include(options);
  });

  it("takes the files with the week that they live, the tags and the tempo", async () => {
    const path = "https://cdn.example/audio_0.mp3";
    const parts = { song_paths: [path], v2_params: { balance_strength: 0.7, seed: 1, bpm: 120 } };
    await ended("SUCCESS", json(generation(parts)))(fake);
    const [track, ...others] = ((await polled()) as Completed).tracks;
    expect(others).to.deep.equal([]);
    expect(track).to.deep.include({ title: null, bpm: 120 });
    expect(track?.tags.other).to.deep.equal(["dream pop", "2020s"]);
    const expiresAt = Date.parse("2026-09-24T10:00:00Z");
    expect(track?.assets.map(({ source }) => source)).to.deep.equal([{ kind: "url", url: path, expiresAt }]);
    expect(fake.requests.map(({ path: asked }) => asked)).to.deep.equal([
      "/v1/generations/status/a%2Fb",
      "/v1/generations/a%2Fb",
    ]);
  });

  it("takes the lyrics of a song, and none of an instrumental", async () => {
    for (const [lyrics, expected] of [
      ["[Verse]\nPaper boats\n", { text: "[Verse]\nPaper boats" }],
      ["", undefined],
      [null, undefined],
      ["[Instrumental]", undefined],
    ] as const) {
      await ended("SUCCESS", json(generation({ song_paths: ["https://cdn.example/0.mp3"], lyrics })))(fake);
      expect(((await polled()) as Completed).tracks[0]?.lyrics, JSON.stringify(lyrics)).to.deep.equal(expected);
    }
  });

  it("takes a status that is a member of an object, and words that are not documented for running", async () => {
    for (const body of [{ status: "GENERATING", alignment_status: null }, "COOLING_DOWN"]) {
      fake.on(STATUS.method, STATUS.path, json(body));
      expect(await polled()).to.deep.equal({ state: "running", nextPollMs: 5_000 });
    }
    expect(fake.calls(GENERATION)).to.deep.equal([]);
  });

  it("says that failed work is not billed, and why it failed", async () => {
    await ended("FAILURE", json(generation({ status: "FAILURE", error_message: "No worker" })))(fake);
    const { kind, billable, message } = await failureOf(polled());
    expect([kind, billable, message]).to.deep.equal(["failed", "no", "The generation failed: No worker"]);
  });

  it("keeps polling when an empty account or a wrong key refuses a poll", async () => {
    await status("SUCCESS")(fake);
    for (const [code, kind] of [
      [402, "out_of_credit"],
      [422, "unavailable"],
    ] as const) {
      fake.on(STATUS.method, STATUS.path, json({ detail: "no credits" }, { status: code }));
      expect((await failureOf(polled())).kind).to.equal(kind);
    }
  });

  it("says what was wrong without repeating the request", async () => {
    await refused(422, INVALID_TAGS)(fake);
    const { kind, message } = await failureOf(submit(model("v3"), {}));
    expect([kind, message]).to.deep.equal(["invalid_input", "422: negative_tags: Value error, Invalid tags: x"]);
  });

  it("warns of an account whose credits do not pay for a song", async () => {
    fake.on(BALANCE.method, BALANCE.path, json({ num_credits: 0, num_credits_payg: 99 }));
    expect(await open().probe?.({ signal })).to.deep.equal({
      credit: { amount: 99, unit: "credits" },
      warnings: ["99 credits are left; a song costs 100."],
    });
    fake.on(BALANCE.method, BALANCE.path, json({ plan: "free" }));
    expect((await failureOf(open().probe?.({ signal }) ?? Promise.resolve())).kind).to.equal("unavailable");
  });

  it("names what is wrong with a model of the operator's", () => {
    const issue = (version: "v2" | "v3", parts: Partial<ProviderModel>): unknown =>
      definition.checkModel?.(model(version, parts));
    const duration = { minSeconds: 10, maxSeconds: 301, defaultSeconds: 60 };
    expect(issue("v3", { requestOptions: {}, references: {}, duration: null })).to.equal(null);
    expect(issue("v2", { options: { songs: 2 } })).to.equal(null);
    expect(issue("v3", { upstream: "v4" })).to.match(/^needs `upstream`/);
    expect(issue("v3", { duration })).to.equal("has a `duration` of more than 300 seconds");
    expect(issue("v2", { duration })).to.match(/^has a `duration`; allowed: null/);
    expect(issue("v2", { options: { songs: 3 } })).to.equal("has another options.songs than 1, 2");
    expect(issue("v3", { options: { songs: 2 } })).to.match(/v2 alone/);
    expect(issue("v3", { options: { negativeTags: ["opera"] } })).to.equal("has options.negativeTags; allowed: songs");
  });

  it("names options and modes of a model that its version has not", () => {
    const issue = (version: "v2" | "v3", parts: Partial<ProviderModel>): unknown =>
      definition.checkModel?.(model(version, parts));
    expect(issue("v3", { requestOptions: { seed: STANDARD_OPTIONS.seed } })).to.equal(
      "has requestOptions.seed; allowed: prompt_strength, negative_tags",
    );
    expect(issue("v2", { requestOptions: { key: STANDARD_OPTIONS.key } })).to.equal(
      "has requestOptions.key; allowed: seed, bpm, prompt_strength, balance_strength",
    );
    expect(issue("v2", { references: { inpaint: { sources: "any" } } })).to.equal(
      "has references.inpaint; allowed: extend",
    );
    expect(issue("v3", { references: { extend: { sources: "any", takesStrength: true } } })).to.equal(
      "has references.extend.takesStrength; they take none",
    );
  });
});
