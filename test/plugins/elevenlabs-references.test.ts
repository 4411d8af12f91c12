import { expect } from "chai";
import { ProviderFailure } from "../../core/ports/music-provider.js";
import type {
  Completed,
  MusicProvider,
  MusicReference,
  MusicRequest,
  ProviderHost,
  ProviderModel,
} from "../../core/ports/music-provider.js";
import definition from "../../plugins/elevenlabs/index.js";
import {
  aMusicRequest,
  aSource,
  FakeApi,
  json,
  providerHost,
  settingsOf,
  tinyMp3,
} from "../support/provider-kit/index.js";
import { chunksIn, UPLOAD, UPLOADED_ID, uploads } from "./elevenlabs-references-support.js";
import { API_KEY, CHUNKS, COMPOSE, detailed, PLAN, planned, refusal } from "./elevenlabs-support.js";

const { signal } = new AbortController();
const OWN = { songId: "sng_kept" };
const NO_POINTS = { fromSeconds: null, toSeconds: null, strength: null };

describe("elevenlabs, work from a track", () => {
  let fake: FakeApi;
  beforeEach(async () => {
    fake = await FakeApi.open();
    planned(fake);
    uploads(fake);
    fake.on("POST", COMPOSE.path, detailed(tinyMp3()));
  });
  afterEach(() => fake.close());

  const open = (settings: ProviderHost["settings"] = {}): MusicProvider =>
    definition.create(
      providerHost({ settings: settingsOf(definition, { apiKey: API_KEY, baseUrl: fake.url, ...settings }) }),
    );
  const model = (id: string): ProviderModel => {
    const found = definition.models.find((candidate) => candidate.id === `elevenlabs/${id}`);
    if (found === undefined) throw new Error(`there is no model ${id}`);
    return found;
  };
  const own = (seconds: number | null): MusicReference["source"] =>
    aSource({ durationSeconds: seconds, reference: OWN });
  const extend = (seconds: number | null, from: number | null = null): MusicReference => ({
    ...{ ...NO_POINTS, mode: "extend", source: own(seconds), fromSeconds: from },
  });
  const inpaint = (seconds: number | null, from: number, to: number): MusicReference => ({
    ...{ ...NO_POINTS, mode: "inpaint", source: own(seconds), fromSeconds: from, toSeconds: to },
  });
  const requestOf = (reference: MusicReference, parts: Partial<MusicRequest> = {}): MusicRequest =>
    aMusicRequest(model("music-v2"), { prompt: "louder", lyrics: null, durationSeconds: null, reference, ...parts });
  const submitted = async (reference: MusicReference, parts: Partial<MusicRequest> = {}): Promise<Completed> =>
    (await open().submit(requestOf(reference, parts), { signal })) as Completed;
  const failureOf = async (promise: Promise<unknown>): Promise<ProviderFailure> => {
    const result = await promise.catch((error: unknown) => error);
    if (!ProviderFailure.is(result)) throw new Error(`Expected a failure, and got ${JSON.stringify(result)}`);
    return result;
  };
  const kept = (start: number, end: number, id = OWN.songId): object => ({
    ...{ song_id: id, range: { start_ms: start, end_ms: end } },
  });
  const lengths = (): unknown[] =>
    chunksIn(fake.requests).flatMap(({ duration_ms: ms }) => (ms === undefined ? [] : [ms]));
  const planLengths = (): unknown[] =>
    fake.calls(PLAN).map(({ json: body }) => (body as { music_length_ms: number }).music_length_ms);

  it("continues an own track from its end by its song id: the plan has the added length, after all of it", async () => {
    await submitted(extend(41.0426), { durationSeconds: 60, options: { seed: 7 } });
    expect(fake.calls(UPLOAD)).to.have.lengthOf(0);
    expect(fake.calls(PLAN).map(({ json: body }) => body)).to.deep.equal([
      { prompt: "louder", model_id: "music_v2", music_length_ms: 60_000 },
    ]);
    expect(fake.calls(COMPOSE).map(({ json: body }) => body)).to.deep.equal([
      {
        composition_plan: { chunks: [kept(0, 41_042), ...CHUNKS.chunks] },
        model_id: "music_v2",
        seed: 7,
        with_timestamps: true,
      },
    ]);
  });

  it("goes on from an earlier point, in the model's usual length as far as a song may be long", async () => {
    await submitted(extend(600, 500));
    expect(chunksIn(fake.requests)[0]).to.deep.equal(kept(0, 500_000));
    await submitted(extend(null, 12.5));
    expect(chunksIn(fake.requests)[0]).to.deep.equal(kept(0, 12_500));
    expect(planLengths()).to.deep.equal([100_000, 120_000]);
    expect(lengths().reduce((sum: number, ms) => sum + Number(ms), 0)).to.equal(120_000);
  });

  it("replaces a part between what is kept, and keeps the track's length whatever the plan's is", async () => {
    await submitted(inpaint(90, 20, 30.5), { durationSeconds: 60 });
    const [head, ...rest] = chunksIn(fake.requests);
    expect([head, rest.at(-1)]).to.deep.equal([kept(0, 20_000), kept(30_500, 90_000)]);
    expect(planLengths()).to.deep.equal([10_500]);
    // Three chunks of 8, 30 and 22 seconds: the least for each, the rest by their lengths.
    expect(lengths()).to.deep.equal([3_147, 3_794, 3_559]);
  });

  it("takes no more chunks than fit a short part, and more than were planned for a long one", async () => {
    await submitted(inpaint(90, 20, 25));
    expect(lengths()).to.deep.equal([5_000]);
    fake.on("POST", PLAN.path, json({ chunks: [CHUNKS.chunks[1]] }));
    await submitted(inpaint(400, 20, 320));
    expect(lengths()).to.deep.equal([100_000, 100_000, 100_000]);
  });

  it("regenerates what is too short to be kept, so that the length stays", async () => {
    await submitted(inpaint(10, 0.04, 5));
    expect([chunksIn(fake.requests).at(-1), lengths()]).to.deep.equal([kept(5_000, 10_000), [5_000]]);
    await submitted(inpaint(10, 5, 9.96));
    expect([chunksIn(fake.requests)[0], lengths()]).to.deep.equal([kept(0, 5_000), [5_000]]);
  });

  it("uploads nothing of a track that is replaced as a whole", async () => {
    await submitted({ ...inpaint(10, 0, 10), source: aSource({ durationSeconds: 10 }) });
    expect(fake.calls(UPLOAD)).to.have.lengthOf(0);
    expect(lengths().reduce((sum: number, ms) => sum + Number(ms), 0)).to.equal(10_000);
  });

  it("sings the caller's lyrics in the new part alone", async () => {
    await submitted(inpaint(90, 20, 80), { lyrics: "[Verse]\nSlow rain\n\nCarry me over" });
    const texts = chunksIn(fake.requests).map(({ text }) => text);
    expect(texts).to.deep.equal([
      undefined,
      CHUNKS.chunks[0]?.text,
      "[Verse]\nSlow rain",
      "[Chorus]\nCarry me over",
      undefined,
    ]);
  });

  it("has no words in an instrumental part, and says so by its styles", async () => {
    await submitted(extend(20), { instrumental: true, options: { seed: 7 } });
    const [, intro, , chorus] = chunksIn(fake.requests);
    expect(intro).to.deep.include({
      text: "[Instrumental]\n{soft guitar}",
      positive_styles: ["instrumental", "indie folk"],
    });
    expect(chorus).to.deep.include({ text: "[Instrumental]\n{louder}", negative_styles: ["vocals", "metal"] });
  });

  it("uploads a track that ElevenLabs does not keep, after the plan, and refers to it by its new id", async () => {
    for (const reference of [null, { songId: "" }, { songId: 7 }]) {
      await submitted({ ...extend(20), source: aSource({ durationSeconds: 20, reference }) });
    }
    expect(fake.requests.slice(0, 3).map(({ path }) => path)).to.deep.equal([PLAN.path, UPLOAD.path, COMPOSE.path]);
    const [call] = fake.calls(UPLOAD);
    const file = call?.field("file");
    expect(file).to.deep.include({ filename: "track.mp3", contentType: "audio/mpeg" });
    expect(typeof file === "object" && Buffer.from(tinyMp3("source")).equals(file.bytes)).to.equal(true);
    expect(call?.headers).to.include({ "xi-api-key": API_KEY });
    expect(chunksIn(fake.requests)[0]).to.deep.equal(kept(0, 20_000, UPLOADED_ID));
    expect(fake.calls(UPLOAD)).to.have.lengthOf(3);
  });

  it("uploads once for all attempts of a job, and says that a failure after it costs money", async () => {
    const provider = open();
    const request = requestOf({ ...extend(20), source: aSource({ durationSeconds: 20 }) });
    fake.once("POST", COMPOSE.path, refusal(429, "concurrent_limit_exceeded", {}, { "retry-after": "12" }));
    expect(await failureOf(provider.submit(request, { signal }))).to.deep.include({
      ...{ kind: "rate_limited", billable: "yes", retryAfterMs: 12_000, providerCode: "concurrent_limit_exceeded" },
    });
    await provider.submit({ ...request, attempt: 2, attemptId: `${request.attemptId}2` }, { signal });
    expect([fake.calls(UPLOAD).length, fake.calls(COMPOSE).length]).to.deep.equal([1, 2]);
    await provider.submit(request, { signal });
    expect(fake.calls(UPLOAD)).to.have.lengthOf(2);
  });

  it("says of an own track that a refusal costs nothing", async () => {
    fake.on("POST", COMPOSE.path, refusal(422, "bad_composition_plan"));
    expect(await failureOf(submitted(extend(20)))).to.include({ kind: "content_rejected", billable: "no" });
  });

  it("refuses what ElevenLabs cannot do, before anything is sent", async () => {
    const wrong: [MusicReference, Partial<MusicRequest>?][] = [
      [extend(null)],
      [extend(20, 0.04)],
      [extend(500), { durationSeconds: 101 }],
      [extend(598)],
      [inpaint(null, 4, 9)],
      [inpaint(20, 4, 6.9)],
      [{ ...extend(20), mode: "cover" }],
    ];
    for (const [reference, parts] of wrong) {
      const failure = await failureOf(submitted(reference, parts));
      expect(failure, JSON.stringify(reference)).to.include({ kind: "invalid_input", billable: "no" });
    }
    expect(fake.requests).to.have.lengthOf(0);
  });

  it("fails the job alone where the account may not work from a track; a bad key remains a bad key", async () => {
    const uploaded = { ...extend(20), source: aSource({ durationSeconds: 20 }) };
    for (const [status, code] of [
      [403, "subscription_required"],
      [401, "missing_permissions"],
    ] as const) {
      fake.on("POST", UPLOAD.path, refusal(status, code));
      expect(await failureOf(submitted(uploaded))).to.include({ kind: "failed", billable: "no", providerCode: code });
      fake.on("POST", COMPOSE.path, refusal(status, code));
      expect(await failureOf(submitted(extend(20)))).to.include({ kind: "failed", billable: "no", providerCode: code });
    }
    fake.on("POST", UPLOAD.path, json({}, { status: 403 }));
    expect(await failureOf(submitted(uploaded))).to.include({ kind: "failed", providerCode: "forbidden" });
    fake.on("POST", UPLOAD.path, refusal(401, "invalid_api_key"));
    expect(await failureOf(submitted(uploaded))).to.include({ kind: "misconfigured" });
  });

  it("generates nothing after an invalid plan or upload, and does not know what a lost upload cost", async () => {
    fake.on("POST", PLAN.path, json({ chunks: [{ text: "[Verse]" }] }));
    expect((await failureOf(submitted(extend(20)))).kind).to.equal("unavailable");
    planned(fake);
    const uploaded = { ...extend(20), source: aSource({ durationSeconds: 20 }) };
    fake.on("POST", UPLOAD.path, json({}));
    expect((await failureOf(submitted(uploaded))).kind).to.equal("outcome_unknown");
    uploads(fake);
    fake.spoil(UPLOAD, "cut-reply");
    expect((await failureOf(submitted(uploaded))).kind).to.equal("outcome_unknown");
    expect(fake.calls(COMPOSE)).to.have.lengthOf(0);
  });

  it("has songs kept where the setting says so, and leaves their id with the track", async () => {
    const created = async (id: string, isStored: boolean): Promise<[unknown, unknown]> => {
      const request = aMusicRequest(model(id), { prompt: "louder", lyrics: null });
      const { tracks } = (await open({ storeForInpainting: isStored }).submit(request, { signal })) as Completed;
      const body = fake.calls(COMPOSE).at(-1)?.json as { store_for_inpainting?: boolean };
      return [body.store_for_inpainting, tracks[0]?.reference];
    };
    expect(await created("music-v2", true)).to.deep.equal([true, { songId: "sng_7f2" }]);
    expect(await created("music-v2", false)).to.deep.equal([undefined, undefined]);
    expect(await created("music-v1", true)).to.deep.equal([undefined, undefined]);
    const { tracks } = (await open({ storeForInpainting: true }).submit(requestOf(extend(20)), {
      signal,
    })) as Completed;
    expect(tracks[0]?.reference).to.deep.equal({ songId: "sng_7f2" });
  });

  it("is declared of music_v2 and later, and names a mode that a model of the operator's cannot have", () => {
    const anyTrack = { sources: "any" } as const;
    const modes = definition.models.map(({ id, references = {} }) => [id, Object.keys(references)]);
    const both = ["extend", "inpaint"];
    expect(modes).to.deep.equal([
      ["elevenlabs/music-v2", both],
      ["elevenlabs/music-v2.5", both],
      ["elevenlabs/music-v1", []],
    ]);
    const issue = (id: string, references: object): unknown => definition.checkModel?.({ ...model(id), references });
    expect(issue("music-v2", { extend: anyTrack })).to.equal(null);
    expect(issue("music-v2", { cover: anyTrack })).to.match(/^has references\.cover/);
    expect(issue("music-v1", { extend: anyTrack })).to.match(/^has `references`; music_v1/);
    expect(issue("music-v1", {})).to.equal(null);
  });
});
