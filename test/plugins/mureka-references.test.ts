import { expect } from "chai";
import {
  type Completed,
  type MusicProvider,
  type MusicReference,
  type MusicRequest,
  ProviderFailure,
  type ProviderHandle,
  type ProviderModel,
  type SourceAudio,
} from "../../core/ports/music-provider.js";
import definition from "../../plugins/mureka/index.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import {
  aMusicRequest,
  aSource,
  FakeApi,
  json,
  providerHost,
  settingsOf,
  tinyMp3,
} from "../support/provider-kit/index.js";
import { accepts, aChoice, API_KEY, bodyOf, EXTEND, QUERY, REMIX, says, UPLOAD } from "./mureka-support.js";

const { signal } = new AbortController();
const DAY_MS = 86_400_000;
const LYRICS = "[Verse]\nPaper boats";

describe("mureka: work from a track", () => {
  let fake: FakeApi;
  let clock: ManualClock;
  beforeEach(async () => {
    fake = await FakeApi.open();
    clock = new ManualClock();
    await accepts(fake);
  });
  afterEach(() => fake.close());

  const open = (): MusicProvider => {
    const settings = settingsOf(definition, { apiKey: API_KEY, baseUrl: fake.url });
    return definition.create(providerHost({ clock, settings }));
  };
  const model = (id: string): ProviderModel => {
    const found = definition.models.find((candidate) => candidate.id === `mureka/${id}`);
    if (found === undefined) throw new Error(`there is no model ${id}`);
    return found;
  };
  const own = (ageMs: number): SourceAudio => aSource({ reference: { songId: "s1", madeAt: clock.now() - ageMs } });
  const reference = (parts: Partial<MusicReference> = {}): MusicReference => ({
    mode: "extend",
    source: own(DAY_MS),
    fromSeconds: null,
    toSeconds: null,
    strength: null,
    ...parts,
  });
  const submit = async (id: string, parts: Partial<MusicRequest>): Promise<ProviderHandle> => {
    const song = { prompt: "dream pop", lyrics: LYRICS, instrumental: false };
    const outcome = await open().submit(aMusicRequest(model(id), { ...song, ...parts }), { signal });
    if (outcome.state !== "accepted") throw new Error("The work was to be accepted.");
    return outcome.handle;
  };

  it("goes on with a song of its own by its id, at its end or at a point in milliseconds", async () => {
    await submit("v8", { reference: reference() });
    await submit("v7.6", { reference: reference({ fromSeconds: 61.5 }) });
    await submit("auto", { reference: reference({ fromSeconds: 8 }) });
    expect(fake.calls(EXTEND).map(bodyOf)).to.deep.equal([
      { song_id: "s1", lyrics: LYRICS, extend_at: 420_000, model: "mureka-8" },
      { song_id: "s1", lyrics: LYRICS, extend_at: 61_500, model: "mureka-7.6" },
      { song_id: "s1", lyrics: LYRICS, extend_at: 8_000 },
    ]);
    expect(fake.calls(UPLOAD)).to.have.lengthOf(0);
  });

  it("uploads any other track, and one of its own that is older than a month there", async () => {
    const others = [aSource({}, tinyMp3("of another")), aSource({ ...own(29 * DAY_MS), contentType: "audio/mp4" })];
    for (const source of others) await submit("v8", { reference: reference({ source }) });
    const uploads = fake.calls(UPLOAD).map((call) => [call.field("purpose"), call.field("file")]);
    expect(uploads).to.deep.equal([
      ["audio", { filename: "track.mp3", contentType: "audio/mpeg", bytes: tinyMp3("of another") }],
      ["audio", { filename: "track.m4a", contentType: "audio/mp4", bytes: tinyMp3("source") }],
    ]);
    const named = fake.calls(EXTEND).map((call) => bodyOf(call)["upload_audio_id"]);
    expect(named).to.deep.equal(["file-audio", "file-audio"]);
    expect(bodyOf(fake.calls(EXTEND)[0])).to.not.have.property("song_id");
  });

  it("remixes a song for a cover, by its id or by an upload for that purpose", async () => {
    await submit("v8", { reference: reference({ mode: "cover" }) });
    await submit("auto", { reference: reference({ mode: "cover", source: aSource() }), lyrics: null });
    expect(fake.calls(REMIX).map(bodyOf)).to.deep.equal([
      { song_id: "s1", prompt: "dream pop", lyrics: LYRICS, n: 1 },
      { upload_audio_id: "file-remix", prompt: "dream pop", n: 1 },
    ]);
  });

  it("polls such work as a song, whose tracks it can work from later", async () => {
    const finished_at = 1_790_000_080;
    await says({ status: "succeeded", finished_at, choices: [aChoice(fake, tinyMp3("one"), 0)] })(fake);
    const handle = await submit("v8", { reference: reference() });
    expect(handle.data).to.include({ kind: "song" });
    const { tracks } = (await open().poll?.(handle, { signal })) as Completed;
    expect(tracks[0]?.reference).to.deep.equal({ songId: "s0", madeAt: finished_at * 1_000 });
    expect(fake.calls(QUERY)).to.have.lengthOf(1);
  });

  it("keeps no id of an instrumental, which is none of a song", async () => {
    const task = { id: "1", status: "succeeded", finished_at: 1, choices: [aChoice(fake, tinyMp3("one"), 0)] };
    fake.on("GET", "/v1/instrumental/query/:id", json(task));
    const handle = await submit("auto", { lyrics: null, instrumental: true });
    const { tracks } = (await open().poll?.(handle, { signal })) as Completed;
    expect(tracks[0]).to.not.have.property("reference");
  });

  const refusals: readonly (readonly [what: string, mode: MusicReference["mode"], parts: Partial<MusicRequest>])[] = [
    ["an instrumental", "cover", { lyrics: null, instrumental: true }],
    ["an extension without lyrics", "extend", { lyrics: null }],
    ["a voice", "extend", { options: { vocal_gender: "male" } }],
    ["a voice for a cover", "cover", { options: { vocal_gender: "male" } }],
  ];
  const refused = async (parts: Partial<MusicRequest>): Promise<void> => {
    const failure = await submit("v8", parts).catch((error: unknown) => error);
    if (!ProviderFailure.is(failure)) throw new Error("It was to be refused.");
    expect(failure).to.include({ kind: "invalid_input", billable: "no" });
    expect(fake.requests).to.have.lengthOf(0);
  };
  for (const [what, mode, parts] of refusals) {
    it(`refuses ${what} before it uploads anything`, () =>
      refused({ ...parts, reference: reference({ mode, source: aSource() }) }));
  }
  for (const fromSeconds of [0, 7.9, 420.1]) {
    it(`refuses to go on from ${fromSeconds} s`, () => refused({ reference: reference({ fromSeconds }) }));
  }

  it("starts no work when an upload fails, and says that it may be tried again", async () => {
    const failed = (): Promise<unknown> =>
      submit("v8", { reference: reference({ source: aSource() }) }).catch((error: unknown) => error);
    fake.on(UPLOAD.method, UPLOAD.path, json({ error: { message: "overloaded" } }, { status: 503 }));
    expect(await failed()).to.include({ kind: "unavailable" });
    fake.on(UPLOAD.method, UPLOAD.path, json({}));
    expect(await failed()).to.include({ kind: "unavailable" });
    expect(fake.calls(EXTEND)).to.have.lengthOf(0);
  });

  it("declares what each model can do with a track, and of which tracks", () => {
    const modes = Object.fromEntries(definition.models.map(({ id, references = {} }) => [id, Object.keys(references)]));
    expect(modes).to.deep.equal({
      "mureka/auto": ["extend", "cover"],
      "mureka/v9.5": [],
      "mureka/v9": [],
      "mureka/v8": ["extend", "cover"],
      "mureka/v7.6": ["extend"],
      "mureka/o2": [],
    });
    const upload = { sources: "any", contentTypes: ["audio/mpeg", "audio/mp4"], maxBytes: 10_000_000 };
    expect(model("v8").references).to.deep.equal({
      extend: { ...upload, maxSeconds: 420 },
      cover: { ...upload, maxSeconds: 350 },
    });
  });
});
