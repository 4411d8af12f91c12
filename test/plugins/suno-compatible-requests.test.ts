import { expect } from "chai";
import {
  type Completed,
  type MusicProvider,
  type MusicReference,
  type MusicRequest,
  type OptionValues,
  ProviderFailure,
  type ProviderHandle,
  type ProviderModel,
} from "../../core/ports/music-provider.js";
import definition from "../../plugins/suno-compatible/index.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { aMusicRequest, aSource, FakeApi, providerHost, settingsOf, tinyMp3 } from "../support/provider-kit/index.js";
import {
  API_KEY,
  aTrack,
  envelope,
  EXTEND,
  GENERATE,
  RECORD,
  status,
  UPLOAD_COVER,
  UPLOAD_EXTEND,
} from "./suno-compatible-support.js";

const { signal } = new AbortController();
const DAY_MS = 86_400_000;
const LYRICS = "[Verse]\nPaper boats";
const SONG = { prompt: "dream pop", lyrics: LYRICS, instrumental: false, durationSeconds: null };
const INSTRUMENTAL = { ...SONG, lyrics: null, instrumental: true };
const WRITTEN_THERE = { ...SONG, lyrics: null };
const callBackUrl = "https://callback.invalid/";
const url = "https://fermata.example/a.wav";

describe("suno-compatible: options and tracks to work from", () => {
  let fake: FakeApi;
  let clock: ManualClock;
  beforeEach(async () => {
    fake = await FakeApi.open();
    clock = new ManualClock();
    for (const { method, path } of [GENERATE, EXTEND, UPLOAD_EXTEND, UPLOAD_COVER])
      fake.on(method, path, envelope({ taskId: "t77" }));
  });
  afterEach(() => fake.close());

  const open = (dialect = "sunoapi.org"): MusicProvider => {
    const settings = settingsOf(definition, { apiKey: API_KEY, baseUrl: fake.url, dialect });
    return definition.create(providerHost({ clock, settings }));
  };
  const model = (id: string, parts: Partial<ProviderModel> = {}): ProviderModel => {
    const found = definition.models.find((candidate) => candidate.id === `suno-compatible/${id}`);
    if (found === undefined) throw new Error(`there is no model ${id}`);
    return { ...found, ...parts };
  };
  const submit = async (of: ProviderModel, parts: Partial<MusicRequest>, dialect?: string): Promise<ProviderHandle> => {
    const outcome = await open(dialect).submit(aMusicRequest(of, { ...SONG, ...parts }), { signal });
    if (outcome.state !== "accepted") throw new Error("The work was to be accepted.");
    return outcome.handle;
  };
  const sent = async (...call: Parameters<typeof submit>): Promise<unknown> => {
    await submit(...call);
    const request = fake.requests.at(-1);
    return { path: request?.path, body: request?.json };
  };
  const expectRefusal = async (...call: Parameters<typeof submit>): Promise<void> => {
    const failure = await submit(...call).catch((error: unknown) => error);
    if (!ProviderFailure.is(failure)) throw new Error("It was to be refused.");
    expect(failure).to.include({ kind: "invalid_input", billable: "no" });
    expect(fake.requests).to.have.lengthOf(0);
  };
  const withDefaults = (): ProviderModel => {
    const { negative_prompt: negative, vocal_gender: voice } = model("v6").requestOptions ?? {};
    if (negative?.type !== "string" || voice?.type !== "string") throw new Error("Both options are texts.");
    const requestOptions = {
      negative_prompt: { ...negative, default: "metal" },
      vocal_gender: { ...voice, default: "female" },
    };
    return model("v6", { requestOptions });
  };
  const DEFAULTS = { negative_prompt: "metal", vocal_gender: "female" };

  describe("an option where it does not go", () => {
    const misplaced: readonly (readonly [what: string, request: Partial<MusicRequest>, options: OptionValues])[] = [
      ["a voice for an instrumental", INSTRUMENTAL, { vocal_gender: "male" }],
      ["a voice where words are to be written", WRITTEN_THERE, { vocal_gender: "male" }],
      ["a negative prompt where words are to be written", WRITTEN_THERE, { negative_prompt: "drums" }],
    ];
    for (const [what, request, options] of misplaced) {
      it(`is refused: ${what}`, async () => {
        await expectRefusal(model("v6"), { ...request, options });
        await expectRefusal(withDefaults(), { ...request, options: { ...DEFAULTS, ...options } });
      });
    }

    it("is left out when it is the operator's default", async () => {
      await submit(withDefaults(), { ...WRITTEN_THERE, options: DEFAULTS });
      expect(fake.calls(GENERATE)[0]?.json).to.not.have.any.keys("negativeTags", "vocalGender");
      await submit(withDefaults(), { ...INSTRUMENTAL, options: DEFAULTS });
      expect(fake.calls(GENERATE)[1]?.json).to.include({ negativeTags: "metal" }).and.not.have.property("vocalGender");
      await submit(withDefaults(), { options: DEFAULTS });
      expect(fake.calls(GENERATE)[2]?.json).to.include({ negativeTags: "metal", vocalGender: "f" });
    });
  });

  const OWN = { dialect: "sunoapi.org", taskId: "t1", audioId: "a1", model: "V6" };
  const own = (parts: object = {}): MusicReference["source"] =>
    aSource({ url, durationSeconds: 198.4, reference: { ...OWN, submittedAt: clock.now() - DAY_MS, ...parts } });
  const reference = (parts: Partial<MusicReference> = {}): MusicReference => ({
    mode: "extend",
    source: aSource({ url, durationSeconds: 198.4 }),
    fromSeconds: null,
    toSeconds: null,
    strength: null,
    ...parts,
  });
  const custom = { style: "dream pop", title: "dream pop", model: "V6", callBackUrl };

  it("goes on with a track of its own by its ids, from the end or from a point", async () => {
    const ids = { taskId: "t1", audioId: "a1" };
    const song = { ...custom, ...ids, instrumental: false, prompt: LYRICS, defaultParamFlag: true };
    const options = { negative_prompt: "metal", vocal_gender: "male" };
    expect(await sent(model("v6"), { reference: reference({ source: own() }), options })).to.deep.equal({
      path: EXTEND.path,
      body: { ...song, continueAt: 198.39, negativeTags: "metal", vocalGender: "m" },
    });
    const from = reference({ source: own(), fromSeconds: 61.5, strength: 0.456 });
    expect(await sent(model("v6"), { reference: from })).to.deep.equal({
      path: EXTEND.path,
      body: { ...song, continueAt: 61.5, audioWeight: 0.46 },
    });
  });

  it("lets the vendor fetch any other track to go on with", async () => {
    expect(await sent(model("v6"), { ...INSTRUMENTAL, reference: reference() })).to.deep.equal({
      path: UPLOAD_EXTEND.path,
      body: { ...custom, instrumental: true, defaultParamFlag: true, continueAt: 198.39, uploadUrl: url },
    });
  });

  for (const [what, parts] of Object.entries({
    "made by another model": { model: "V5" },
    "made at another vendor": { dialect: "kie.ai" },
    "whose model was not noted": { model: undefined, submittedAt: undefined },
    "of two weeks ago": { submittedAt: new ManualClock().now() - 14 * DAY_MS },
  })) {
    it(`lets the vendor fetch a track of its own ${what}`, async () => {
      await submit(model("v6"), { reference: reference({ source: own(parts) }) });
      expect(fake.calls(UPLOAD_EXTEND)[0]?.json).to.include({ uploadUrl: url }).and.not.have.property("audioId");
      expect(fake.calls(EXTEND)).to.have.lengthOf(0);
    });
  }

  it("makes a cover of any track by its link, as long as the track unless the caller says otherwise", async () => {
    const cover = reference({ mode: "cover", source: own(), strength: 1 });
    const body = { ...custom, customMode: true, instrumental: false, prompt: LYRICS, uploadUrl: url, audioWeight: 1 };
    const path = UPLOAD_COVER.path;
    expect(await sent(model("v6"), { reference: cover })).to.deep.equal({ path, body: { ...body, duration: 198 } });
    const shorter = await sent(model("v6"), { reference: cover, durationSeconds: 60 }, "kie.ai");
    expect(shorter).to.deep.equal({ path, body: { ...body, duration: 60 } });
    const untimed = await sent(model("v5"), { reference: cover });
    expect(untimed).to.deep.equal({ path, body: { ...body, model: "V5" } });
  });

  it("keeps the duration of a cover within the model's bounds, and takes its default for an unknown one", async () => {
    for (const durationSeconds of [3, 470, null]) {
      const source = aSource({ url, durationSeconds });
      await submit(model("v6"), { reference: reference({ mode: "cover", source }) });
    }
    const durations = fake.calls(UPLOAD_COVER).map(({ json }) => (json as { duration: unknown }).duration);
    expect(durations).to.deep.equal([10, 360, 180]);
  });

  const unknown = aSource({ url, durationSeconds: null });
  const refusals: readonly (readonly [what: string, parts: Partial<MusicRequest>])[] = [
    ["an extension without lyrics that is to have words", { ...WRITTEN_THERE, reference: reference() }],
    ["a cover without lyrics that is to have words", { ...WRITTEN_THERE, reference: reference({ mode: "cover" }) }],
    ["a duration for an extension", { durationSeconds: 60, reference: reference() }],
    ["to go on from the beginning", { reference: reference({ fromSeconds: 0 }) }],
    ["to go on from an end that is not known", { reference: reference({ source: unknown }) }],
    ["a voice for an instrumental", { ...INSTRUMENTAL, reference: reference(), options: { vocal_gender: "male" } }],
  ];
  for (const [what, parts] of refusals)
    it(`refuses ${what}, before anything is sent`, () => expectRefusal(model("v6"), parts));

  it("goes on from just before the end when the point is the end, and from any point of an unknown one", async () => {
    const at = async (parts: Partial<MusicReference>): Promise<unknown> => {
      await submit(model("v6"), { reference: reference(parts) });
      return (fake.calls(UPLOAD_EXTEND).at(-1)?.json as { continueAt: unknown }).continueAt;
    };
    expect(await at({ fromSeconds: 198.4 })).to.equal(198.39);
    expect(await at({ source: unknown, fromSeconds: 300 })).to.equal(300);
  });

  it("polls such work like a generation, and stores with its tracks which model created them, and when", async () => {
    const handle = await submit(model("v6"), { reference: reference() });
    const submittedAt = clock.now();
    await clock.advance(60_000);
    const sunoData = [1, 2].map((number) => aTrack(fake, tinyMp3(String(number)), number));
    await status({ status: "SUCCESS", response: { sunoData } })(fake);
    const { tracks } = (await open().poll?.(handle, { signal })) as Completed;
    expect(tracks.map((track) => track.reference)).to.deep.equal(
      ["a1", "a2"].map((audioId) => ({ ...OWN, taskId: "t77", audioId, submittedAt })),
    );
    expect(fake.calls(RECORD)[0]?.query).to.deep.equal({ taskId: "t77" });
  });
});
