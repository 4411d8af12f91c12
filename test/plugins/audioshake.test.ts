import { expect } from "chai";
import {
  type Completed,
  type MusicProvider,
  ProviderFailure,
  type ProviderHandle,
  type SourceAudio,
} from "../../core/ports/music-provider.js";
import definition from "../../plugins/audioshake/index.js";
import { musicProviderContract } from "../contract/music-provider.contract.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import {
  aSource,
  aSplitRequest,
  FakeApi,
  type HostUnderTest,
  json,
  providerHost,
  settingsOf,
  tinyMp3,
} from "../support/provider-kit/index.js";
import {
  accepts,
  API_KEY,
  ASSETS,
  audioShake,
  bodyOf,
  completed,
  errored,
  LIST,
  refused,
  says,
  task,
  TASKS,
} from "./audioshake-support.js";

musicProviderContract("audioshake", audioShake);

const { signal } = new AbortController();
const NOW = Date.parse("2026-11-23T00:00:00Z");

describe("audioshake", () => {
  let fake: FakeApi;
  let host: HostUnderTest;
  beforeEach(async () => {
    fake = await FakeApi.open();
    await accepts(fake);
  });
  afterEach(() => fake.close());

  const open = (settings: Record<string, string | number> = {}): MusicProvider => {
    const given = { apiKey: API_KEY, baseUrl: fake.url, ...settings };
    host = providerHost({ settings: settingsOf(definition, given), clock: new ManualClock(NOW) });
    return definition.create(host);
  };
  const split = async (
    operation: "stem_split" | "vocal_removal",
    source: SourceAudio = aSource(),
    settings: Record<string, string> = {},
  ): Promise<ProviderHandle> => {
    const request = aSplitRequest(operation, source, { jobId: "job_7", attemptId: "att_7" });
    const outcome = await open(settings).submit(request, { signal });
    if (outcome.state !== "accepted") throw new Error("The task was to be accepted.");
    return outcome.handle;
  };
  const poll = async (handle: ProviderHandle): Promise<Completed> =>
    (await open().poll?.(handle, { signal })) as Completed;
  const failureOf = async (promise: Promise<unknown> | undefined): Promise<ProviderFailure> => {
    try {
      throw new Error(`Expected a failure, and got ${JSON.stringify(await promise)}`);
    } catch (error) {
      if (!ProviderFailure.is(error)) throw error;
      return error;
    }
  };

  it("names a track by its URL where there is one, the targets, and whose attempt it is", async () => {
    await split("vocal_removal", aSource({ url: "https://fermata.example/song.mp3" }));
    expect(fake.requests.map(({ method, path }) => `${method} ${path}`)).to.deep.equal(["POST /tasks"]);
    const [request] = fake.calls(TASKS);
    expect(request?.headers).to.include({ "x-api-key": API_KEY, "content-type": "application/json" });
    expect(request?.headers).not.to.have.property("authorization");
    expect(bodyOf(request)).to.deep.equal({
      url: "https://fermata.example/song.mp3",
      targets: [
        { model: "vocals", formats: ["wav"] },
        { model: "instrumental", formats: ["wav"] },
      ],
      metadata: "vocal_removal:att_7",
    });
  });

  it("uploads any other track as one form, in the chunks that it comes in", async () => {
    const chunks = [tinyMp3("a"), tinyMp3("b")];
    const sizeBytes = chunks.reduce((sum, { length }) => sum + length, 0);
    const source = aSource({ sizeBytes, open: () => streamOf(chunks) });
    await split("stem_split", source, { stems: "drums, keys", format: "flac" });
    const [upload] = fake.calls(ASSETS);
    expect(upload?.headers["content-length"]).to.equal(String(upload?.body.length));
    expect(upload?.headers).not.to.have.property("transfer-encoding");
    const file = upload?.field("file");
    if (typeof file !== "object") throw new Error("The form has no file.");
    expect([file.filename, file.contentType]).to.deep.equal(["job_7.mp3", "audio/mpeg"]);
    expect(Buffer.from(file.bytes).equals(Buffer.concat(chunks))).to.equal(true);
    expect(bodyOf(fake.calls(TASKS)[0])).to.deep.equal({
      assetId: "cmkd41zsb019001pvdcdg13ec",
      targets: [
        { model: "drums", formats: ["flac"] },
        { model: "keys", formats: ["flac"] },
      ],
      metadata: "stem_split:att_7",
    });
  });

  it("creates no task when the upload is lost, and ends at once when it is aborted", async () => {
    for (const fault of ["cut-request", "cut-reply", "cut-body"] as const) {
      fake.spoil(ASSETS, fault);
      expect((await failureOf(split("stem_split"))).kind, fault).to.equal("unavailable");
    }
    const stop = new AbortController();
    fake.spoil(ASSETS, "hang");
    const submitted = failureOf(open().submit(aSplitRequest("stem_split", aSource()), { signal: stop.signal }));
    await fake.received(ASSETS, 4);
    stop.abort();
    expect((await submitted).kind).to.equal("unavailable");
    expect(fake.calls(TASKS)).to.deep.equal([]);
  });

  it("asks for the four stems of its README unless stated otherwise", async () => {
    await split("stem_split", aSource({ url: "https://fermata.example/song.mp3" }));
    const { targets } = bodyOf(fake.calls(TASKS)[0]) as { targets: { model: string }[] };
    expect(targets.map(({ model }) => model)).to.deep.equal(["vocals", "drums", "bass", "other"]);
  });

  it("takes links with the hour that they live, the length, and what the targets cost together", async () => {
    const handle = await split("stem_split");
    const targets = ["vocals", "bass"].map((model) => completed(model, `https://cdn.example/${model}.wav`));
    await says(targets)(fake);
    const { stems, tracks, cost } = await poll(handle);
    expect(tracks).to.deep.equal([]);
    expect(cost).to.deep.equal({ amount: 8, unit: "credits" });
    expect(stems?.[1]).to.deep.equal({
      role: "stem",
      label: "bass",
      contentType: null,
      durationSeconds: 200.53,
      source: { kind: "url", url: "https://cdn.example/bass.wav", expiresAt: NOW + 3_600_000 },
    });
  });

  it("delivers the stems that there are when a target of a stem split failed, and warns", async () => {
    const handle = await split("stem_split");
    const failed = errored("drums", { code: 17, message: "no drums" });
    await says([completed("vocals", "https://cdn.example/v.wav"), failed])(fake);
    const { stems } = await poll(handle);
    expect(stems?.map(({ label }) => label)).to.deep.equal(["vocals"]);
    expect(host.lines.map(({ level, fields }) => [level, fields["models"]])).to.deep.equal([["warn", "drums"]]);
  });

  it("labels a stem whose name is no label", async () => {
    const handle = await split("stem_split");
    await says(["vocals", " ", "2nd Guitar"].map((model) => completed(model, "https://cdn.example/stem.wav")))(fake);
    const { stems } = await poll(handle);
    expect(stems?.map(({ label }) => label)).to.deep.equal(["vocals", "stem_ ", "stem_2nd guitar"]);
  });

  it("fails a vocal removal of which one half failed, with the code of the target", async () => {
    const handle = await split("vocal_removal");
    const failed = errored("instrumental", { code: 17, message: "too short" });
    await says([completed("vocals", "https://cdn.example/v.wav"), failed])(fake);
    const { kind, providerCode, message } = await failureOf(poll(handle));
    expect([kind, providerCode]).to.deep.equal(["failed", "17"]);
    expect(message).to.equal("The target instrumental failed: too short");
  });

  it("finds a lost attempt by its metadata, with its operation, and no other attempt", async () => {
    const tasks = [
      task([], { id: "one", metadata: "vocal_removal:att_70" }),
      task([], { id: "two", metadata: "vocal_removal:att_7" }),
      task([], { id: "three", metadata: null }),
    ];
    fake.on(LIST.method, LIST.path, ({ query }) => json(query["skip"] === "0" ? tasks : []));
    const found = await open().lookup?.("att_7", { signal });
    expect(found).to.deep.include({
      state: "accepted",
      handle: { version: 1, data: { taskId: "two", operation: "vocal_removal" } },
    });
    expect(fake.calls(LIST)[0]?.query).to.deep.equal({ skip: "0", take: "100" });
    expect(await open().lookup?.("att", { signal })).to.deep.equal({ state: "absent" });
  });

  it("is not sure that an attempt is absent while there are more tasks than it reads", async () => {
    fake.on(LIST.method, LIST.path, json([task([], { id: "other" })]));
    expect((await failureOf(open().lookup?.("att_7", { signal }))).kind).to.equal("unavailable");
    expect(fake.calls(LIST)).to.have.lengthOf(20);
  });

  it("says what was refused in its own words", async () => {
    await refused(400, ["targets.0.model is unknown", "formats is empty"])(fake);
    const { message } = await failureOf(split("stem_split"));
    expect(message).to.equal("400: targets.0.model is unknown; formats is empty");
  });

  it("does not start with stems that it does not know, or that are named twice", () => {
    expect(() => open({ stems: "vocals,kazoo" })).to.throw(/^stems: "kazoo"; allowed: vocals, vocals_lead/);
    expect(() => open({ stems: "vocals, vocals" })).to.throw(/allowed: each once$/);
  });
});

async function* streamOf(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}
