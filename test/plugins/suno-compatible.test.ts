import { createHmac } from "node:crypto";
import { expect } from "chai";
import {
  type CallbackRequest,
  type Completed,
  type MusicProvider,
  type MusicRequest,
  type ParsedCallback,
  ProviderFailure,
  type ProviderHandle,
  type ProviderModel,
  type Snapshot,
} from "../../core/ports/music-provider.js";
import definition from "../../plugins/suno-compatible/index.js";
import { musicProviderContract } from "../contract/music-provider.contract.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import {
  aMusicRequest,
  aSource,
  aSplitRequest,
  FakeApi,
  providerHost,
  settingsOf,
  tinyMp3,
} from "../support/provider-kit/index.js";
import {
  API_KEY,
  aTrack,
  CREDIT,
  envelope,
  GENERATE,
  kie,
  KIE_CREDIT,
  RECORD,
  SPLIT,
  SPLIT_RECORD,
  status,
  sunoapi,
  WEBHOOK_KEY,
} from "./suno-compatible-support.js";

musicProviderContract("suno-compatible, sunoapi.org", sunoapi);
musicProviderContract("suno-compatible, kie.ai", kie);

const { signal } = new AbortController();
const handle = (data: object = {}): ProviderHandle => ({
  version: 1,
  data: { operation: "music", taskId: "t77", unreportedSince: null, dialect: "sunoapi.org", ...data },
});

