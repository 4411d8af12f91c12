import { expect } from "chai";
import { ProviderFailure } from "../../core/ports/music-provider.js";
import type {
  Accepted,
  Completed,
  MusicProvider,
  MusicRequest,
  ProviderHost,
  ProviderModel,
} from "../../core/ports/music-provider.js";
import definition from "../../plugins/stability/index.js";
import { musicProviderContract } from "../contract/music-provider.contract.js";
import {
  aMusicRequest,
  FakeApi,
  type FakeRequest,
  json,
  providerHost,
  settingsOf,
  tinyMp3,
  tinyWav,
} from "../support/provider-kit/index.js";
import {
  accepts,
  API_KEY,
  ASYNC,
  asyncHarness,
  modelOf,
  refusal,
  RESULTS,
  sound,
  SYNC,
  syncHarness,
} from "./stability-support.js";

musicProviderContract("stability, Stable Audio 3", asyncHarness);
musicProviderContract("stability, Stable Audio 2", syncHarness);

const { signal } = new AbortController();

describe("stability", () => {
  let fake: FakeApi;
  beforeEach(async () => {
    fake = await FakeApi.open();
    await accepts(fake);
    fake.on("POST", SYNC.path, sound(tinyMp3()));
  });
  afterEach(() => fake.close());

  const open = (settings: ProviderHost["settings"] = {}): MusicProvider =>
    definition.create(
      providerHost({ settings: settingsOf(definition, { apiKey: API_KEY, baseUrl: `${fake.url}/`, ...settings }) }),
    );
  const submitted = (
    of: ProviderModel,
    parts: Partial<MusicRequest> = {},
    settings: ProviderHost["settings"] = {},
  ): Promise<Accepted | Completed> =>
    open(settings).submit(aMusicRequest(of, { prompt: "Slow pad", ...parts }), { signal });
  const failureOf = async (promise: Promise<unknown>): Promise<ProviderFailure> => {
    const response = await promise.catch((error: unknown) => error);
    if (!ProviderFailure.is(response)) throw new Error(`Expected a failure, and got ${JSON.stringify(response)}`);
    return response;
  };
  const formOf = (request: FakeRequest | undefined): unknown =>
    Object.fromEntries((request?.fields ?? []).map(({ name, value }) => [name, value]));

  it("sends Stable Audio 3 a form, and wants an id", async () => {
    await submitted(modelOf("stable-audio-3"), { durationSeconds: 45 }, { outputFormat: "wav" });
    const [call] = fake.calls(ASYNC);
    expect(formOf(call)).to.deep.equal({
      prompt: "Slow pad",
      model: "stable-audio-3",
      duration: "45",
      output_format: "wav",
    });
    expect(call?.headers).to.include({ authorization: `Bearer ${API_KEY}`, accept: "application/json" });
    expect(call?.headers["content-type"]).to.match(/^multipart\/form-data; boundary=/);
  });

  it("sends the older models a form to another address, and wants the sound", async () => {
    await submitted(modelOf("stable-audio-2.5"), { durationSeconds: null });
    const options = { endpoint: "stable-audio-2", steps: 80, cfgScale: 7.5 };
    await submitted({ ...modelOf("stable-audio-2"), duration: null, options }, { durationSeconds: null });
    const [first, second] = fake.calls(SYNC);
    expect(formOf(first)).to.deep.equal({
      prompt: "Slow pad",
      model: "stable-audio-2.5",
      duration: "190",
      output_format: "mp3",
    });
    expect(formOf(second)).to.deep.equal({
      prompt: "Slow pad",
      model: "stable-audio-2",
      steps: "80",
      cfg_scale: "7.5",
      output_format: "mp3",
    });
    expect(first?.headers).to.include({ accept: "audio/*" });
  });

  it("sends the seed of a request next to the steps and the scale of the operator", async () => {
    const options = { endpoint: "stable-audio-2", steps: 80, cfgScale: 7.5 };
    await submitted({ ...modelOf("stable-audio-2"), options }, { durationSeconds: 30, options: { seed: 7 } });
    expect(formOf(fake.calls(SYNC)[0])).to.include({ seed: "7", steps: "80", cfg_scale: "7.5" });
  });

  it("sends the id of a user for Stability's support where one is set, and no header where none is", async () => {
    await submitted(modelOf("stable-audio-3"));
    await submitted(modelOf("stable-audio-3"), {}, { clientUserId: "band-practice" });
    const sent = fake.calls(ASYNC).map(({ headers }) => headers["stability-client-user-id"]);
    expect(sent).to.deep.equal([undefined, "band-practice"]);
  });

  it("polls work by its id, every ten seconds, for the sound", async () => {
    const outcome = await submitted(modelOf("stable-audio-3"));
    if (outcome.state !== "accepted") throw new Error("it was not accepted");
    const { id } = outcome.handle.data;
    expect(outcome).to.deep.equal({ state: "accepted", handle: { version: 1, data: { id } }, nextPollMs: 10_000 });
    fake.on("GET", RESULTS.path, json({}, { status: 202 }));
    expect(await open().poll?.(outcome.handle, { signal })).to.deep.equal({ state: "running", nextPollMs: 10_000 });
    expect(fake.calls(RESULTS).map(({ params, headers }) => [params["id"], headers["accept"]])).to.deep.equal([
      [id, "audio/*"],
    ]);
    const wav = tinyWav();
    fake.on("GET", RESULTS.path, sound(wav, { "content-type": "audio/wav" }));
    const done = (await open().poll?.(outcome.handle, { signal })) as Completed;
    const source = done.tracks[0]?.assets[0]?.source;
    expect(source?.kind === "bytes" && Buffer.from(source.bytes).equals(wav)).to.equal(true);
  });

  it("takes the music where the response has it, even where an id was expected", async () => {
    fake.on("POST", ASYNC.path, sound(tinyMp3()));
    fake.on("POST", SYNC.path, json({ id: "late" }, { status: 202 }));
    expect((await submitted(modelOf("stable-audio-3"))).state).to.equal("completed");
    expect((await submitted(modelOf("stable-audio-2.5"))).state).to.equal("accepted");
  });

  it("is of unknown outcome where a response has neither music nor an id", async () => {
    for (const response of [sound(new Uint8Array()), json({}, { status: 202 }), json({ id: "a1" }, { status: 200 })]) {
      fake.on("POST", SYNC.path, response);
      expect((await failureOf(submitted(modelOf("stable-audio-2.5")))).kind).to.equal("outcome_unknown");
    }
  });

  it("waits a minute at least when it asked too often, or as long as the response says", async () => {
    const waits = async (headers: Record<string, string>): Promise<number | null> => {
      fake.on("POST", SYNC.path, refusal(429, "rate_limit_exceeded", headers));
      return (await failureOf(submitted(modelOf("stable-audio-2")))).retryAfterMs;
    };
    expect([await waits({}), await waits({ "retry-after": "5" }), await waits({ "retry-after": "90" })]).to.deep.equal([
      60_000, 60_000, 90_000,
    ]);
  });

  it("reports code, words and request id of the response, and that failures cost nothing", async () => {
    fake.on("POST", SYNC.path, refusal(500, "internal_error"));
    expect(await failureOf(submitted(modelOf("stable-audio-2")))).to.include({
      providerCode: "internal_error",
      requestId: "e9",
      billable: "no",
      message: "500: internal_error: it says internal_error",
    });
    fake.on("POST", SYNC.path, refusal(400, "bad_request", { "x-request-id": "rq7" }));
    expect((await failureOf(submitted(modelOf("stable-audio-2")))).requestId).to.equal("rq7");
    fake.on("POST", SYNC.path, json({}, { status: 500 }));
    expect((await failureOf(submitted(modelOf("stable-audio-2")))).billable).to.equal("unknown");
  });

  it("takes no handle of another's", async () => {
    const polled = (version: number, data: object): Promise<unknown> =>
      open().poll?.({ version, data: { ...data } }, { signal }) ?? Promise.resolve();
    expect((await failureOf(polled(2, { id: "a1" }))).kind).to.equal("failed");
    expect((await failureOf(polled(1, {}))).kind).to.equal("failed");
    expect(fake.requests).to.have.lengthOf(0);
  });

  it("names what is wrong with a model of the operator's", () => {
    const own = modelOf("stable-audio-3");
    const { upstream: _, ...nameless } = own;
    const wrong = (options: object): string | null | undefined =>
      definition.checkModel?.({ ...own, options: { endpoint: "stable-audio", ...options } });
    expect(wrong({ steps: 4, cfgScale: 25 })).to.equal(null);
    expect(definition.checkModel?.(nameless)).to.match(/^needs `upstream`/);
    expect(definition.checkModel?.({ ...own, supportsLyrics: true })).to.match(/^supports lyrics/);
    expect(wrong({ endpoint: "audio" })).to.equal("needs options.endpoint; allowed: stable-audio, stable-audio-2");
    for (const steps of [3, 9, 4.5, "8"]) expect(wrong({ steps })).to.match(/options\.steps .* 4 to 8$/);
    const stepsOf = (id: string, steps: number): string | null | undefined =>
      definition.checkModel?.({ ...modelOf(id), options: { endpoint: "stable-audio-2", steps } });
    expect(stepsOf("stable-audio-2.5", 8)).to.equal(null);
    for (const steps of [30, 100]) expect(stepsOf("stable-audio-2", steps)).to.equal(null);
    expect(stepsOf("stable-audio-2.5", 30)).to.match(/4 to 8$/);
    for (const steps of [8, 101]) expect(stepsOf("stable-audio-2", steps)).to.match(/30 to 100$/);
    const later = { ...own, upstream: "stable-audio-4", options: { endpoint: "stable-audio", steps: 50 } };
    expect(definition.checkModel?.(later)).to.equal(null);
    for (const cfgScale of [0, 26, "7"]) expect(wrong({ cfgScale })).to.match(/options\.cfgScale/);
    expect(wrong({ seed: 1 })).to.equal("has options.seed; allowed: endpoint, steps, cfgScale");
  });
});
