import { expect } from "chai";
import type { Completed, MusicProvider, ProviderModel } from "../../core/ports/music-provider.js";
import definition from "../../plugins/beatoven/index.js";
import { musicProviderContract } from "../contract/music-provider.contract.js";
import { aMusicRequest, FakeApi, json, providerHost, settingsOf, tinyMp3 } from "../support/provider-kit/index.js";
import { API_KEY, beatoven, COMPOSE, refused, STEMS, succeeds, TASK, task } from "./beatoven-support.js";

musicProviderContract("beatoven", beatoven);

describe("beatoven", () => {
  let fake: FakeApi;
  beforeEach(async () => {
    fake = await FakeApi.open();
    fake.on(COMPOSE.method, COMPOSE.path, json({ status: "started", task_id: "ccb8_1" }));
  });
  afterEach(() => fake.close());

  const { signal } = new AbortController();
  const open = (settings: Record<string, string | number> = {}): MusicProvider =>
    definition.create(
      providerHost({ settings: settingsOf(definition, { apiKey: API_KEY, baseUrl: `${fake.url}/`, ...settings }) }),
    );
  const model = (parts: Partial<ProviderModel> = {}): ProviderModel => ({
    ...(definition.models[0] as ProviderModel),
    ...parts,
  });
  const handle = { version: 1, data: { taskId: "ccb8_1" } };

  it("sends the prompt, the format and the key", async () => {
    const outcome = await open({ pollMs: 7_000 }).submit(aMusicRequest(model(), { prompt: "warm acoustic morning" }), {
      signal,
    });
    expect(outcome).to.deep.equal({ state: "accepted", handle, nextPollMs: 7_000 });
    const [request] = fake.calls(COMPOSE);
    expect(request?.json).to.deep.equal({ prompt: { text: "warm acoustic morning" }, format: "mp3", looping: false });
    expect(request?.headers).to.include({ authorization: `Bearer ${API_KEY}`, "content-type": "application/json" });
  });

  it("says the length in words, and sends the model's options", async () => {
    const of = model({
      duration: { minSeconds: 10, maxSeconds: 90, defaultSeconds: 30 },
      options: { format: "wav", looping: true },
    });
    await open().submit(aMusicRequest(of, { prompt: "warm acoustic morning", durationSeconds: 45 }), { signal });
    expect(fake.calls(COMPOSE)[0]?.json).to.deep.equal({
      prompt: { text: "45 seconds warm acoustic morning" },
      format: "wav",
      looping: true,
    });
  });

  it("delivers the stems that there are with the track", async () => {
    succeeds(fake);
    const whole = (await open().poll?.(handle, { signal })) as Completed;
    expect(fake.calls(TASK)[0]?.params).to.deep.equal({ id: "ccb8_1" });
    expect(whole.tracks[0]?.assets.map(({ role, label }) => `${role} ${label}`)).to.deep.equal([
      "mix full",
      ...STEMS.map((name) => `stem ${name}`),
    ]);
    const meta = {
      track_url: fake.file(tinyMp3("whole")),
      stems_url: { bass: fake.file(tinyMp3("bass")), chords: null, melody: "" },
    };
    await task({ status: "composed", meta })(fake);
    const part = (await open().poll?.(handle, { signal })) as Completed;
    expect(part.tracks[0]?.assets.map(({ label }) => label)).to.deep.equal(["full", "bass"]);
  });

  it("repeats what it said of an error", async () => {
    await refused(400)(fake);
    const error = await open()
      .submit(aMusicRequest(model()), { signal })
      .then(
        () => null,
        (reason: unknown) => reason,
      );
    expect(error).to.include({ kind: "invalid_input", message: "400: no: why", billable: "no" });
  });

  it("names what is wrong with a model of the operator's", () => {
    expect(definition.checkModel?.(model({ options: { format: "wav", looping: true } }))).to.equal(null);
    expect(definition.checkModel?.(model({ options: { format: "aac" } }))).to.equal(
      "has another options.format than wav, mp3",
    );
    expect(definition.checkModel?.(model({ options: { looping: "yes" } }))).to.match(/^has options.looping/);
    expect(definition.checkModel?.(model({ options: { seed: 1 } }))).to.equal(
      "has options.seed; allowed: format, looping",
    );
    expect(definition.checkModel?.(model({ supportsLyrics: true }))).to.match(/^has `supportsLyrics`/);
  });
});
