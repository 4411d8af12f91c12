import { expect } from "chai";
import type { Completed, MusicProvider, ProviderModel } from "../../core/ports/music-provider.js";
import definition from "../../plugins/loudly/index.js";
import { musicProviderContract } from "../contract/music-provider.contract.js";
import { aMusicRequest, FakeApi, json, providerHost, settingsOf, tinyMp3 } from "../support/provider-kit/index.js";
import { API_KEY, completes, LIMITS, limits, loudly, SONGS } from "./loudly-support.js";

musicProviderContract("loudly", loudly);

describe("loudly", () => {
  let fake: FakeApi;
  beforeEach(async () => {
    fake = await FakeApi.open();
  });
  afterEach(() => fake.close());

  const { signal } = new AbortController();
  const open = (): MusicProvider =>
    definition.create(providerHost({ settings: settingsOf(definition, { apiKey: API_KEY, baseUrl: `${fake.url}/` }) }));
  const model = (parts: Partial<ProviderModel> = {}): ProviderModel => ({
    ...(definition.models[0] as ProviderModel),
    ...parts,
  });

  it("sends a form of prompt and duration, and the key", async () => {
    await completes(fake);
    await open().submit(aMusicRequest(model(), { prompt: "drum and bass for a trailer", durationSeconds: 90 }), {
      signal,
    });
    const rain = { prompt: "40 seconds of rain", durationSeconds: null };
    await open().submit(aMusicRequest(model(), rain), { signal });
    await open().submit(aMusicRequest(model({ duration: null }), rain), { signal });
    const [first, second, third] = fake.calls(SONGS);
    expect(first?.headers).to.include({ "api-key": API_KEY }).and.not.have.property("authorization");
    expect(first?.headers["content-type"]).to.match(/^multipart\/form-data; boundary=/);
    expect(first?.fields).to.deep.equal([
      { name: "prompt", value: "drum and bass for a trailer" },
      { name: "duration", value: "90" },
    ]);
    expect(second?.fields).to.deep.equal([
      { name: "prompt", value: "40 seconds of rain" },
      { name: "duration", value: "60" },
    ]);
    expect(third?.fields).to.deep.equal([{ name: "prompt", value: "40 seconds of rain" }]);
  });

  it("keeps the key of the music as a tag, and makes nothing of what is not there", async () => {
    await completes(fake);
    const { tracks } = (await open().submit(aMusicRequest(model()), { signal })) as Completed;
    expect(tracks[0]?.tags).to.deep.equal({ mood: [], activity: [], genre: [], other: ["a minor"] });
    const bare = { id: "9", title: " ", bpm: 0, duration: 0, key: null, music_file_path: fake.file(tinyMp3("bare")) };
    fake.on(SONGS.method, SONGS.path, json(bare));
    const [track] = ((await open().submit(aMusicRequest(model()), { signal })) as Completed).tracks;
    expect(track).to.include({ title: null, bpm: null });
    expect(track?.tags.other).to.deep.equal([]);
    expect(track?.assets[0]?.durationSeconds).to.equal(null);
  });

  it("warns when no songs are left, or no limit is reported", async () => {
    fake.on(LIMITS.method, LIMITS.path, json(limits(0)));
    expect(await open().probe?.({ signal })).to.deep.equal({
      credit: { amount: 0, unit: "songs" },
      warnings: ["No songs are left."],
    });
    fake.on(LIMITS.method, LIMITS.path, json(limits(5, "other_song")));
    expect(await open().probe?.({ signal })).to.deep.equal({
      credit: null,
      warnings: ["The account's limits do not report what is left of ai_song."],
    });
  });

  it("takes too many requests for what they are, whatever is asked", async () => {
    fake.on(
      LIMITS.method,
      LIMITS.path,
      json({ error: "Too many requests" }, { status: 500, headers: { "retry-after": "4" } }),
    );
    const error = await open()
      .probe?.({ signal })
      .then(
        () => null,
        (reason: unknown) => reason,
      );
    expect(error).to.include({
      kind: "rate_limited",
      retryAfterMs: 4_000,
      billable: "no",
      message: "500: Too many requests",
    });
  });

  it("names what is wrong with a model of the operator's", () => {
    const duration = (minSeconds: number, maxSeconds: number): Partial<ProviderModel> => ({
      duration: { minSeconds, maxSeconds, defaultSeconds: 60 },
    });
    for (const parts of [duration(30, 420), duration(40, 90), { duration: null }])
      expect(definition.checkModel?.(model(parts))).to.equal(null);
    for (const parts of [duration(29, 420), duration(30, 421)])
      expect(definition.checkModel?.(model(parts))).to.equal("has another `duration` than 30 to 420 seconds");
    expect(definition.checkModel?.(model({ options: { genre: "house" } }))).to.equal(
      "has options.genre; allowed: none",
    );
    expect(definition.checkModel?.(model({ supportsLyrics: true }))).to.match(/^has `supportsLyrics`/);
  });
});
