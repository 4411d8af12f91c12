import { expect } from "chai";
import type { ReferenceModes } from "../../core/ports/music-provider.js";
import { type ProviderDefinition } from "../../plugins/sdk/index.js";
import { A_GENERATION, type ApiResponse, dataOf, errorOf, issuePaths, refusalOf } from "../support/api-client.js";
import { aChord, wavFile } from "../support/audio-files.js";
import { upload } from "../support/audio-form.js";
import { SCRIPTED_TRACK, ScriptedProvider } from "../support/doubles/scripted-provider.js";
import { importTrack } from "../support/library-import.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

interface Shown {
  readonly id: string;
  readonly credits_charged: number;
  readonly reference?: object;
  readonly tracks: readonly { readonly id: string; readonly duration: number; readonly bpm: number }[];
}

const SOUND = wavFile(aChord(3, () => 0.5, { sampleRate: 8_000, channelCount: 1 }));

/** Of the song: all modes, each with different limits. */
const REFERENCES: ReferenceModes = {
  extend: { sources: "own" },
  cover: { sources: "any", contentTypes: ["audio/wav"], maxSeconds: 60, creditCost: 4, takesStrength: true },
  inpaint: { sources: "any", maxBytes: 100_000, creditCost: 25 },
};

class WorksFromTracks extends ScriptedProvider {
  protected override define(id: string): ProviderDefinition {
    const definition = super.define(id);
    const [song, ...others] = definition.models;
    return { ...definition, models: song === undefined ? [] : [{ ...song, references: REFERENCES }, ...others] };
  }
}

