import { expect } from "chai";
import { ProviderFailure } from "../../core/ports/music-provider.js";
import type { MusicProvider, MusicReference, MusicRequest, SourceAudio } from "../../core/ports/music-provider.js";
import definition from "../../plugins/stability/index.js";
import {
  aMusicRequest,
  aSource,
  FakeApi,
  type FakeRequest,
  json,
  providerHost,
  settingsOf,
  tinyMp3,
  tinyWav,
} from "../support/provider-kit/index.js";
import { COVER, COVER_AT_2, INPAINT, INPAINT_AT_2 } from "./stability-references-support.js";
import { API_KEY, modelOf, sound } from "./stability-support.js";

const { signal } = new AbortController();

describe("stability, work from a track", () => {
  let fake: FakeApi;
  beforeEach(async () => {
    fake = await FakeApi.open();
    for (const { path } of [COVER, INPAINT]) fake.on("POST", path, json({ id: "a1b2" }, { status: 202 }));
    for (const { path } of [COVER_AT_2, INPAINT_AT_2]) fake.on("POST", path, sound(tinyMp3()));
  });
  afterEach(() => fake.close());

  const open = (): MusicProvider => {
    const settings = settingsOf(definition, { apiKey: API_KEY, baseUrl: fake.url });
    return definition.create(providerHost({ settings }));
  };
  const NO_POINTS = { fromSeconds: null, toSeconds: null, strength: null };
  const from = (mode: MusicReference["mode"], use: Partial<MusicReference> = {}): MusicReference => ({
    mode,
    source: aSource({ durationSeconds: 42.5 }),
    ...(mode === "inpaint" ? { ...NO_POINTS, fromSeconds: 4, toSeconds: 9.5 } : NO_POINTS),
    ...use,
  });
  const submitted = async (id: string, reference: MusicReference, parts: Partial<MusicRequest> = {}): Promise<void> => {
    const request = { prompt: "Slow pad", durationSeconds: null, ...parts, reference };
    await open().submit(aMusicRequest(modelOf(id), request), { signal });
  };
  const failureOf = async (promise: Promise<unknown>): Promise<ProviderFailure> => {
    const result = await promise.catch((error: unknown) => error);
    if (!ProviderFailure.is(result)) throw new Error(`Expected a failure, and got ${JSON.stringify(result)}`);
    return result;
  };
  const textsOf = (request: FakeRequest | undefined): unknown =>
    Object.fromEntries(
      (request?.fields ?? []).flatMap(({ name, value }) => (typeof value === "string" ? [[name, value]] : [])),
    );

  it("covers by audio-to-audio: the file, its length, and how much is regenerated", async () => {
    await submitted("stable-audio-3", from("cover", { strength: 0.9 }), { options: { seed: 7 } });
    const [call] = fake.calls(COVER);
    expect(textsOf(call)).to.deep.equal({
      ...{ prompt: "Slow pad", model: "stable-audio-3", duration: "42.5", seed: "7" },
      ...{ output_format: "mp3", strength: "0.1" },
    });
    expect(call?.headers).to.include({ authorization: `Bearer ${API_KEY}`, accept: "application/json" });
    const file = call?.field("audio");
    expect(file).to.deep.include({ filename: "track.mp3", contentType: "audio/mpeg" });
    expect(typeof file === "object" && Buffer.from(tinyMp3("source")).equals(file.bytes)).to.equal(true);
  });

  it("keeps half of the track where the request does not say: Stability would keep nothing", async () => {
    await submitted("stable-audio-2", from("cover"));
    const [call] = fake.calls(COVER_AT_2);
    expect(textsOf(call)).to.include({ model: "stable-audio-2", strength: "0.5" });
    expect(call?.headers).to.include({ accept: "audio/*" });
  });

  it("sends Stable Audio 2.5 the least strength that it takes where the whole track is kept", async () => {
    for (const id of ["stable-audio-2.5", "stable-audio-2"]) await submitted(id, from("cover", { strength: 1 }));
    await submitted("stable-audio-2.5", from("cover", { strength: 0 }));
    expect(fake.calls(COVER_AT_2).map((call) => call.field("strength"))).to.deep.equal(["0.01", "0", "1"]);
  });

  it("covers in the length asked for, else the track's, else the model's usual one", async () => {
    const unknown = from("cover", { source: aSource({ durationSeconds: null }) });
    await submitted("stable-audio-3", from("cover"), { durationSeconds: 60 });
    await submitted("stable-audio-3", from("cover", { source: aSource({ durationSeconds: 380 }) }));
    await submitted("stable-audio-3", unknown);
    expect(fake.calls(COVER).map((call) => call.field("duration"))).to.deep.equal(["60", "380", "190"]);
  });

  it("replaces a part between two points, and keeps the track's length whatever is asked for", async () => {
    const wav = tinyWav();
    const source = aSource({ contentType: "audio/wav", durationSeconds: 42.5, sizeBytes: wav.length }, wav);
    await submitted("stable-audio-3", from("inpaint", { source }), { durationSeconds: 100 });
    const [call] = fake.calls(INPAINT);
    expect(textsOf(call)).to.deep.equal({
      ...{ prompt: "Slow pad", model: "stable-audio-3", duration: "42.5", output_format: "mp3" },
      ...{ mask_start: "4", mask_end: "9.5" },
    });
    expect(call?.field("audio")).to.deep.include({ filename: "track.wav", contentType: "audio/wav" });
  });

  it("names no model and no scale to Stable Audio 2.5 for a part: that form has neither", async () => {
    const model = { ...modelOf("stable-audio-2.5"), options: { endpoint: "stable-audio-2", steps: 6, cfgScale: 2 } };
    const parts = { prompt: "Slow pad", durationSeconds: null, reference: from("inpaint") };
    await open().submit(aMusicRequest(model, parts), { signal });
    expect(textsOf(fake.calls(INPAINT_AT_2)[0])).to.deep.equal({
      ...{ prompt: "Slow pad", duration: "42.5", steps: "6", output_format: "mp3" },
      ...{ mask_start: "4", mask_end: "9.5" },
    });
  });

  it("sends a prompt of several lines and with quotes as it is", async () => {
    const prompt = 'Slow "pad"\r\nname=x; --fermata\r\n\r\nÜber allem';
    await submitted("stable-audio-3", from("cover"), { prompt });
    expect(fake.calls(COVER)[0]?.field("prompt")).to.equal(prompt);
  });

  it("refuses a track that is too short, and a part of one of unknown length, before anything is sent", async () => {
    const short = from("cover", { source: aSource({ durationSeconds: 5.9 }) });
    const unknown = from("inpaint", { source: aSource({ durationSeconds: null }) });
    for (const reference of [short, unknown]) {
      const failure = await failureOf(submitted("stable-audio-3", reference));
      expect(failure).to.include({ kind: "invalid_input", billable: "no" });
    }
    expect(fake.requests).to.have.lengthOf(0);
  });

  it("is unavailable, and accepted nothing, when the track cannot be read to its end", async () => {
    const broken: SourceAudio["open"] = async function* () {
      yield tinyMp3("source").subarray(0, 10);
      await Promise.resolve();
      throw new Error("the disk is gone");
    };
    for (const id of ["stable-audio-3", "stable-audio-2.5"]) {
      const source = aSource({ durationSeconds: 42.5, open: broken });
      const failure = await failureOf(submitted(id, from("cover", { source })));
      expect(failure).to.include({ kind: "unavailable", billable: "no", message: "The track could not be read." });
    }
    expect(fake.requests).to.have.lengthOf(0);
  });

  it("ends when the connection is cut under a large file", async () => {
    const chunk = new Uint8Array(1_000_000);
    const source = aSource({
      durationSeconds: 42.5,
      sizeBytes: 40 * chunk.length,
      open: async function* () {
        for (let count = 0; count < 40; count += 1) yield await Promise.resolve(chunk);
      },
    });
    fake.spoil(COVER, "cut-request");
    const failure = await failureOf(submitted("stable-audio-3", from("cover", { source })));
    expect(failure.kind).to.equal("outcome_unknown");
  });

  it("is declared within the vendor's bounds, and only where the documents have it", () => {
    const declared = Object.fromEntries(definition.models.map(({ id, references }) => [id, references]));
    const older = { sources: "any", contentTypes: ["audio/mpeg", "audio/wav"], maxBytes: 49_900_000, maxSeconds: 190 };
    const cost = (amount: number): object => ({ upstreamCost: { amount, unit: "credits" } });
    const newer = { ...older, maxBytes: 99_900_000, maxSeconds: 380, ...cost(26) };
    const cover = { ...older, ...cost(20), takesStrength: true };
    expect(declared).to.deep.equal({
      "stability/stable-audio-3": { cover: { ...newer, takesStrength: true }, inpaint: newer },
      "stability/stable-audio-2.5": { cover, inpaint: { ...older, ...cost(20) } },
      "stability/stable-audio-2": { cover },
    });
  });

  it("names a mode that a model of the operator's cannot have", () => {
    const anyTrack = { sources: "any" } as const;
    const issue = (id: string, references: object): string | null | undefined =>
      definition.checkModel?.({ ...modelOf(id), references });
    expect(issue("stable-audio-2", { cover: anyTrack })).to.equal(null);
    expect(issue("stable-audio-2", { inpaint: anyTrack })).to.match(/references\.inpaint.*stable-audio-2\.5/);
    for (const id of ["stable-audio-2.5", "stable-audio-3"]) expect(issue(id, { inpaint: anyTrack })).to.equal(null);
    expect(issue("stable-audio-3", { extend: anyTrack })).to.equal(
      "has references.extend; Stable Audio has cover and inpaint",
    );
  });
});
