import { expect } from "chai";
import { ProviderFailure } from "../../core/ports/music-provider.js";
import type {
  Accepted,
  CancelOutcome,
  Completed,
  MusicProvider,
  MusicRequest,
  ProviderHost,
  ProviderModel,
} from "../../core/ports/music-provider.js";
import definition from "../../plugins/lyria/index.js";
import { musicProviderContract } from "../contract/music-provider.contract.js";
import { aMusicRequest, FakeApi, json, providerHost, settingsOf, tinyMp3 } from "../support/provider-kit/index.js";
import {
  accepts,
  CANCEL,
  CREATE,
  GET,
  interaction,
  interactionsHarness,
  plainRefusal,
  stepsOf,
  sung,
} from "./lyria-interactions-support.js";
import { API_KEY, base64, GENERATE, geminiSettings, refusal, song, vertexSettings } from "./lyria-support.js";

musicProviderContract("lyria, Gemini API by interactions", interactionsHarness);

const { signal } = new AbortController();

describe("lyria by interactions", () => {
  let fake: FakeApi;
  beforeEach(async () => {
    fake = await FakeApi.open();
    await accepts(fake);
  });
  afterEach(() => fake.close());

  const settingsWith = (parts: ProviderHost["settings"] = {}): ProviderHost["settings"] =>
    settingsOf(definition, { apiKey: API_KEY, geminiUrl: `${fake.url}/v1beta`, ...parts });
  const open = (parts?: ProviderHost["settings"]): MusicProvider =>
    definition.create(providerHost({ settings: settingsWith(parts) }));
  const [model] = definition.models;
  if (model === undefined) throw new Error("there is no model");
  const submitted = (
    parts: Partial<MusicRequest> = {},
    of: ProviderModel = model,
    settings?: ProviderHost["settings"],
  ): Promise<Completed | Accepted> =>
    open(settings).submit(aMusicRequest(of, { prompt: "Synth pop, 118 BPM.", lyrics: null, ...parts }), { signal });
  const handle = { version: 1, data: { id: "v1/a b" } };
  const failureOf = async (promise: Promise<unknown> | undefined): Promise<ProviderFailure> => {
    const result = await promise?.catch((error: unknown) => error);
    if (!ProviderFailure.is(result)) throw new Error(`Expected a failure, and got ${JSON.stringify(result)}`);
    return result;
  };

  it("is the default, and sends the words as input of work in the background", async () => {
    await submitted({ lyrics: "[Verse]\nNeon on the water\n", instrumental: false });
    await submitted({ instrumental: true }, { ...model, options: { api: "gemini", format: "wav" } });
    const body = { model: "lyria-3.5", background: true };
    expect(fake.calls(CREATE).map((request) => request.json)).to.deep.equal([
      { ...body, input: "Synth pop, 118 BPM.\nLyrics:\n[Verse]\nNeon on the water" },
      {
        ...body,
        input: "Synth pop, 118 BPM.\nInstrumental only, no vocals.",
        response_format: { type: "audio", mime_type: "audio/wav" },
      },
    ]);
    expect(fake.calls(CREATE)[0]?.headers).to.include({ "x-goog-api-key": API_KEY, "api-revision": "2026-05-20" });
    expect(fake.calls(GENERATE)).to.have.lengthOf(0);
  });

  it("polls by the id, as often as the settings say", async () => {
    fake.on("GET", GET.path, interaction("in_progress"));
    const accepted = await submitted({}, model, { pollMs: 9_000 });
    expect(accepted).to.deep.include({ state: "accepted", nextPollMs: 9_000 });
    expect(await open().poll?.(handle, { signal })).to.deep.equal({ state: "running", nextPollMs: 5_000 });
    const [call] = fake.calls(GET);
    expect([call?.params["id"], call?.headers["api-revision"]]).to.deep.equal(["v1%2Fa%20b", "2026-05-20"]);
  });

  it("takes the music where it stands: in steps, in outputs, and in the response to the submission", async () => {
    const [picture, sound] = [tinyMp3("picture"), tinyMp3("sound")];
    const content = [{ type: "image", data: base64(picture) }, { type: "audio", data: "not base64!" }, ...sung(sound)];
    const expected = { kind: "text", encoding: "base64", text: base64(sound) };
    for (const parts of [stepsOf(content), { model: "lyria-3-pro-preview", outputs: content }]) {
      fake.on("GET", GET.path, interaction("completed", parts));
      const done = (await open().poll?.(handle, { signal })) as Completed;
      expect(done.tracks.map(({ assets }) => assets[0]?.source)).to.deep.equal([expected]);
    }
    fake.on("POST", CREATE.path, interaction("completed", stepsOf(content)));
    const done = (await submitted()) as Completed;
    expect(done.tracks[0]?.assets[0]?.source).to.deep.equal(expected);
    expect(done.tracks[0]?.lyrics).to.deep.equal({ text: "[Verse] Neon on the water" });
  });

  it("is of unknown outcome where the response has neither id nor music", async () => {
    for (const parts of [{ status: "in_progress" }, { id: "v1_abc" }, { id: "", status: "queued" }]) {
      fake.on("POST", CREATE.path, json(parts));
      expect((await failureOf(submitted())).kind).to.equal("outcome_unknown");
    }
  });

  it("names the setting to change where a model does not work in the background", async () => {
    fake.on("POST", CREATE.path, plainRefusal(400, "invalid_request", "background is not supported for this model."));
    expect(await failureOf(submitted())).to.include({
      kind: "misconfigured",
      message: "400 invalid_request: background is not supported for this model. Set geminiApi to generateContent.",
    });
  });

  it("says of a cancellation what Google says", async () => {
    const cancelled = async (response: ReturnType<typeof json>): Promise<CancelOutcome | undefined> => {
      fake.on("POST", CANCEL.path, response);
      return open().cancel?.(handle, { signal });
    };
    expect(await cancelled(interaction("cancelled"))).to.equal("cancelled");
    expect(await cancelled(interaction("in_progress"))).to.equal("requested");
    expect(await cancelled(json({}))).to.equal("requested");
    expect(await cancelled(interaction("completed"))).to.equal("too_late");
    const missing = { error: { code: 404, message: "Method not found.", status: "NOT_FOUND" } };
    expect(await cancelled(json([missing], { status: 404 }))).to.equal("too_late");
    expect((await failureOf(cancelled(refusal(401, "UNAUTHENTICATED")))).kind).to.equal("misconfigured");
    expect(fake.calls(CANCEL)[0]?.params["id"]).to.equal("v1%2Fa%20b");
  });

  it("is left out with geminiApi: generateContent, but for work that was accepted before", async () => {
    const settings = geminiSettings(fake, "generateContent");
    fake.on("POST", GENERATE.path, song(tinyMp3()));
    expect((await submitted({}, model, settings)).state).to.equal("completed");
    expect(fake.calls(CREATE)).to.have.lengthOf(0);
    fake.on("GET", GET.path, interaction("completed", stepsOf(sung(tinyMp3()))));
    expect((await open(settings).poll?.(handle, { signal }))?.state).to.equal("completed");
  });

  it("claims a cancel only where there is work to cancel", () => {
    const { capabilities } = definition;
    if (typeof capabilities !== "function") throw new Error("the capabilities depend on no settings");
    expect(capabilities(settingsWith()).cancel).to.equal(true);
    expect(capabilities(settingsWith({ geminiApi: "generateContent" })).cancel).to.equal(false);
    expect(capabilities(settingsOf(definition, vertexSettings(fake))).cancel).to.equal(false);
  });

  it("takes no handle of another plugin's, and needs the key for those that were accepted", async () => {
    expect((await failureOf(open().poll?.({ version: 2, data: { id: "a" } }, { signal }))).kind).to.equal("failed");
    expect((await failureOf(open().poll?.({ version: 1, data: {} }, { signal }))).kind).to.equal("failed");
    const vertexOnly = definition.create(providerHost({ settings: settingsOf(definition, vertexSettings(fake)) }));
    expect((await failureOf(vertexOnly.poll?.(handle, { signal }))).kind).to.equal("misconfigured");
    expect(fake.requests).to.have.lengthOf(0);
  });
});