describe("suno-compatible", () => {
  let fake: FakeApi;
  let clock: ManualClock;
  beforeEach(async () => {
    fake = await FakeApi.open();
    clock = new ManualClock();
    for (const { method, path } of [GENERATE, SPLIT]) fake.on(method, path, envelope({ taskId: "t77" }));
  });
  afterEach(() => fake.close());

  const open = (settings: Record<string, string> = {}): MusicProvider => {
    const given = settingsOf(definition, { apiKey: API_KEY, baseUrl: `${fake.url}/`, ...settings });
    return definition.create(providerHost({ clock, models: definition.models, settings: given }));
  };
  const model = (id: string, parts: Partial<ProviderModel> = {}): ProviderModel => {
    const found = definition.models.find((candidate) => candidate.id === `suno-compatible/${id}`);
    if (found === undefined) throw new Error(`there is no model ${id}`);
    return { ...found, ...parts };
  };
  const sent = async (
    of: ProviderModel,
    parts: Partial<MusicRequest>,
    settings: Record<string, string> = {},
  ): Promise<unknown> => {
    await open(settings).submit(aMusicRequest(of, parts), { signal });
    return fake.calls(GENERATE).at(-1)?.json;
  };
  const failureOf = async (promise: Promise<unknown> | undefined): Promise<ProviderFailure> => {
    try {
      throw new Error(`Expected a failure, and got ${JSON.stringify(await promise)}`);
    } catch (error) {
      if (!ProviderFailure.is(error)) throw error;
      return error;
    }
  };

  describe("what is sent", () => {
    it("has the lyrics as prompt and the description as style, where there are lyrics", async () => {
      const body = await sent(model("v5.5", { options: { styleWeight: 0.65 } }), {
        options: { negative_prompt: "metal", vocal_gender: "female" },
        prompt: "dream pop",
        lyrics: "[Verse]\nPaper boats",
        instrumental: false,
        callbackUrl: "https://fermata.example/cb",
      });
      expect(body).to.deep.equal({
        customMode: true,
        instrumental: false,
        model: "V5_5",
        prompt: "[Verse]\nPaper boats",
        style: "dream pop",
        title: "dream pop",
        negativeTags: "metal",
        vocalGender: "f",
        styleWeight: 0.65,
        duration: 180,
        callBackUrl: "https://fermata.example/cb",
      });
      expect(fake.calls(GENERATE)[0]?.headers).to.include({
        authorization: `Bearer ${API_KEY}`,
        "content-type": "application/json",
      });
    });

    const callBackUrl = "https://callback.invalid/";

    it("has the description as prompt and style where words are to be written: a prompt alone is refused", async () => {
      const of = model("v4.5-plus");
      expect(await sent(of, { prompt: "rain", lyrics: null, instrumental: false })).to.deep.equal({
        customMode: false,
        instrumental: false,
        model: "V4_5PLUS",
        prompt: "rain",
        style: "rain",
        callBackUrl,
      });
    });

    it("has the description as style and no words, for an instrumental", async () => {
      const of = model("v4.5-plus");
      const options = { negative_prompt: "metal" };
      expect(await sent(of, { prompt: "rain", lyrics: null, instrumental: true, options })).to.deep.equal({
        customMode: true,
        instrumental: true,
        model: "V4_5PLUS",
        style: "rain",
        title: "rain",
        negativeTags: "metal",
        callBackUrl,
      });
    });

    const timed = { v6: "V6", "v6-wild": "V6_WILD", "v6-mini": "V6_MINI", "v5.5": "V5_5" };
    for (const [id, upstream] of Object.entries(timed)) {
      it(`names a duration with ${upstream}, which is 20 seconds there when it is left out`, async () => {
        const dialect = id === "v5.5" ? "sunoapi.org" : "kie.ai";
        const song = { prompt: "rain", lyrics: "La", instrumental: false };
        const body = await sent(model(id), { ...song, durationSeconds: 10 }, { dialect });
        expect(body).to.include({ customMode: true, model: upstream, prompt: "La", duration: 10 });
        expect(await sent(model(id), { ...song, durationSeconds: null }, { dialect })).to.include({ duration: 180 });
        const instrumental = { prompt: "rain", lyrics: null, instrumental: true, durationSeconds: 360 };
        const styled = { customMode: true, style: "rain", duration: 360 };
        expect(await sent(model(id), instrumental, { dialect })).to.include(styled);
      });
    }

    it("has no duration where words are to be written, and is not sent where one is asked for", async () => {
      const song = { prompt: "rain", lyrics: null, instrumental: false };
      expect(await sent(model("v6"), { ...song, durationSeconds: null })).to.not.have.property("duration");
      const failure = await failureOf(sent(model("v6"), { ...song, durationSeconds: 60 }));
      expect(failure).to.include({ kind: "invalid_input", billable: "no" });
      expect(failure.message).to.equal("It takes a duration with lyrics or for an instrumental only.");
      expect(fake.calls(GENERATE)).to.have.lengthOf(1);
    });

    it("has a title of at most 80 characters, cut between words", async () => {
      const of = model("v5");
      const long = `${"boats ".repeat(13)}and paper`;
      expect(await sent(of, { prompt: long, lyrics: "La" })).to.have.property("title", "boats ".repeat(13).trim());
      expect(await sent(of, { prompt: "é".repeat(100), lyrics: "La" })).to.have.property("title", "é".repeat(80));
    });

    it("names the operator's own address where Fermata has none", async () => {
      const own = { fallbackCallbackUrl: "https://hooks.example/ok" };
      expect(await sent(model("v5"), {}, own)).to.have.property("callBackUrl", "https://hooks.example/ok");
      const callbackUrl = "https://fermata.example/cb";
      expect(await sent(model("v5"), { callbackUrl }, own)).to.have.property("callBackUrl", callbackUrl);
    });

    it("names an address for callbacks of a split too, since the vendors refuse one without", async () => {
      const source = aSource({ reference: { dialect: "sunoapi.org", taskId: "t1", audioId: "a1" } });
      await open().submit(aSplitRequest("stem_split", source), { signal });
      expect(fake.calls(SPLIT)[0]?.json).to.have.property("callBackUrl", callBackUrl);
    });
  });

  describe("what comes of it", () => {
    const poll = (at = handle(), settings = {}): Promise<Snapshot> | undefined => open(settings).poll?.(at, { signal });

    it("is both tracks with cover, sorted tags and the ids that a split needs", async () => {
      const sunoData = [1, 2].map((number) => aTrack(fake, tinyMp3(String(number)), number));
      await status({ status: "SUCCESS", response: { sunoData } })(fake);
      const { tracks } = (await poll()) as Completed;
      expect(tracks.map(({ reference }) => reference)).to.deep.equal(
        [1, 2].map((number) => ({ dialect: "sunoapi.org", taskId: "t77", audioId: `a${number}` })),
      );
      expect(tracks[0]?.tags).to.deep.equal({
        mood: ["calm"],
        activity: [],
        genre: ["dream pop"],
        other: ["female vocal"],
      });
      expect(tracks[0]?.assets.map(({ role }) => role)).to.deep.equal(["mix", "cover"]);
      expect(fake.calls(RECORD)[0]?.query).to.deep.equal({ taskId: "t77" });
    });

    it("is the words that a track sings, which they call its prompt; none of an instrumental", async () => {
      const sunoData = ["[Verse]\nPaper boats", "[Instrumental]", "", null].map((prompt, index) => ({
        ...aTrack(fake, tinyMp3(String(index)), index),
        prompt,
      }));
      await status({ status: "SUCCESS", response: { sunoData } })(fake);
      const { tracks } = (await poll()) as Completed;
      const words = { text: "[Verse]\nPaper boats" };
      expect(tracks.map(({ lyrics }) => lyrics)).to.deep.equal([words, undefined, undefined, undefined]);
    });

    it("is the tracks that are there, when a callback did not reach us", async () => {
      const sunoData = [1, 2].map((number) => aTrack(fake, tinyMp3(String(number)), number));
      await status({ status: "CALLBACK_EXCEPTION", response: { sunoData } })(fake);
      expect(await poll())
        .to.include({ state: "completed" })
        .and.have.property("tracks")
        .with.lengthOf(2);
    });

    it("is waited for when a callback did not reach us and a track is missing, but not for ever", async () => {
      const sunoData = [aTrack(fake, tinyMp3("one"), 1), { id: "a2", audioUrl: "" }];
      await status({ status: "CALLBACK_EXCEPTION", response: { sunoData } })(fake);
      const seen = await poll();
      const later = seen?.state === "running" ? seen.handle : undefined;
      await clock.advance(10 * 60_000 - 1);
      expect(await poll(later)).to.include({ state: "running" });
      await clock.advance(1);
      expect(await poll(later))
        .to.include({ state: "completed" })
        .and.have.property("tracks")
        .with.lengthOf(1);
      await status({ status: "CALLBACK_EXCEPTION", response: null })(fake);
      expect((await failureOf(poll(later))).kind).to.equal("failed");
    });

    it("is a failure that says whether it is paid for", async () => {
      await status({ status: "GENERATE_AUDIO_FAILED", errorCode: 531, errorMessage: "refunded" })(fake);
      expect(await failureOf(poll())).to.include({ kind: "failed", billable: "no", providerCode: "531" });
      await status({ status: "GENERATE_AUDIO_FAILED", errorCode: 501 })(fake);
      expect(await failureOf(poll())).to.include({ kind: "failed", billable: "unknown" });
    });

    it("runs on under a word that is not known", async () => {
      await status({ status: "REVIEWING" })(fake);
      expect(await poll()).to.deep.equal({ state: "running", nextPollMs: 10_000 });
    });

    it("is not asked of another vendor than the one that does it", async () => {
      expect((await failureOf(poll(handle(), { dialect: "kie.ai" }))).kind).to.equal("misconfigured");
      expect(fake.requests).to.have.lengthOf(0);
    });

    it("is no vocal removal without both of its parts", async () => {
      const response = { vocalUrl: "https://cdn.example/v.mp3" };
      fake.on("GET", SPLIT_RECORD.path, envelope({ successFlag: "SUCCESS", response }));
      expect((await failureOf(poll(handle({ operation: "vocal_removal" })))).kind).to.equal("failed");
      for (const word of ["CREATE_TASK_FAILED", "GENERATE_AUDIO_FAILED"]) {
        fake.on("GET", SPLIT_RECORD.path, envelope({ successFlag: word, response: null }));
        expect((await failureOf(poll(handle({ operation: "stem_split" })))).kind, word).to.equal("failed");
      }
    });
  });

  it("splits no track of another vendor", async () => {
    const source = aSource({ reference: { dialect: "kie.ai", taskId: "t1", audioId: "a1" } });
    expect((await failureOf(open().submit(aSplitRequest("stem_split", source), { signal }))).kind).to.equal(
      "invalid_input",
    );
    expect(fake.requests).to.have.lengthOf(0);
  });

  it("warns when no credit is left", async () => {
    fake.on(CREDIT.method, CREDIT.path, envelope(0));
    fake.on(KIE_CREDIT.method, KIE_CREDIT.path, envelope(0));
    const empty = { credit: { amount: 0, unit: "credits" }, warnings: ["No credit is left."] };
    expect(await open().probe?.({ signal })).to.deep.equal(empty);
    expect(await open({ dialect: "kie.ai" }).probe?.({ signal })).to.deep.equal(empty);
  });

  describe("a signed callback of a submission whose reply was lost", () => {
    const split: CallbackRequest = { operation: "stem_split", modelId: null };
    const parseLost = (
      taskId: string,
      signedTaskId = taskId,
      request = split,
      ageMs = 0,
    ): Promise<ParsedCallback> | undefined => {
      const sentAt = String(Math.floor(clock.now() / 1_000));
      const signature = createHmac("sha256", WEBHOOK_KEY).update(`${signedTaskId}.${sentAt}`).digest("base64");
      const provider = open({ dialect: "kie.ai", webhookKey: WEBHOOK_KEY });
      return provider.parseCallback?.(
        {
          headers: { "x-webhook-timestamp": sentAt, "x-webhook-signature": signature },
          query: {},
          body: Buffer.from(JSON.stringify({ code: 200, msg: "", data: { task_id: taskId } })),
          receivedAt: clock.now() + ageMs,
          handle: { version: 0, data: {} },
          request,
        },
        { signal },
      );
    };

    it("brings the handle of the task that is signed", async () => {
      const data = { operation: "stem_split", taskId: "t9", unreportedSince: null, dialect: "kie.ai" };
      expect(await parseLost("t9")).to.deep.equal({
        trust: "verified",
        snapshot: { state: "running", nextPollMs: 0, handle: { version: 1, data } },
      });
    });

    it("notes of a generation which model it was asked of, and when", async () => {
      const parsed = await parseLost("t9", "t9", { operation: "music", modelId: "suno-compatible/v6" });
      if (parsed?.trust !== "verified" || !("handle" in parsed.snapshot)) throw new Error("It was to be verified.");
      expect(parsed.snapshot.handle?.data).to.include({ taskId: "t9", model: "V6", submittedAt: clock.now() });
    });

    it("is forged where another task is signed, and a hint where none is named", async () => {
      expect((await parseLost("t9", "t8"))?.trust).to.equal("forged");
      expect(await parseLost("")).to.deep.equal({ trust: "hint" });
    });

    it("is forged when it was signed long ago, or in the future", async () => {
      const trustAt = async (ageMs: number) => (await parseLost("t9", "t9", split, ageMs))?.trust;
      for (const ageMs of [3_600_000, -3_600_000]) expect(await trustAt(ageMs)).to.equal("forged");
      expect(await trustAt(60_000)).to.equal("verified");
    });
  });

  it("says that its callbacks are signed only where a key is set", () => {
    const callbacks = (settings: Record<string, string>): unknown =>
      typeof definition.capabilities === "function" && definition.capabilities(settings).callbacks;
    expect(callbacks({ dialect: "kie.ai", webhookKey: WEBHOOK_KEY })).to.equal("signed");
    expect(callbacks({ dialect: "kie.ai" })).to.equal("hints");
    expect(() => open({ webhookKey: WEBHOOK_KEY })).to.throw(
      "webhookKey: sunoapi.org signs no callbacks; allowed with dialect kie.ai",
    );
  });
});
