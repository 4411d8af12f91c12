import { expect } from "chai";
import { type MusicProvider, ProviderFailure, type ProviderHandle } from "../../core/ports/music-provider.js";
import definition from "../../plugins/lalal/index.js";
import { musicProviderContract } from "../contract/music-provider.contract.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import {
  aSource,
  aSplitRequest,
  FakeApi,
  json,
  providerHost,
  settingsOf,
  tinyWav,
} from "../support/provider-kit/index.js";
import {
  accepts,
  API_KEY,
  bodyOf,
  CANCEL,
  CHECK,
  checked,
  lalal,
  MINUTES,
  MULTISTEM,
  SEPARATOR,
  UPLOAD,
} from "./lalal-support.js";

musicProviderContract("lalal", lalal);

const { signal } = new AbortController();
const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const handle = (taskId: string, operation = "stem_split"): ProviderHandle => ({
  version: 1,
  data: { operation, taskId },
});

describe("lalal", () => {
  let fake: FakeApi;
  let clock: ManualClock;
  beforeEach(async () => {
    fake = await FakeApi.open();
    clock = new ManualClock(Date.parse("2026-11-21T06:30:03.000Z"));
    await accepts(fake);
  });
  afterEach(() => fake.close());

  const open = (settings: Record<string, string | boolean> = {}): MusicProvider =>
    definition.create(
      providerHost({ clock, settings: settingsOf(definition, { apiKey: API_KEY, baseUrl: fake.url, ...settings }) }),
    );
  const polled = async (...handles: ProviderHandle[]): Promise<readonly unknown[]> =>
    (await open().pollMany?.(handles, { signal })) ?? [];
  const failureOf = async (promise: Promise<unknown> | undefined): Promise<ProviderFailure> => {
    try {
      throw new Error(`Expected a failure, and got ${JSON.stringify(await promise)}`);
    } catch (error) {
      if (!ProviderFailure.is(error)) throw error;
      return error;
    }
  };

  it("uploads the bytes as they are, with a length, a name and the key", async () => {
    const wav = tinyWav();
    const source = aSource({ contentType: "audio/wav", sizeBytes: wav.length, title: "Régen ♫" }, wav);
    await open().submit(aSplitRequest("stem_split", source, { jobId: "job_7" }), { signal });
    const [upload] = fake.calls(UPLOAD);
    expect(upload?.body.equals(Buffer.from(wav))).to.equal(true);
    expect(upload?.headers).to.include({
      "x-license-key": API_KEY,
      "content-disposition": "attachment; filename=job_7.wav",
      "content-length": String(wav.length),
    });
    expect(upload?.headers).to.not.have.property("transfer-encoding");
  });

  it("asks for the stems of the settings, the rest as other", async () => {
    await open().submit(aSplitRequest("stem_split", aSource()), { signal });
    const { idempotency_key: key, ...body } = bodyOf(fake.calls(MULTISTEM)[0]);
    expect(key).to.match(UUID_V4);
    const presets = { stem_list: ["vocals", "drum", "bass"], extraction_level: "deep_extraction" };
    expect(body).to.deep.equal({ source_id: "2fe8f214-1771-4900-9e7e-570f823bd359", presets });
  });

  it("asks for what the settings say", async () => {
    const format = { extractionLevel: "clear_cut", encoderFormat: "flac" };
    const settings = { stems: "vocals, piano", splitter: "phoenix", ...format, dereverb: true };
    await open(settings).submit(aSplitRequest("stem_split", aSource()), { signal });
    expect(bodyOf(fake.calls(MULTISTEM)[0])["presets"]).to.deep.equal({
      stem_list: ["vocals", "piano"],
      splitter: "phoenix",
      extraction_level: "clear_cut",
      encoder_format: "flac",
      dereverb_enabled: true,
    });
  });

  it("asks for the vocals alone where they are to be removed", async () => {
    await open().submit(aSplitRequest("vocal_removal", aSource()), { signal });
    expect(bodyOf(fake.calls(SEPARATOR)[0])["presets"]).to.deep.equal({
      stem: "vocals",
      extraction_level: "deep_extraction",
    });
  });

  it("takes echoes out of vocals alone", async () => {
    const settings = { stems: "drum,bass", dereverb: true };
    await open(settings).submit(aSplitRequest("stem_split", aSource()), { signal });
    await open(settings).submit(aSplitRequest("vocal_removal", aSource()), { signal });
    expect(bodyOf(fake.calls(MULTISTEM)[0])["presets"]).to.not.have.property("dereverb_enabled");
    expect(bodyOf(fake.calls(SEPARATOR)[0])["presets"]).to.include({ stem: "vocals", dereverb_enabled: true });
  });

  it("splits into all six stems that it takes at once", async () => {
    const all = ["vocals", "drum", "piano", "bass", "electric_guitar", "acoustic_guitar"];
    await open({ stems: all.join(",") }).submit(aSplitRequest("stem_split", aSource()), { signal });
    expect(bodyOf(fake.calls(MULTISTEM)[0])["presets"]).to.deep.include({ stem_list: all });
  });

  it("does not start again what a lost attempt began, and says that it is paid for", async () => {
    fake.on(MULTISTEM.method, MULTISTEM.path, json({ detail: "used", code: "idempotency_key_used" }, { status: 400 }));
    const failure = await failureOf(open().submit(aSplitRequest("stem_split", aSource()), { signal }));
    expect(failure).to.include({ kind: "failed", billable: "yes", providerCode: "idempotency_key_used" });
  });

  it("polls all work at the same moments, so that it can be polled together", async () => {
    const request = aSplitRequest("stem_split", aSource());
    expect(await open().submit(request, { signal })).to.have.property("nextPollMs", 7_000);
    fake.on(CHECK.method, CHECK.path, checked({ status: "progress", progress: 40 }));
    await clock.advance(6_000);
    expect(await polled(handle("T1"))).to.deep.equal([
      { state: "running", nextPollMs: 11_000, progress: { percent: 40 } },
    ]);
  });

  it("returns the state of each of many tasks, at most 200 in a call", async () => {
    fake.on(CHECK.method, CHECK.path, (request) => {
      const ids = bodyOf(request)["task_ids"] as string[];
      return json({
        result: Object.fromEntries(ids.map((id) => [id, { status: id === "T7" ? "cancelled" : "progress" }])),
      });
    });
    const responses = await polled(...Array.from({ length: 201 }, (_, index) => handle(`T${index}`)), {
      version: 2,
      data: {},
    });
    expect(fake.calls(CHECK).map((call) => (bodyOf(call)["task_ids"] as string[]).length)).to.deep.equal([200, 1]);
    expect(responses).to.have.lengthOf(202);
    const failed = responses.flatMap((response, index) =>
      ProviderFailure.is(response) ? [`${index} ${response.kind}`] : [],
    );
    expect(failed).to.deep.equal(["7 cancelled", "201 failed"]);
  });

  it("leaves out remainders that are no part of their own, and takes no half for a vocal removal", async () => {
    const url = "https://d.lalal.ai/a.mp3";
    const tracks = [
      { type: "stem", label: "vocals", url },
      { type: "back", label: "no_drum", url },
      { type: "stem", label: "vocals@0", url },
      { type: "stem", label: "bass", url: null },
      { type: "stem", label: "electric_guitar", url },
    ];
    fake.on(CHECK.method, CHECK.path, checked({ status: "success", result: { duration: 182, tracks } }));
    const [split, removal] = (await polled(handle("T1"), handle("T2", "vocal_removal"))) as [object, ProviderFailure];
    expect(split).to.have.property("stems").that.is.an("array").with.lengthOf(2);
    expect(split).to.have.nested.property("stems[0]").that.includes({ label: "vocals", durationSeconds: 182 });
    expect(split).to.have.nested.property("stems[1].label", "electric_guitar");
    expect(removal.kind).to.equal("failed");
  });

  it("fetches stems by https where their links are by plain http", async () => {
    const url = "http://d.lalal.ai/2fe8f214/abcd1234/vocals";
    const result = { duration: 16, tracks: [{ type: "stem", label: "vocals", url }] };
    fake.on(CHECK.method, CHECK.path, checked({ status: "success", result }));
    const [split] = await polled(handle("T1"));
    expect(split).to.have.nested.property("stems[0].source.url", "https://d.lalal.ai/2fe8f214/abcd1234/vocals");
  });

  it("does not report a cancel that did not happen", async () => {
    const T2 = { status: "server_error", error: "The task could not be read." };
    fake.on(CANCEL.method, CANCEL.path, json({ result: { T1: { status: "success" }, T2 } }));
    expect(await open().cancel?.(handle("T1"), { signal })).to.equal("requested");
    expect((await failureOf(open().cancel?.(handle("T2"), { signal }))).kind).to.equal("unavailable");
    expect(bodyOf(fake.calls(CANCEL)[0])).to.deep.equal({ task_ids: ["T1"] });
  });

  it("warns when no minutes are left", async () => {
    fake.on(MINUTES.method, MINUTES.path, json({ minutes_left: 0 }));
    expect(await open().probe?.({ signal }))
      .to.have.property("warnings")
      .that.deep.equals(["No minutes are left."]);
  });

  it("names every setting that is wrong", () => {
    expect(() => open({ stems: "vocals,drums,wind,vocals", splitter: "phoenix" })).to.throw(
      [
        'stems: "drums, wind"; allowed: vocals, drum, piano, bass, electric_guitar, acoustic_guitar',
        'stems: "vocals,drums,wind,vocals"; allowed: each once',
      ].join("\n"),
    );
  });
});
