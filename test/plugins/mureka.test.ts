import { expect } from "chai";
import {
  type Completed,
  type MusicProvider,
  type MusicRequest,
  ProviderFailure,
  type ProviderHandle,
  type ProviderModel,
  type Snapshot,
} from "../../core/ports/music-provider.js";
import definition from "../../plugins/mureka/index.js";
import { musicProviderContract } from "../contract/music-provider.contract.js";
import {
  aMusicRequest,
  aSource,
  aSplitRequest,
  FakeApi,
  json,
  providerHost,
  settingsOf,
  tinyMp3,
} from "../support/provider-kit/index.js";
import {
  accepts,
  aChoice,
  API_KEY,
  BILLING,
  billing,
  bodyOf,
  EASY,
  INSTRUMENTAL,
  mureka,
  murekaWithSplits,
  SONG,
  says,
  STEM,
  STEM_FILES,
} from "./mureka-support.js";

musicProviderContract("mureka", mureka);
musicProviderContract("mureka, with names of stem files", murekaWithSplits);

const { signal } = new AbortController();
const DAY_MS = 86_400_000;

describe("mureka", () => {
  let fake: FakeApi;
  beforeEach(async () => {
    fake = await FakeApi.open();
    await accepts(fake);
  });
  afterEach(() => fake.close());

  const open = (settings: Record<string, string> = {}): MusicProvider =>
    definition.create(
      providerHost({ settings: settingsOf(definition, { apiKey: API_KEY, baseUrl: fake.url, ...settings }) }),
    );
  const model = (id: string, parts: Partial<ProviderModel> = {}): ProviderModel => {
    const found = definition.models.find((candidate) => candidate.id === `mureka/${id}`);
    if (found === undefined) throw new Error(`there is no model ${id}`);
    return { ...found, ...parts };
  };
  const accepted = async (of: ProviderModel, parts: Partial<MusicRequest>): Promise<ProviderHandle> => {
    const outcome = await open().submit(aMusicRequest(of, parts), { signal });
    if (outcome.state !== "accepted") throw new Error("The work was to be accepted.");
    return outcome.handle;
  };
  const poll = (handle: ProviderHandle): Promise<Snapshot> | undefined => open().poll?.(handle, { signal });
  const failureOf = async (promise: Promise<unknown> | undefined): Promise<ProviderFailure> => {
    try {
      throw new Error(`Expected a failure, and got ${JSON.stringify(await promise)}`);
    } catch (error) {
      if (!ProviderFailure.is(error)) throw error;
      return error;
    }
  };

  it("sends lyrics to the song, and asks for one track unless the model says more", async () => {
    const parts = { prompt: "dream pop", lyrics: "[Verse]\nPaper boats", instrumental: false };
    const body = { model: "mureka-9", prompt: "dream pop", lyrics: "[Verse]\nPaper boats", stream: false };
    await accepted(model("v9"), parts);
    await accepted(model("v9", { options: { tracks: 3 } }), { ...parts, options: { vocal_gender: "female" } });
    expect(fake.calls(SONG).map(bodyOf)).to.deep.equal([
      { ...body, n: 1 },
      { ...body, n: 3, gender: "female" },
    ]);
    expect(fake.calls(SONG)[0]?.headers).to.include({
      authorization: `Bearer ${API_KEY}`,
      "content-type": "application/json",
    });
  });

  it("lets it write the words where there are none", async () => {
    const options = { vocal_gender: "male" };
    await accepted(model("o2"), { prompt: "rain", lyrics: null, instrumental: false, options });
    const body = { model: "mureka-o2", prompt: "rain", n: 1, stream: false, gender: "male" };
    expect(fake.calls(EASY).map(bodyOf)).to.deep.equal([body]);
  });

  it("polls an instrumental by its own route, and sends it no singer", async () => {
    const request = { prompt: "rain", lyrics: null, instrumental: true };
    const handle = await accepted(model("auto", { options: { tracks: 2 } }), request);
    expect(fake.calls(INSTRUMENTAL).map(bodyOf)).to.deep.equal([
      { model: "auto", prompt: "rain", n: 2, stream: false },
    ]);
    fake.on("GET", "/v1/instrumental/query/:id", json({ id: "1", status: "running" }));
    expect(await poll(handle)).to.deep.equal({ state: "running", nextPollMs: 5_000 });
    expect(fake.unexpected).to.deep.equal([]);
  });

  it("leaves the operator's default voice out of an instrumental, and refuses a caller's choice there", async () => {
    const { requestOptions } = model("auto");
    const { vocal_gender: voice } = requestOptions ?? {};
    if (voice?.type !== "string") throw new Error("vocal_gender is a text");
    const of = model("auto", { requestOptions: { vocal_gender: { ...voice, default: "male" } } });
    const instrumental = { prompt: "rain", lyrics: null, instrumental: true };
    await accepted(of, { ...instrumental, options: { vocal_gender: "male" } });
    expect(bodyOf(fake.calls(INSTRUMENTAL)[0])).to.not.have.property("gender");
    for (const [name, options] of [
      [of, { vocal_gender: "female" }],
      [model("auto"), { vocal_gender: "male" }],
    ] as const) {
      const failure = await failureOf(accepted(name, { ...instrumental, options }));
      expect(failure).to.include({ kind: "invalid_input", billable: "no" });
    }
    expect(fake.calls(INSTRUMENTAL)).to.have.lengthOf(1);
  });

  it("delivers a lossless copy next to the mix, until the links die after 30 days", async () => {
    await says({ status: "succeeded", finished_at: 1_790_000_080, choices: [aChoice(fake, tinyMp3("one"), 0)] })(fake);
    const { tracks } = (await poll(await accepted(model("v9"), {}))) as Completed;
    expect(tracks[0]?.assets.map(({ role, durationSeconds }) => [role, durationSeconds])).to.deep.equal([
      ["mix", 182],
      ["master", 182],
    ]);
    for (const { source } of tracks[0]?.assets ?? [])
      expect(source).to.have.property("expiresAt", 1_790_000_080_000 + 30 * DAY_MS);
  });

  describe("lyrics", () => {
    const word = (text: string, start: unknown, end: unknown): object => ({ text, start, end });
    const line = (text: string, words?: readonly object[]): object => ({ start: 0, end: 9_000, text, words });
    const verse = (...lines: readonly object[]): object => ({ section_type: "verse", start: 0, end: 9_000, lines });
    const sung = async (...sections: readonly object[]): Promise<unknown> => {
      const choice = { ...aChoice(fake, tinyMp3("one"), 0), lyrics_sections: sections };
      await says({ status: "succeeded", choices: [choice] })(fake);
      return ((await poll(await accepted(model("v9"), {}))) as Completed).tracks[0]?.lyrics;
    };

    it("are the lines of the sections, with the times of all words in seconds", async () => {
      const [paper, blank, boats] = [word("Paper", 1_250, 1_500), word(" ", 1_500, 1_500), word("boats", 1_500, 2_000)];
      const far = verse(line("Far", [word("Far", 3_000, 3_250)]));
      const silent = { section_type: "intro", lines: [] };
      expect(await sung(verse(line("Paper boats", [paper, blank, boats])), silent, far)).to.deep.equal({
        text: "[verse]\nPaper boats\n\n[verse]\nFar",
        words: [
          { text: "Paper", startSeconds: 1.25, endSeconds: 1.5 },
          { text: "boats", startSeconds: 1.5, endSeconds: 2 },
          { text: "Far", startSeconds: 3, endSeconds: 3.25 },
        ],
      });
    });

    it("have no times where a line has no words with times", async () => {
      const text = { text: "[verse]\nPaper boats\nFar" };
      expect(await sung(verse(line("Paper boats", [word("Paper", 0, 1)]), line("Far")))).to.deep.equal(text);
      expect(await sung(verse(line("Paper boats"), line("Far")))).to.deep.equal(text);
    });

    it("are none where no section has a line", async () => {
      expect(await sung()).to.equal(undefined);
      expect(await sung(verse(), { section_type: "outro" })).to.equal(undefined);
    });
  });

  it("delivers the lossless file alone where there is no other", async () => {
    await says({ status: "succeeded", choices: [{ index: 0, flac_url: "https://cdn.mureka.ai/a.flac", duration: 0 }] })(
      fake,
    );
    const { tracks } = (await poll(await accepted(model("v9"), {}))) as Completed;
    const source = { kind: "url", url: "https://cdn.mureka.ai/a.flac" };
    expect(tracks[0]?.assets).to.deep.equal([
      { role: "mix", label: "full", contentType: null, durationSeconds: null, source },
    ]);
  });

  for (const status of ["preparing", "queued", "running", "streaming", "reviewing", "pondering"]) {
    it(`runs on while it is ${status}`, async () => {
      await says({ status })(fake);
      expect(await poll(await accepted(model("v9"), {}))).to.deep.equal({ state: "running", nextPollMs: 5_000 });
    });
  }

  it("hands a track to the split by its link where it has one", async () => {
    fake.on(STEM.method, STEM.path, json({ zip_url: "https://cdn.mureka.ai/a.zip", expires_at: 1_790_086_400 }));
    const source = aSource({ url: "https://fermata.example/a.mp3", sizeBytes: 9_000_000 });
    const settings = { stemFiles: STEM_FILES, separationModel: "audio-separation-3" };
    const outcome = await open(settings).submit(aSplitRequest("vocal_removal", source), { signal });
    expect(bodyOf(fake.calls(STEM)[0])).to.deep.equal({
      url: "https://fermata.example/a.mp3",
      model: "audio-separation-3",
    });
    const archive = { kind: "url", url: "https://cdn.mureka.ai/a.zip", expiresAt: 1_790_086_400_000 };
    expect((outcome as Completed).stems?.map(({ label, source: from }) => [label, from])).to.deep.equal([
      ["vocals", { kind: "archive", archive, entry: "vocals.mp3" }],
      ["instrumental", { kind: "archive", archive, entry: "backing.mp3" }],
    ]);
  });

  it("writes no file into a request that is larger than ten megabytes with it", async () => {
    const request = aSplitRequest("stem_split", aSource({ sizeBytes: 7_500_001 }));
    expect((await failureOf(open({ stemFiles: STEM_FILES }).submit(request, { signal }))).kind).to.equal(
      "invalid_input",
    );
    expect(fake.requests).to.have.lengthOf(0);
  });

  describe("the probe", () => {
    const probed = async (body: object): Promise<unknown> => {
      fake.on(BILLING.method, BILLING.path, json(body));
      return open().probe?.({ signal });
    };

    it("warns of an empty balance and of a limit below what is sent at once, and logs the limit", async () => {
      const host = providerHost({ settings: settingsOf(definition, { apiKey: API_KEY, baseUrl: fake.url }) });
      fake.on(BILLING.method, BILLING.path, json(billing(0, 2)));
      expect(await definition.create(host).probe?.({ signal })).to.deep.equal({
        credit: { amount: 0, unit: "cents" },
        warnings: ["No credit is left.", "concurrent_request_limit is 2: set maxInFlight to that or less."],
      });
      expect(host.lines.map(({ fields }) => fields)).to.deep.equal([{ concurrentRequestLimit: 2 }]);
    });

    it("has no warning where there are credit and room enough", async () => {
      expect(await probed(billing(12, 4))).to.deep.equal({ credit: { amount: 12, unit: "cents" }, warnings: [] });
    });

    it("shows no credit where the body has none that is a number", async () => {
      for (const body of [{}, { balance: "12", concurrent_request_limit: "2" }, { concurrent_request_limit: 0 }])
        expect(await probed(body)).to.deep.equal({ credit: null, warnings: [] });
    });
  });

  it("removes vocals only where both files are named", () => {
    const declared = (stemFiles: string): unknown[] => {
      const { capabilities } = definition;
      const { stemSplit, vocalRemoval } =
        typeof capabilities === "function" ? capabilities({ stemFiles }) : capabilities;
      return [stemSplit !== undefined, vocalRemoval !== undefined];
    };
    expect(declared(STEM_FILES)).to.deep.equal([true, true]);
    expect(declared('{"vocals":"vocals.mp3","drums":"drums.mp3"}')).to.deep.equal([true, false]);
  });

  for (const stemFiles of [
    "vocals.mp3",
    "[]",
    "{}",
    '{"Vocals":"a.mp3"}',
    '{"vocals":""}',
    '{"vocals":1}',
    '{"full":"a.mp3"}',
  ]) {
    it(`takes ${stemFiles} for no names of stem files`, () => {
      expect(() => open({ stemFiles })).to.throw(`stemFiles: ${JSON.stringify(stemFiles)}; allowed: a JSON object`);
    });
  }

  it("names what is wrong with a model of the operator's", () => {
    const wrong = (parts: Partial<ProviderModel>): string | null | undefined =>
      definition.checkModel?.(model("v9", parts));
    expect(wrong({ options: { tracks: 3 } })).to.equal(null);
    const { upstream: _, ...nameless } = model("v9");
    expect(definition.checkModel?.(nameless)).to.match(/^needs `upstream`/);
    expect(wrong({ upstream: "mureka-o2" })).to.match(/no instrumentals$/);
    expect(wrong({ duration: { minSeconds: 1, maxSeconds: 2, defaultSeconds: 1 } })).to.match(/^has a `duration`/);
    expect(wrong({ promptMaxLength: 1_025 })).to.match(/at most 1024$/);
    expect(wrong({ options: { seed: 1 } })).to.equal("has options.seed; allowed: tracks");
    for (const tracks of [0, 4, 1.5, "2"])
      expect(wrong({ options: { tracks } })).to.match(/options.tracks than 1 to 3/);
    expect(wrong({ options: { gender: "female" } })).to.match(/requestOptions: { vocal_gender: { default: female } }$/);
    const seed = { type: "integer", minimum: 0, maximum: 1, description: "Seed." } as const;
    expect(wrong({ requestOptions: { seed } })).to.equal("has requestOptions.seed; allowed: vocal_gender");
    const references = { extend: { sources: "any" } } as const;
    expect(wrong({ references })).to.equal("has references.extend; only for auto, mureka-8, mureka-7.6");
    expect(wrong({ upstream: "mureka-8", references })).to.equal(null);
    const inpaint = { inpaint: { sources: "own" } } as const;
    expect(wrong({ references: inpaint })).to.equal("has references.inpaint; allowed: extend, cover");
  });
});
