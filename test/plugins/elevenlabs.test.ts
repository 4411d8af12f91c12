import { expect } from "chai";
import { ProviderFailure } from "../../core/ports/music-provider.js";
import type {
  Completed,
  MusicProvider,
  MusicRequest,
  ProviderHost,
  ProviderModel,
} from "../../core/ports/music-provider.js";
import definition from "../../plugins/elevenlabs/index.js";
import { asObject } from "../../plugins/sdk/index.js";
import { musicProviderContract } from "../contract/music-provider.contract.js";
import {
  aMusicRequest,
  bytes,
  FakeApi,
  json,
  providerHost,
  settingsOf,
  tinyMp3,
} from "../support/provider-kit/index.js";
import {
  API_KEY,
  CHUNKS,
  COMPOSE,
  detailed,
  elevenLabsHarness,
  METADATA,
  PLAN,
  planned,
  refusal,
  SECTIONS,
} from "./elevenlabs-support.js";

musicProviderContract("elevenlabs", elevenLabsHarness);

const { signal } = new AbortController();

describe("elevenlabs", () => {
  let fake: FakeApi;
  beforeEach(async () => {
    fake = await FakeApi.open();
    planned(fake);
    fake.on("POST", COMPOSE.path, detailed(tinyMp3()));
  });
  afterEach(() => fake.close());

  const open = (settings: ProviderHost["settings"] = {}): MusicProvider =>
    definition.create(
      providerHost({ settings: settingsOf(definition, { apiKey: API_KEY, baseUrl: `${fake.url}/`, ...settings }) }),
    );
  const model = (id: string): ProviderModel => {
    const found = definition.models.find((candidate) => candidate.id === `elevenlabs/${id}`);
    if (found === undefined) throw new Error(`there is no model ${id}`);
    return found;
  };
  const submitted = async (parts: Partial<MusicRequest> = {}, of = model("music-v2")): Promise<Completed> =>
    (await open().submit(aMusicRequest(of, { prompt: "indie folk", lyrics: null, ...parts }), { signal })) as Completed;
  const failureOf = async (promise: Promise<unknown>): Promise<ProviderFailure> => {
    const response = await promise.catch((error: unknown) => error);
    if (!ProviderFailure.is(response)) throw new Error(`Expected a failure, and got ${JSON.stringify(response)}`);
    return response;
  };
  /** Of compositions, apart from the option for times of words, which has a test of its own. */
  const bodies = (): unknown[] =>
    fake.calls(COMPOSE).map(({ json: body }) => {
      const { with_timestamps: _, ...others } = asObject(body);
      return others;
    });

  describe("what is sent", () => {
    it("is one call by prompt, its length in milliseconds, where there are no lyrics", async () => {
      await submitted({ durationSeconds: 45, instrumental: true });
      await submitted({ durationSeconds: 45, instrumental: false });
      const body = { prompt: "indie folk", model_id: "music_v2", music_length_ms: 45_000 };
      expect(bodies()).to.deep.equal([
        { ...body, force_instrumental: true },
        { ...body, force_instrumental: false },
      ]);
      expect(fake.calls(PLAN)).to.have.lengthOf(0);
      const [call] = fake.calls(COMPOSE);
      expect(call?.headers).to.include({ "xi-api-key": API_KEY, "content-type": "application/json" });
      expect(call?.headers).to.not.have.any.keys("authorization");
      expect(call?.query).to.deep.equal({ output_format: "auto" });
    });

    it("is a plan, its words as they are, where there is a seed and no lyrics, since a prompt takes none", async () => {
      for (const seed of [0, 7]) await submitted({ durationSeconds: 45, options: { seed } });
      expect(fake.calls(PLAN).map(({ json }) => json)).to.deep.equal(
        Array(2).fill({ prompt: "indie folk", model_id: "music_v2", music_length_ms: 45_000 }),
      );
      expect(bodies()).to.deep.equal([0, 7].map((seed) => ({ composition_plan: CHUNKS, model_id: "music_v2", seed })));
      fake.on("POST", PLAN.path, json(SECTIONS));
      await submitted({ options: { seed: 9 } }, model("music-v1"));
      expect(bodies()[2]).to.deep.equal({ composition_plan: SECTIONS, model_id: "music_v1", seed: 9 });
    });

    it("is the seed next to the plan where there are lyrics", async () => {
      await submitted({ lyrics: "Old coat on the door", options: { seed: 7 } });
      expect(bodies()[0]).to.have.all.keys("composition_plan", "model_id", "seed");
      expect(bodies()[0]).to.include({ seed: 7 });
    });

    it("is nothing where music without voices is asked for with a seed, or the plan is none", async () => {
      const both = failureOf(submitted({ instrumental: true, options: { seed: 7 } }));
      expect(await both).to.include({ kind: "invalid_input", billable: "no" });
      expect(fake.requests).to.have.lengthOf(0);
      fake.on("POST", PLAN.path, json({ chunks: [] }));
      expect((await failureOf(submitted({ options: { seed: 7 } }))).kind).to.equal("unavailable");
      expect(fake.calls(COMPOSE)).to.have.lengthOf(0);
    });

    it("is the model's usual length where the caller names none, and none where the model has none", async () => {
      await submitted({ durationSeconds: null });
      await submitted({ durationSeconds: null }, { ...model("music-v1"), duration: null });
      expect(bodies()[0]).to.include({ music_length_ms: 120_000 });
      expect(bodies()[1]).to.deep.equal({ prompt: "indie folk", model_id: "music_v1", force_instrumental: false });
    });

    it("is a plan with the caller's words where there are lyrics, without what goes with a prompt only", async () => {
      await submitted({ lyrics: "[Verse 1]\nSlow rain\nOn the harbour\n\nCarry me over", durationSeconds: 60 });
      expect(fake.calls(PLAN).map((request) => request.json)).to.deep.equal([
        { prompt: "indie folk", model_id: "music_v2", music_length_ms: 60_000 },
      ]);
      const [intro, verse, chorus] = CHUNKS.chunks;
      expect(bodies()).to.deep.equal([
        {
          model_id: "music_v2",
          composition_plan: {
            chunks: [
              intro,
              { ...verse, text: "[Verse 1]\nSlow rain\nOn the harbour" },
              { ...chorus, text: "[Chorus]\nCarry me over" },
            ],
          },
        },
      ]);
    });

    it("puts lines and names into the sections of music_v1", async () => {
      fake.on("POST", PLAN.path, json(SECTIONS));
      const long = `${"rain ".repeat(45)}ends`;
      await submitted({ lyrics: `[Strophe]\nOld coat\n[Refrain]\n${long}` }, model("music-v1"));
      const [intro, verse] = SECTIONS.sections;
      const lines = ["Old coat", "rain ".repeat(40).trim(), `${"rain ".repeat(5)}ends`];
      expect(bodies()).to.deep.equal([
        {
          model_id: "music_v1",
          composition_plan: { ...SECTIONS, sections: [intro, { ...verse, section_name: "Strophe", lines }] },
        },
      ]);
    });

    it("deals many verses to few parts in order, halves long ones, and keeps no words of the plan", async () => {
      await submitted({ lyrics: "one\n\ntwo\n\nthree\n\nfour" });
      await submitted({ lyrics: "one\ntwo\nthree\nfour" });
      await submitted({ lyrics: "one" });
      const texts = (bodies() as { composition_plan: typeof CHUNKS }[]).map(({ composition_plan: { chunks } }) =>
        chunks.slice(1).map(({ text }) => text),
      );
      expect(texts).to.deep.equal([
        ["[Verse]\none\ntwo", "[Chorus]\nthree\nfour"],
        ["[Verse]\none\ntwo", "[Chorus]\nthree\nfour"],
        ["[Verse]\none", "[Instrumental]\n{louder}"],
      ]);
    });

    it("sings in every part of a plan that sings in none", async () => {
      fake.on("POST", PLAN.path, json({ chunks: [{ text: "[Intro]" }, { text: "" }] }));
      await submitted({ lyrics: "one\n\ntwo" });
      expect(bodies()).to.deep.equal([
        { model_id: "music_v2", composition_plan: { chunks: [{ text: "[Intro]\none" }, { text: "two" }] } },
      ]);
    });

    it("is nothing that is paid for where the words do not fit the plan", async () => {
      fake.on("POST", PLAN.path, json(SECTIONS));
      const lines = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index}`).join("\n");
      await submitted({ lyrics: lines(30) }, model("music-v1"));
      expect((await failureOf(submitted({ lyrics: lines(31) }, model("music-v1")))).kind).to.equal("invalid_input");
      fake.on("POST", PLAN.path, json({ chunks: [{ text: "[Verse]\nla" }] }));
      await submitted({ lyrics: lines(30) });
      expect((await failureOf(submitted({ lyrics: lines(31) }))).kind).to.equal("invalid_input");
      expect((await failureOf(submitted({ lyrics: `[Chorus]\n${lines(30)}` }))).kind).to.equal("invalid_input");
      expect(bodies()).to.have.lengthOf(2);
    });

    it("cuts lines of chunks at 200 characters, and names of sections at 100; a name of none is left out", async () => {
      fake.on("POST", PLAN.path, json({ chunks: [{ text: "[]\nla" }, { text: "la" }] }));
      const long = `${"rain ".repeat(58)}ends long`;
      await submitted({ lyrics: `[]\n${long}\n\n[${"n".repeat(120)}]\nend` }, model("music-v2.5"));
      const text = ["rain ".repeat(40).trim(), `${"rain ".repeat(18)}ends long`].join("\n");
      expect(bodies()).to.deep.equal([
        { model_id: "music_v2_5", composition_plan: { chunks: [{ text }, { text: `[${"n".repeat(100)}]\nend` }] } },
      ]);
    });

    it("is a prompt where the lyrics are blank", async () => {
      await submitted({ lyrics: " \n " });
      expect(fake.calls(PLAN)).to.have.lengthOf(0);
    });

    it("asks for the kind of file that the settings name", async () => {
      await open({ outputFormat: "mp3_44100_192" }).submit(aMusicRequest(model("music-v1"), { lyrics: null }), {
        signal,
      });
      expect(fake.calls(COMPOSE)[0]?.query).to.deep.equal({ output_format: "mp3_44100_192" });
    });
  });

  describe("what comes of it", () => {
    it("has genres as tags, and says what is explicit", async () => {
      const metadata = { ...METADATA, song_metadata: { ...METADATA.song_metadata, title: null, is_explicit: true } };
      fake.on("POST", COMPOSE.path, detailed(tinyMp3(), metadata, "--=_x'1"));
      const { tracks } = await submitted();
      const tags = { mood: [], activity: [], genre: ["folk", "indie folk"], other: ["explicit"] };
      expect(tracks[0]).to.deep.include({ title: null, tags });
    });

    it("is the sound alone where the metadata cannot be read, or where nothing else came", async () => {
      const sound = tinyMp3("alone");
      const body = Buffer.concat([Buffer.from("--b\r\ncontent-type: audio/mpeg\r\n\r\n"), sound]);
      for (const response of [bytes(sound, "audio/mpeg"), bytes(body, 'multipart/mixed; boundary="b"')]) {
        fake.on("POST", COMPOSE.path, response);
        const source = (await submitted()).tracks[0]?.assets[0]?.source;
        expect(source?.kind === "bytes" && Buffer.from(source.bytes).equals(sound)).to.equal(true);
      }
    });

    it("is of unknown outcome where a successful response has no audio in it", async () => {
      fake.on("POST", COMPOSE.path, detailed(new Uint8Array()));
      expect((await failureOf(submitted())).kind).to.equal("outcome_unknown");
    });

    it("is a refusal with code, request id, and the suggestion wherever it stands", async () => {
      const suggestion = { prompt_suggestion: "beat group" };
      const { detail } = { detail: { code: "bad_prompt", message: "names an artist" } };
      for (const response of [
        refusal(422, "bad_prompt", { data: suggestion }),
        refusal(422, "bad_prompt", suggestion),
        json({ detail, ...suggestion }, { status: 422 }),
      ]) {
        fake.on("POST", COMPOSE.path, response);
        const failure = await failureOf(submitted());
        expect(failure).to.include({ kind: "content_rejected", billable: "no", providerCode: "bad_prompt" });
        expect(failure.message).to.include('It suggests: "beat group"');
      }
      fake.on("POST", COMPOSE.path, refusal(401, "quota_exceeded"));
      expect(await failureOf(submitted())).to.include({ requestId: "r1", message: "401: it says quota_exceeded" });
      fake.on("POST", COMPOSE.path, json({ detail: [{ loc: ["body", "seed"], msg: "extra" }] }, { status: 422 }));
      expect(await failureOf(submitted())).to.include({ kind: "invalid_input", message: "422: body.seed: extra" });
    });
  });

  it("names what is wrong with a model of the operator's", () => {
    const own = model("music-v2");
    const { upstream: _, ...nameless } = own;
    expect(definition.checkModel?.({ ...own, upstream: "music_v2_5" })).to.equal(null);
    expect(definition.checkModel?.(nameless)).to.match(/^needs `upstream`/);
    expect(
      definition.checkModel?.({ ...own, duration: { minSeconds: 1, maxSeconds: 600, defaultSeconds: 9 } }),
    ).to.match(/3 to 600/);
    expect(
      definition.checkModel?.({ ...own, duration: { minSeconds: 3, maxSeconds: 601, defaultSeconds: 9 } }),
    ).to.match(/3 to 600/);
    expect(definition.checkModel?.({ ...own, options: { seed: 1 } })).to.equal("has options.seed; allowed: none");
  });
});
