import { expect } from "chai";
import type { Completed, MusicProvider, ProviderModel } from "../../core/ports/music-provider.js";
import definition from "../../plugins/loudly/index.js";
import { type ExpectedTracks, musicProviderContract, type Script } from "../contract/music-provider.contract.js";
import {
  aMusicRequest,
  FakeApi,
  htmlPage,
  json,
  providerHost,
  settingsOf,
  tinyMp3,
} from "../support/provider-kit/index.js";

const SONGS = { method: "POST", path: "/b2b/ai/prompt/songs" } as const;
const LIMITS = { method: "GET", path: "/b2b/account/limits" } as const;
const API_KEY = "key-of-loudly";

const refused = (status: number, error = "bad_request", description = "why"): Script => {
  return (fake) => void fake.on(SONGS.method, SONGS.path, json({ error, error_description: description }, { status }));
};

const aSong = (fake: FakeApi, mix: Uint8Array): object => ({
  id: "9",
  title: "Night Run",
  duration: 60.2,
  bpm: 174,
  key: { id: 1, name: "A minor", active: true },
  music_file_path: fake.file(mix),
  wave_form_file_path: `${fake.url}/wave.json`,
  xml_file_path: `${fake.url}/song.xml`,
  created_at: "2026-08-01T10:00:00Z",
});

const completes: Script<ExpectedTracks> = (fake) => {
  const mix = tinyMp3("song");
  fake.on(SONGS.method, SONGS.path, json(aSong(fake, mix)));
  return { mixes: [mix], tracks: [{ title: "Night Run", bpm: 174, mixSeconds: 60.2 }] };
};

const limits = (left: number, type = "ai_song"): object[] => [
  { request_type: "catalog_song", limit: 10, used: 10, left: 0 },
  { request_type: type, limit: 100, used: 100 - left, left },
];

const nothing = (why: string): { readonly notApplicable: string } => ({ notApplicable: why });

musicProviderContract("loudly", {
  definition,
  settings: (fake) => ({ apiKey: API_KEY, baseUrl: fake.url }),
  generation: { submit: SONGS, completes, severalTracks: nothing("a call makes one song") },
  work: nothing("the call lasts as long as the work"),
  refusals: {
    content: nothing("how moderation answers is not documented"),
    rateLimit: refused(500, "internal_error", "Rate limit exceeded"),
    key: refused(401),
    credit: nothing("how an account without credit is answered is not documented"),
    unavailable: (fake) => void fake.on(SONGS.method, SONGS.path, htmlPage(503)),
    input: refused(400, "invalid_genre"),
    errorWith200: nothing("errors have a status of their own"),
    others: {
      "too many requests, said in the error": { kind: "rate_limited", script: refused(500, "rate_limit_exceeded", "") },
      "too many requests, by the status": { kind: "rate_limited", script: refused(429) },
      "an error of the server": { kind: "outcome_unknown", script: refused(500, "internal_error", "something broke") },
      "a path that is not there": { kind: "model_unavailable", script: refused(404) },
      "a song without a file": {
        kind: "failed",
        script: (fake) => void fake.on(SONGS.method, SONGS.path, json({ id: "9", music_file_path: null })),
      },
    },
  },
  idempotency: nothing("there is no key of idempotency"),
  callbacks: nothing("it has no callbacks"),
  lookup: nothing("no call finds a song"),
  cancel: nothing("nothing can be cancelled there"),
  probe: {
    route: LIMITS,
    responses: (fake) => {
      fake.on(LIMITS.method, LIMITS.path, json(limits(73)));
      return { amount: 73, unit: "songs" };
    },
    refusesKey: (fake) => void fake.on(LIMITS.method, LIMITS.path, json({ error: "unauthorized" }, { status: 401 })),
  },
  stemSplit: nothing("stems are a product of its own there"),
  vocalRemoval: nothing("its songs have no voices"),
});

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
