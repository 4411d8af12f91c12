import { expect } from "chai";
import type { Completed, MusicRequest, ProviderLyrics, ProviderModel } from "../../core/ports/music-provider.js";
import definition from "../../plugins/elevenlabs/index.js";
import { asObject } from "../../plugins/sdk/index.js";
import { aMusicRequest, FakeApi, providerHost, settingsOf, tinyMp3 } from "../support/provider-kit/index.js";
import { API_KEY, CHUNKS, COMPOSE, detailed, METADATA, planned } from "./elevenlabs-support.js";

const { signal } = new AbortController();

describe("Lyrics of elevenlabs", () => {
  let fake: FakeApi;
  beforeEach(async () => {
    fake = await FakeApi.open();
    planned(fake);
    fake.on("POST", COMPOSE.path, detailed(tinyMp3()));
  });
  afterEach(() => fake.close());

  const submitted = async (parts: Partial<MusicRequest> = {}): Promise<Completed> => {
    const provider = definition.create(
      providerHost({ settings: settingsOf(definition, { apiKey: API_KEY, baseUrl: fake.url }) }),
    );
    const request = aMusicRequest(definition.models[0] as ProviderModel, {
      lyrics: null,
      instrumental: false,
      ...parts,
    });
    return (await provider.submit(request, { signal })) as Completed;
  };

  const sung = async (metadata: object): Promise<ProviderLyrics | undefined> => {
    fake.on("POST", COMPOSE.path, detailed(tinyMp3(), { ...METADATA, ...metadata }));
    return (await submitted()).tracks[0]?.lyrics;
  };
  const WORDS = [
    { word: "Words", start_ms: 8_120, end_ms: 8_600 },
    { word: " of", start_ms: 8_600, end_ms: 8_780 },
  ];
  const TIMED = [
    { text: "Words", startSeconds: 8.12, endSeconds: 8.6 },
    { text: "of", startSeconds: 8.6, endSeconds: 8.78 },
  ];

  it("have times of words, which are asked for unless there are no voices", async () => {
    await submitted();
    await submitted({ lyrics: "Old coat on the door" });
    await submitted({ options: { seed: 7 } });
    await submitted({ instrumental: true });
    const demands = fake.calls(COMPOSE).map(({ json: body }) => asObject(body)["with_timestamps"]);
    expect(demands).to.deep.equal([true, true, true, undefined]);
  });

  it("are the words of the plan with their labels and times, and no directions", async () => {
    const [intro, verse, chorus] = CHUNKS.chunks;
    const chunks = [intro, verse, chorus, { ...verse, text: "[Outro]\n[Instrumental]" }];
    expect(await sung({ composition_plan: { chunks }, words_timestamps: WORDS })).to.deep.equal({
      text: "[Verse]\nWords of its own\nAnd more of them\n\n[Chorus]\nIts own chorus",
      words: TIMED,
    });
    const sections = [
      { section_name: "Intro", lines: [] },
      { section_name: "Verse", lines: ["Old coat", "New coat"] },
    ];
    expect(await sung({ composition_plan: { sections } })).to.deep.equal({ text: "[Verse]\nOld coat\nNew coat" });
  });

  it("are the words that have times where the plan has none", async () => {
    expect(await sung({ words_timestamps: WORDS })).to.deep.equal({ text: "Words of", words: TIMED });
  });

  it("are none where nothing is sung", async () => {
    const silent = { chunks: [{ text: "[Intro]\n{drums}" }] };
    for (const metadata of [{}, { words_timestamps: [] }, { composition_plan: silent }])
      expect(await sung(metadata), JSON.stringify(metadata)).to.equal(undefined);
  });
});
