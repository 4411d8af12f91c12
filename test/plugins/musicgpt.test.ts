import { expect } from "chai";
import {
  type Accepted,
  type Completed,
  type MusicProvider,
  type MusicRequest,
  ProviderFailure,
  type ProviderModel,
  STANDARD_OPTIONS,
} from "../../core/ports/music-provider.js";
import definition from "../../plugins/musicgpt/index.js";
import { musicProviderContract } from "../contract/music-provider.contract.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { aMusicRequest, FakeApi, json, providerHost, settingsOf } from "../support/provider-kit/index.js";
import { accepts, API_KEY, BY_ID, completed, GENERATE, INVALID, musicGpt, refused, says } from "./musicgpt-support.js";

musicProviderContract("musicgpt", musicGpt);

const { signal } = new AbortController();
const NOW = Date.parse("2026-03-27T07:30:00Z");

describe("musicgpt", () => {
  let fake: FakeApi;
  beforeEach(async () => {
    fake = await FakeApi.open();
    await accepts(fake);
  });
  afterEach(() => fake.close());

  const open = (): MusicProvider => {
    const settings = settingsOf(definition, { apiKey: API_KEY, baseUrl: fake.url });
    return definition.create(providerHost({ settings, clock: new ManualClock(NOW) }));
  };
  const model = (name: string, parts: Partial<ProviderModel> = {}): ProviderModel => {
    const found = definition.models.find(({ upstream }) => upstream === name);
    if (found === undefined) throw new Error(`there is no model ${name}`);
    return { ...found, ...parts };
  };
  const submit = async (of: ProviderModel, parts: Partial<MusicRequest>): Promise<Accepted> =>
    (await open().submit(aMusicRequest(of, { prompt: "dream pop", ...parts }), { signal })) as Accepted;
  const sent = (): unknown => fake.calls(GENERATE).at(-1)?.json;
  const polled = async (): Promise<Completed> =>
    (await open().poll?.({ version: 1, data: { taskId: "t&1" } }, { signal })) as Completed;
  const failureOf = async (promise: Promise<unknown>): Promise<ProviderFailure> => {
    try {
      throw new Error(`Expected a failure, and got ${JSON.stringify(await promise)}`);
    } catch (error) {
      if (!ProviderFailure.is(error)) throw error;
      return error;
    }
  };

  it("sends the model, prompt and lyrics with the bare key, and asks for nothing that might cost more", async () => {
    const parts = { lyrics: "[Verse]\nBoats", instrumental: false, callbackUrl: "https://f.example/cb" };
    await submit(model("v7"), { ...parts, options: { vocal_gender: "female" } });
    expect(fake.calls(GENERATE)[0]?.headers).to.include({ authorization: API_KEY });
    expect(sent()).to.deep.equal({
      model: "v7",
      prompt: "dream pop",
      lyrics: "[Verse]\nBoats",
      make_instrumental: false,
      gender: "female",
      generate_album_cover: false,
      lyrics_timestamps: false,
      webhook_url: "https://f.example/cb",
    });
  });

  it("sends neither lyrics nor a gender with an instrumental", async () => {
    const options = { vocal_gender: "female" };
    await submit(model("v6"), { lyrics: "[Verse]\nBoats", instrumental: true, options });
    expect(sent()).to.deep.equal({
      model: "v6",
      prompt: "dream pop",
      make_instrumental: true,
      generate_album_cover: false,
      lyrics_timestamps: false,
    });
  });

  it("polls first when it expects to be done, within a minute", async () => {
    expect((await submit(model("v6"), {})).nextPollMs).to.equal(60_000);
    const waits: number[] = [];
    for (const eta of [30, 2, -1, "soon"]) {
      fake.on(GENERATE.method, GENERATE.path, json({ success: true, task_id: "t", eta }));
      waits.push((await submit(model("v6"), {})).nextPollMs);
    }
    expect(waits).to.deep.equal([30_000, 10_000, 20_000, 20_000]);
  });

  it("asks for the task by its type and id, and takes styles as tags", async () => {
    await says(completed(["https://cdn.example/1.mp3", "https://cdn.example/2.mp3"]))(fake);
    const { tracks, cost } = await polled();
    expect(fake.calls(BY_ID)[0]?.query).to.deep.equal({ conversionType: "MUSIC_AI", task_id: "t&1" });
    expect(tracks.map(({ tags }) => tags.other)).to.deep.equal(Array(2).fill(["cinematic", "orchestral"]));
    expect(cost).to.equal(undefined);
  });

  it("takes the lyrics of each track, and none of an instrumental", async () => {
    const links = ["https://cdn.example/1.mp3", "https://cdn.example/2.mp3"];
    await says(completed(links, { lyrics_1: "[Verse]\nPaper boats" }))(fake);
    expect((await polled()).tracks.map(({ lyrics }) => lyrics)).to.deep.equal([
      { text: "[Verse]\nPaper boats" },
      undefined,
    ]);
  });

  it("delivers the one track that there is when a completed task has no other", async () => {
    await says(completed(["https://cdn.example/1.mp3", "https://s3.example/"]))(fake);
    expect((await polled()).tracks.map(({ title }) => title)).to.deep.equal(["Clash of Titans 1"]);
  });

  it("waits ten minutes for the second track of a task that is partly completed", async () => {
    const partly = (updatedAt: string): object =>
      completed([null, "https://cdn.example/2.mp3"], { status: "PARTIAL_COMPLETED", updatedAt });
    await says(partly("2026-03-27T07:20:01Z"))(fake);
    expect(await polled()).to.deep.equal({ state: "running", nextPollMs: 10_000 });
    await says(partly("2026-03-27T07:19:59Z"))(fake);
    expect((await polled()).tracks.map(({ title }) => title)).to.deep.equal(["Clash of Titans 2"]);
    await says(partly("yesterday"))(fake);
    expect((await polled()).state).to.equal("running");
  });

  it("says what was wrong without repeating the request", async () => {
    await refused(422, INVALID)(fake);
    const { kind, message } = await failureOf(submit(model("v6"), {}));
    expect([kind, message]).to.deep.equal(["invalid_input", "422: prompt: String too long"]);
  });

  it("does not say of a refusal with status 200 that it may be tried again, nor that it was billed", async () => {
    await refused(200, { success: false, message: "Try something else" })(fake);
    const { kind, message, billable } = await failureOf(submit(model("v6"), {}));
    expect([kind, message, billable]).to.deep.equal(["failed", "200: Try something else", "unknown"]);
  });

  it("names what is wrong with a model of the operator's", () => {
    const issue = (parts: Partial<ProviderModel>): unknown => definition.checkModel?.(model("v7", parts));
    expect(issue({ requestOptions: {} })).to.equal(null);
    const { upstream: _, ...nameless } = model("v7");
    expect(definition.checkModel?.(nameless)).to.match(/^needs `upstream`/);
    expect(issue({ duration: { minSeconds: 1, maxSeconds: 2, defaultSeconds: 1 } })).to.match(/^has a `duration`/);
    expect(issue({ promptMaxLength: 1_001 })).to.match(/`promptMaxLength` of at most 1000$/);
    expect(issue({ lyricsMaxLength: 5_001 })).to.match(/`lyricsMaxLength` of at most 5000$/);
    expect(issue({ supportsLyrics: false, lyricsMaxLength: 9_000 })).to.equal(null);
    expect(issue({ options: { gender: "female" } })).to.equal("has options.gender; allowed: none");
    expect(issue({ requestOptions: { bpm: STANDARD_OPTIONS.bpm } })).to.equal(
      "has requestOptions.bpm; allowed: vocal_gender",
    );
  });
});