describe("reference of POST /api/v1/generations", function () {
  this.timeout(60_000);
  let test: TestApp;
  let provider: WorksFromTracks;
  let caller: TestAccount;
  let trackId: string;
  before(async () => {
    provider = new WorksFromTracks("worker");
    test = await startTestApp({ work: true, plugins: [provider.definition] });
    caller = await test.account();
    trackId = dataOf<{ readonly id: string }>(await upload(caller.api, SOUND)).id;
  });
  after(() => test.close());

  const generate = (reference: object | null, api = caller.api): Promise<ApiResponse> =>
    api.generate(
      { ...A_GENERATION, model_id: "worker/song", ...(reference === null ? {} : { reference }) },
      { Prefer: "wait=30" },
    );
  async function generated(reference: object): Promise<Shown> {
    const { id } = dataOf<{ readonly id: string }>(await generate(reference));
    return dataOf<Shown>(await caller.api.get(`/api/v1/generations/${id}`));
  }

  it("is listed by GET /models, with the price of each mode", async () => {
    const { models } = dataOf<{ readonly models: readonly { readonly id: string; readonly references: object }[] }>(
      await caller.api.get("/api/v1/models"),
    );
    const own = models.filter(({ id }) => id.startsWith("worker/"));
    expect(own.map(({ references }) => references)).to.deep.equal([
      [
        { mode: "extend", credit_cost: 10, sources: "own", takes_strength: false },
        {
          ...{ mode: "cover", credit_cost: 4, sources: "any", content_types: ["audio/wav"] },
          ...{ max_seconds: 60, takes_strength: true },
        },
        { mode: "inpaint", credit_cost: 25, sources: "any", max_bytes: 100_000, takes_strength: false },
      ],
      [],
    ]);
  });

  it("costs what credit_bounds of GET /models say: the least and the most are really charged", async () => {
    const { credit_bounds: bounds } = dataOf<{ readonly credit_bounds: object }>(
      await caller.api.get("/api/v1/models/worker%2Fsong"),
    );
    provider.behaviour = () =>
      Promise.resolve({ state: "completed", tracks: [{ ...SCRIPTED_TRACK, reference: { song: "s1" } }] });
    const ended = async (reference: object | null): Promise<Shown> => {
      const { id } = dataOf<{ readonly id: string }>(await generate(reference));
      return dataOf<Shown>(await caller.api.get(`/api/v1/generations/${id}`));
    };
    const plain = await ended(null);
    const ways = [
      { track_id: plain.tracks[0]?.id, mode: "extend" },
      { track_id: trackId, mode: "cover" },
      { track_id: trackId, mode: "inpaint", from: 0.5, to: 1 },
    ];
    const prices = [plain.credits_charged];
    for (const reference of ways) prices.push((await ended(reference)).credits_charged);
    expect(prices).to.deep.equal([10, 10, 4, 25]);
    expect(bounds).to.deep.equal({ minimum: Math.min(...prices), maximum: Math.max(...prices) });
    const ids = async (query: string): Promise<string[]> =>
      dataOf<{ readonly models: readonly Shown[] }>(await caller.api.get(`/api/v1/models?${query}`)).models.map(
        ({ id }) => id,
      );
    expect(await ids("reference=cover&max_credits=4")).to.deep.equal(["worker/song"]);
    expect(await ids("reference=inpaint&max_credits=24")).to.deep.equal([]);
  });

  it("gives the provider the bytes of the track, charges the mode's price, and is stored with the job", async () => {
    const reference = { track_id: trackId, mode: "cover", strength: 0.4 };
    const shown = await generated(reference);
    expect([shown.credits_charged, shown.reference]).to.deep.equal([4, reference]);
    expect(dataOf(await caller.api.get(`/api/v1/jobs/${shown.id}`))).to.deep.include({ reference });
    const sent = provider.submissions.at(-1);
    const given = sent?.operation === "music" ? sent.reference : undefined;
    expect(given).to.deep.include({ mode: "cover", fromSeconds: null, toSeconds: null, strength: 0.4 });
    expect(given?.source).to.deep.include({ contentType: "audio/wav", durationSeconds: 3, reference: null });
    const bytes: Uint8Array[] = [];
    for await (const chunk of given?.source.open() ?? []) bytes.push(chunk);
    expect(Buffer.concat(bytes).equals(SOUND)).to.equal(true);
  });

  it("extends only a track of the same provider", async () => {
    provider.behaviour = () =>
      Promise.resolve({ state: "completed", tracks: [{ ...SCRIPTED_TRACK, reference: { song: "s1" } }] });
    const plain = dataOf<{ readonly id: string }>(await generate(null));
    const { tracks } = dataOf<Shown>(await caller.api.get(`/api/v1/generations/${plain.id}`));
    const own = tracks[0]?.id ?? "";
    const shown = await generated({ track_id: own, mode: "extend", from: 2.5 });
    expect([shown.credits_charged, shown.reference]).to.deep.equal([10, { track_id: own, mode: "extend", from: 2.5 }]);
    const sent = provider.submissions.at(-1);
    const source = sent?.operation === "music" ? sent.reference?.source : undefined;
    expect([source?.reference, source?.contentType], "its own id, and the lossless copy").to.deep.equal([
      { song: "s1" },
      "audio/wav",
    ]);
    const refused = await generate({ track_id: trackId, mode: "extend" });
    expect(refusalOf(refused)).to.equal("400 invalid_request");
    expect(issuePaths(refused)).to.deep.equal(["body.reference.track_id"]);
  });

  const REFUSED: Readonly<Record<string, readonly [paths: readonly string[], reference: () => object]>> = {
    "an unknown mode": [["body.reference.mode"], () => ({ track_id: trackId, mode: "remix" })],
    "no mode": [["body.reference.mode"], () => ({ track_id: trackId })],
    "no track": [["body.reference.track_id"], () => ({ mode: "cover" })],
    "an unknown member": [["body.reference.at"], () => ({ track_id: trackId, mode: "cover", at: 1 })],
    "a part of a cover": [["body.reference.from"], () => ({ track_id: trackId, mode: "cover", from: 1 })],
    "half a part": [["body.reference.to"], () => ({ track_id: trackId, mode: "inpaint", from: 1 })],
    "a part that ends before it begins": [
      ["body.reference.to"],
      () => ({ track_id: trackId, mode: "inpaint", from: 2, to: 1 }),
    ],
    "a part behind the end": [["body.reference.to"], () => ({ track_id: trackId, mode: "inpaint", from: 2, to: 3.5 })],
    "a strength above 1": [["body.reference.strength"], () => ({ track_id: trackId, mode: "cover", strength: 1.1 })],
    "a strength that the model does not take": [
      ["body.reference.strength"],
      () => ({ track_id: trackId, mode: "inpaint", from: 1, to: 2, strength: 0.5 }),
    ],
  };
  for (const [title, [paths, reference]] of Object.entries(REFUSED)) {
    it(`with ${title} is refused with its path`, async () => {
      const response = await generate(reference());
      expect(refusalOf(response), response.text).to.equal("400 invalid_request");
      expect(issuePaths(response)).to.deep.equal(paths);
    });
  }

  it("is refused by a model without the mode, and when the model accepts no file of the track", async () => {
    const body = { model_id: "worker/beat", prompt: "x", reference: { track_id: trackId, mode: "cover" } };
    expect(issuePaths(await caller.api.generate(body))).to.deep.equal(["body.reference.mode"]);
    const mp3 = await importTrack(test.app, { audio: Buffer.from("ID3 and no sound".repeat(10)) });
    const response = await generate({ track_id: mp3, mode: "cover" });
    expect(issuePaths(response)).to.deep.equal(["body.reference.track_id"]);
    expect(errorOf(response).message).to.include("audio/wav; at most 60 s");
  });

  it("to an unknown track, or one that the account may not play, returns the same 404", async () => {
    const { api: otherAccount } = await test.account();
    const foreign = await generate({ track_id: trackId, mode: "cover" }, otherAccount);
    const absent = await generate({ track_id: "trk_01m7yt6mv39xt4v1ejr9ybtpcc", mode: "cover" }, otherAccount);
    for (const response of [foreign, absent]) expect(refusalOf(response)).to.equal("404 track_not_found");
    expect(errorOf(foreign).message).to.equal(errorOf(absent).message);
    const open = await importTrack(test.app, { audio: SOUND, ending: "wav" });
    expect((await generate({ track_id: open, mode: "cover" }, otherAccount)).status, "a public one").to.equal(202);
  });

  it("is part of the idempotency fingerprint", async () => {
    const send = (strength: number): Promise<ApiResponse> =>
      caller.api.generate(
        { ...A_GENERATION, model_id: "worker/song", reference: { track_id: trackId, mode: "cover", strength } },
        { "Idempotency-Key": "reference" },
      );
    expect((await send(0.1)).status).to.equal(202);
    expect((await send(0.1)).headers.get("idempotent-replayed")).to.equal("true");
    expect(refusalOf(await send(0.2))).to.equal("409 idempotency_conflict");
  });
});

describe("Synth", function () {
  this.timeout(120_000);

  it("extends its own tracks in their tempo, extended ones too", async () => {
    const test = await startTestApp({ work: true, settings: { plugins: { synth: { enabled: true, threads: 1 } } } });
    const { api } = await test.account();
    const make = async (more: object): Promise<Shown["tracks"][number]> => {
      const body = { model_id: "synth/instrumental", prompt: "calm piano", duration: 6, ...more };
      const { id } = dataOf<{ readonly id: string }>(await api.generate(body, { Prefer: "wait=60" }));
      const { tracks } = dataOf<Shown>(await api.get(`/api/v1/generations/${id}`));
      return tracks[0] as Shown["tracks"][number];
    };
    const first = await make({ options: { bpm: 77 } });
    const second = await make({ prompt: "wild drums", reference: { track_id: first.id, mode: "extend" } });
    expect([second.duration, second.bpm]).to.deep.equal([12, 77]);
    const third = await make({ reference: { track_id: second.id, mode: "extend", from: 10 } });
    expect([third.duration, third.bpm]).to.deep.equal([16, 77]);
    await test.close();
  });
});
