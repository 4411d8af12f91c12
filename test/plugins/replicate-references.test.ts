import { expect } from "chai";
import type { MusicReference, MusicRequest, ProviderFailure, ProviderModel } from "../../core/ports/music-provider.js";
import definition from "../../plugins/replicate/index.js";
import { asObject } from "../../plugins/sdk/index.js";
import {
  aMusicRequest,
  aSource,
  FakeApi,
  fault,
  type HttpResponse,
  json,
  providerHost,
  settingsOf,
} from "../support/provider-kit/index.js";
import { accepts, FILES, KEY, replicateHarness, stores, SUBMIT } from "./replicate-support.js";

const { signal } = new AbortController();
const MUSICGEN = definition.models.find(({ id }) => id === "replicate/musicgen") as ProviderModel;
const STORED = "https://api.replicate.com/v1/files/cneqzikepnug6xezperrr4z55o";

const aReference = (parts: Partial<MusicReference> = {}): MusicReference => ({
  mode: "cover",
  source: aSource({ durationSeconds: 12.3 }),
  ...{ fromSeconds: null, toSeconds: null, strength: null },
  ...parts,
});

describe("replicate: tracks to work from", () => {
  let fake: FakeApi;
  beforeEach(async () => {
    fake = await FakeApi.open();
    await accepts(fake);
    await stores(fake);
  });
  afterEach(() => fake.close());

  const submit = (reference: MusicReference, parts: Partial<MusicRequest> = {}, model = MUSICGEN): Promise<unknown> => {
    const settings = settingsOf(definition, replicateHarness.settings(fake));
    const provider = definition.create(providerHost({ settings }));
    const request = aMusicRequest(model, { prompt: "jazz", lyrics: null, durationSeconds: null, ...parts, reference });
    return provider.submit(request, { signal });
  };
  const failureOf = async (submitted: Promise<unknown>): Promise<ProviderFailure> =>
    (await submitted.catch((error: unknown) => error)) as ProviderFailure;
  const inputs = (): unknown[] => fake.calls(SUBMIT).map(({ json: body }) => asObject(body)["input"]);

  it("are stored there, and named to the model that follows a melody", async () => {
    await submit(aReference(), { options: { seed: 7 } });
    const [upload] = fake.calls(FILES);
    expect(upload?.headers["authorization"]).to.equal(`Bearer ${KEY}`);
    expect(upload?.field("content")).to.include({ filename: "track.mp3", contentType: "audio/mpeg" });
    expect(inputs()).to.deep.equal([
      {
        prompt: "jazz",
        duration: 13,
        seed: 7,
        model_version: "stereo-melody-large",
        output_format: "mp3",
        input_audio: STORED,
      },
    ]);
  });

  it("are not stored where there is a link to them; a cover of a long one is as long as the model goes", async () => {
    const url = "https://api.example/audio/track.mp3";
    await submit(aReference({ source: aSource({ url, durationSeconds: 200 }) }));
    expect(fake.calls(FILES)).to.have.lengthOf(0);
    expect(inputs()[0]).to.include({ input_audio: url, duration: 30 });
  });

  it("have a time of their own to be stored in", async () => {
    fake.on(FILES.method, FILES.path, fault("hang"));
    const settings = { ...replicateHarness.settings(fake), timeoutMs: 600_000, uploadTimeoutMs: 1_000 };
    const provider = definition.create(providerHost({ settings: settingsOf(definition, settings) }));
    const submitted = provider.submit(aMusicRequest(MUSICGEN, { reference: aReference() }), { signal });
    expect(await failureOf(submitted)).to.include({ kind: "unavailable", message: "No response in time." });
    expect(fake.calls(SUBMIT)).to.have.lengthOf(0);
  });

  for (const [what, response, kind] of [
    ["without a URL", json({ id: "f1", urls: {} }, { status: 201 }), "unavailable"],
    ["of a URL that is none", json({ id: "f1", urls: { get: "/files/f1" } }, { status: 201 }), "unavailable"],
    ["of a server's fault", json({ detail: "oops" }, { status: 500 }), "unavailable"],
    ["of too many requests", json({ detail: "Your rate limit resets in ~30s." }, { status: 429 }), "rate_limited"],
    ["of a wrong token", json({ detail: "Unauthenticated" }, { status: 401 }), "misconfigured"],
    ["of no such call", json({ detail: "Not found" }, { status: 404 }), "misconfigured"],
  ] as readonly (readonly [string, HttpResponse, string])[]) {
    it(`that were not stored create nothing: a response ${what}`, async () => {
      fake.on(FILES.method, FILES.path, response);
      expect((await failureOf(submit(aReference()))).kind).to.equal(kind);
      expect(fake.calls(SUBMIT)).to.have.lengthOf(0);
    });
  }
});
