import { expect } from "chai";
import { ProviderFailure } from "../../core/ports/music-provider.js";
import type { Completed, MusicProvider, ProviderHandle, ProviderHost } from "../../core/ports/music-provider.js";
import definition from "../../plugins/musicai/index.js";
import { musicProviderContract } from "../contract/music-provider.contract.js";
import {
  aMusicRequest,
  aSource,
  aSplitRequest,
  FakeApi,
  json,
  providerHost,
  settingsOf,
  tinyMp3,
} from "../support/provider-kit/index.js";
import { accepts, failed, job, KEY, LIST, musicAiHarness, refused, SUBMIT, UPLOAD } from "./musicai-support.js";

musicProviderContract("musicai", musicAiHarness);

describe("musicai", () => {
  const never = { signal: new AbortController().signal };
  let fake: FakeApi;
  let provider: MusicProvider;
  beforeEach(async () => {
    fake = await FakeApi.open();
    await accepts(fake);
    start();
  });
  afterEach(() => fake.close());

  function start(settings: ProviderHost["settings"] = {}): void {
    provider = definition.create(
      providerHost({ settings: settingsOf(definition, { ...musicAiHarness.settings(fake), ...settings }) }),
    );
  }

  const split = (operation: "stem_split" | "vocal_removal", source = aSource()): Promise<ProviderHandle> =>
    provider
      .submit(aSplitRequest(operation, source, { jobId: "job_7", attemptId: "att_7" }), never)
      .then((outcome) => (outcome as { readonly handle: ProviderHandle }).handle);

  const labelsOf = async (handle: ProviderHandle): Promise<(string | undefined)[]> =>
    ((await provider.poll?.(handle, never)) as Completed).stems?.map(({ label }) => label) ?? [];

  it("sends a job as documented: the bare key, the workflow, the input, and whose attempt it is", async () => {
    const url = "https://fermata.example/song.mp3";
    await split("vocal_removal", aSource({ url }));
    await split("stem_split", aSource({ url }));
    const [removal, stems] = fake.calls(SUBMIT);
    expect(removal?.json).to.deep.equal({
      name: "job_7",
      workflow: "music-ai/stems-vocals-accompaniment",
      params: { inputUrl: url },
      metadata: { ref: "att_7", operation: "vocal_removal" },
    });
    expect(stems?.json).to.deep.include({
      workflow: "acme/stems",
      metadata: { ref: "att_7", operation: "stem_split" },
    });
    expect(removal?.headers["authorization"]).to.equal(KEY);
    // What can be fetched is not uploaded.
    expect(fake.requests.map(({ method }) => method)).to.deep.equal(["POST", "POST"]);
  });

  it("uploads a track that cannot be fetched, whole, with its length and without the key", async () => {
    const parts = [tinyMp3("a"), tinyMp3("b")] as const;
    const sizeBytes = parts[0].length + parts[1].length;
    const source = aSource({
      sizeBytes,
      open: async function* () {
        yield* parts;
      },
    });
    await split("vocal_removal", source);
    const [put] = fake.calls(UPLOAD);
    expect(put?.body.equals(Buffer.concat(parts))).to.equal(true);
    expect(put?.headers)
      .to.include({ "content-length": String(sizeBytes) })
      .and.not.have.property("authorization");
    expect(put?.query).to.deep.equal({ signature: "X96cb5" });
  });

  it("quotes nothing of the storage's response, which may hold a signature", async () => {
    fake.on("PUT", UPLOAD.path, { status: 403, body: "StringToSign X96cb5" });
    const failure = await failureOf(split("vocal_removal"));
    expect([failure.kind, failure.message]).to.deep.equal(["unavailable", "The upload returned 403."]);
    expect(fake.calls(SUBMIT)).to.have.lengthOf(0);
  });

  for (const name of ["accompaniment", "accompaniments", "Instrumental"]) {
    it(`takes the output ${name} for the instrumental`, async () => {
      const handle = await split("vocal_removal");
      await job({
        status: "SUCCEEDED",
        result: { vocals: "https://cdn.example/v.wav", [name]: "https://cdn.example/r.wav" },
      })(fake);
      expect(await labelsOf(handle)).to.deep.equal(["vocals", "instrumental"]);
    });
  }

  it("calls outputs what the operator calls them, and leaves out what he does not want", async () => {
    start({ labels: "voice=vocals, The Rest = instrumental,chords=-" });
    const handle = await split("vocal_removal");
    const [voice, rest, chords] = ["v.wav", "r.wav", "c.json"].map((file) => `https://cdn.example/${file}`);
    await job({ status: "SUCCEEDED", result: { voice, "the rest": rest, chords } })(fake);
    expect(await labelsOf(handle)).to.deep.equal(["vocals", "instrumental"]);
    for (const labels of ["voice", "voice=", "=vocals", "voice=Vocals", "voice=full", "a=b,,"])
      expect(() => start({ labels }), labels).to.throw(/^labels: ".*"; allowed: name=label in lower case/);
  });

  it("refuses a base URL that is none", () => {
    expect(() => start({ baseUrl: "music.ai" })).to.throw('baseUrl: "music.ai"; allowed: an http or https URL');
  });

  it("names what came where a vocal removal lacks a part", async () => {
    const handle = await split("vocal_removal");
    await job({
      status: "SUCCEEDED",
      result: { vocals: "https://cdn.example/v.wav", rest: "https://cdn.example/r.wav" },
    })(fake);
    const failure = await failureOf(labelsOf(handle));
    expect([failure.kind, failure.message]).to.deep.equal([
      "failed",
      "The response has vocals, rest: there is no instrumental (`labels`).",
    ]);
  });

  it("keeps codes for the operator, of refusals and of jobs", async () => {
    const handle = await split("vocal_removal");
    await failed("BAD_INPUT")(fake);
    const ended = await failureOf(labelsOf(handle));
    expect([ended.providerCode, ended.message]).to.deep.equal(["BAD_INPUT", "It went wrong: file is not audio"]);
    await refused(422)(fake);
    expect((await failureOf(split("vocal_removal"))).providerCode).to.equal("SOME_CODE");
  });

  it("finds a lost vocal removal as such, and is not sure of jobs behind many pages", async () => {
    const lost = { id: "lost", status: "STARTED", metadata: { ref: "att_7", operation: "vocal_removal" } };
    fake.on("GET", LIST.path, json([lost]));
    const found = await provider.lookup?.("att_7", never);
    expect(found).to.deep.equal({
      state: "accepted",
      handle: { version: 1, data: { id: "lost", operation: "vocal_removal" } },
      nextPollMs: 5_000,
    });
    expect(fake.calls(LIST)[0]?.query).to.deep.equal({ page: "0", size: "100" });
    expect((await failureOf(Promise.resolve(provider.lookup?.("att_8", never)))).kind).to.equal("unavailable");
    fake.on("GET", LIST.path, json({ jobs: [lost] }));
    expect((await failureOf(Promise.resolve(provider.lookup?.("att_7", never)))).kind).to.equal("unavailable");
  });

  it("makes stem splits only with a workflow for them, and never music", async () => {
    const model = {
      id: "musicai/x",
      name: "X",
      creditCost: 1,
      supportsLyrics: false,
      supportsInstrumental: true,
      duration: null,
    };
    expect((await failureOf(provider.submit(aMusicRequest(model), never))).kind).to.equal("invalid_input");
    expect(definition.checkModel?.(model)).to.equal("cannot be served: Music AI splits tracks and creates none");
    provider = definition.create(
      providerHost({ settings: settingsOf(definition, { apiKey: KEY, baseUrl: `${fake.url}/v1` }) }),
    );
    expect((await failureOf(split("stem_split"))).kind).to.equal("invalid_input");
    const { capabilities } = definition;
    expect(typeof capabilities === "function" && capabilities({})).to.not.have.property("stemSplit");
    expect(fake.requests).to.have.lengthOf(0);
  });
});

async function failureOf(promise: Promise<unknown>): Promise<ProviderFailure> {
  const response = await promise.then(
    (value) => value,
    (error: unknown) => error,
  );
  if (!ProviderFailure.is(response)) throw new Error(`Expected a failure, and got ${JSON.stringify(response)}`);
  return response;
}
