import { expect } from "chai";
import { ProviderFailure } from "../../core/ports/music-provider.js";
import type {
  CallbackRequest,
  Completed,
  MusicProvider,
  ParsedCallback,
  ProviderHandle,
  ProviderHost,
  ProviderModel,
  Snapshot,
} from "../../core/ports/music-provider.js";
import definition from "../../plugins/replicate/index.js";
import { musicProviderContract } from "../contract/music-provider.contract.js";
import {
  aMusicRequest,
  aSource,
  aSplitRequest,
  FakeApi,
  type HostUnderTest,
  json,
  providerHost,
  settingsOf,
} from "../support/provider-kit/index.js";
import {
  accepts,
  CANCEL,
  KEY,
  prediction,
  replicateHarness,
  signed,
  SECRET,
  STATUS,
  SUBMIT,
} from "./replicate-support.js";

musicProviderContract("replicate", replicateHarness);

const never = { signal: new AbortController().signal };

describe("replicate", () => {
  let fake: FakeApi;
  let host: HostUnderTest;
  let provider: MusicProvider;
  beforeEach(async () => {
    fake = await FakeApi.open();
    await accepts(fake);
    start();
  });
  afterEach(() => fake.close());

  function start(settings: ProviderHost["settings"] = {}, models = definition.models): void {
    const given = { ...replicateHarness.settings(fake), ...settings };
    host = providerHost({ settings: settingsOf(definition, given), models });
    provider = definition.create(host);
  }

  const model = (id: string): ProviderModel => {
    const found = definition.models.find((candidate) => candidate.id === `replicate/${id}`);
    if (found === undefined) throw new Error(`there is no ${id}`);
    return found;
  };
  const bodies = (): unknown[] => fake.calls(SUBMIT).map((request) => request.json);

  async function accepted(request = aMusicRequest(model("stable-audio-2.5"))): Promise<ProviderHandle> {
    const outcome = await provider.submit(request, never);
    if (outcome.state !== "accepted") throw new Error("it was not accepted");
    return outcome.handle;
  }

  async function polled(handle: ProviderHandle): Promise<Snapshot> {
    if (provider.poll === undefined) throw new Error("there is no poll");
    return provider.poll(handle, never);
  }

  it("sends a prediction as documented: version, inputs, token, webhook", async () => {
    const request = aMusicRequest(model("minimax-music-1.5"), {
      callbackUrl: "https://fermata.example/cb",
      prompt: "sea",
      lyrics: "la",
    });
    await accepted(request);
    expect(bodies()).to.deep.equal([
      {
        version: "minimax/music-1.5",
        input: { prompt: "sea", lyrics: "la", audio_format: "mp3" },
        webhook: "https://fermata.example/cb",
        webhook_events_filter: ["start", "completed"],
      },
    ]);
    expect(fake.calls(SUBMIT)[0]?.headers)
      .to.include({ authorization: `Bearer ${KEY}` })
      .and.not.have.any.keys("prefer", "cancel-after");
  });

  it("sends each model what it calls its inputs, durations in seconds", async () => {
    await accepted(aMusicRequest(model("stable-audio-2.5"), { prompt: "rain", durationSeconds: 45 }));
    await accepted(aMusicRequest(model("musicgen"), { prompt: "rain", durationSeconds: 12 }));
    expect(bodies()).to.deep.equal([
      { version: "stability-ai/stable-audio-2.5", input: { prompt: "rain", duration: 45 } },
      {
        version: model("musicgen").upstream,
        input: { model_version: "stereo-large", output_format: "mp3", prompt: "rain", duration: 12 },
      },
    ]);
  });

  it("finds the files of a model where its options say", async () => {
    const musicgen = model("musicgen");
    const handle = await accepted(aMusicRequest({ ...musicgen, options: { ...musicgen.options, output: "result.0" } }));
    const result = ["https://replicate.delivery/a.mp3", "https://replicate.delivery/a.png"];
    await prediction({ status: "succeeded", output: { result } })(fake);
    expect(urlsOf((await polled(handle)) as Completed)).to.deep.equal(["https://replicate.delivery/a.mp3"]);
  });

  it("gives its token to its own file hosts only, and says when a file dies", async () => {
    const handle = await accepted();
    const others = ["https://evil.example", "https://evilreplicate.delivery", "http://replicate.delivery"];
    const hosts = ["https://replicate.delivery", "https://pbxt.replicate.delivery", ...others];
    const output = hosts.map((origin) => `${origin}/x/a.mp3`);
    await prediction({ status: "succeeded", output, completed_at: "2026-11-21T10:00:00Z" })(fake);
    const { tracks } = (await polled(handle)) as Completed;
    const sources = tracks.map(
      ({ assets }) => assets[0]?.source as { readonly headers?: object; readonly expiresAt?: number },
    );
    const token = { authorization: `Bearer ${KEY}` };
    expect(sources.map(({ headers }) => headers)).to.deep.equal([token, token, undefined, undefined, undefined]);
    expect(sources[0]?.expiresAt).to.equal(Date.parse("2026-11-21T11:00:00Z"));
  });

  it("keeps the code of a failure for the operator", async () => {
    const handle = await accepted();
    await prediction({ status: "failed", error: "E1001 model ran out of memory" })(fake);
    const failure = await failureOf(polled(handle));
    expect([failure.kind, failure.providerCode, failure.billable]).to.deep.equal(["failed", "E1001", "unknown"]);
  });

  it("waits as the header says before the words do", async () => {
    fake.on(
      "POST",
      SUBMIT.path,
      json({ detail: "Your rate limit resets in ~30s." }, { status: 429, headers: { "retry-after": "4" } }),
    );
    expect((await failureOf(accepted())).retryAfterMs).to.equal(4_000);
  });

  it("sends no webhook to an address without TLS, and a deadline where there is one", async () => {
    start({ cancelAfterSeconds: 90 });
    await accepted(aMusicRequest(model("musicgen"), { callbackUrl: "http://10.0.0.1/cb" }));
    expect(bodies()[0]).to.have.all.keys("version", "input");
    expect(fake.calls(SUBMIT)[0]?.headers).to.include({ "cancel-after": "90s" });
  });

  for (const [what, response, outcome] of [
    ["still runs", json({ id: "p1", status: "processing" }), "requested"],
    ["was stopped before it began", json({ id: "p1", status: "aborted" }), "cancelled"],
    ["is not there", json({ detail: "no" }, { status: 404 }), "too_late"],
    ["cannot be stopped", json({ detail: "no" }, { status: 422 }), "too_late"],
  ] as const) {
    it(`says ${outcome} of work that ${what} when it is cancelled`, async () => {
      const handle = await accepted();
      fake.on("POST", CANCEL.path, response);
      expect(await provider.cancel?.(handle, never)).to.equal(outcome);
    });
  }

  describe("splits", () => {
    const split = (operation: "stem_split" | "vocal_removal"): Promise<ProviderHandle> => {
      const request = aSplitRequest(operation, aSource({ url: "https://fermata.example/song.mp3" }));
      return provider.submit(request, never).then((outcome) => (outcome as { readonly handle: ProviderHandle }).handle);
    };

    it("asks demucs for all stems, or for the vocals and the rest", async () => {
      await split("stem_split");
      await split("vocal_removal");
      const input = { audio: "https://fermata.example/song.mp3", output_format: "mp3" };
      expect(bodies().map((body) => (body as { readonly input: object }).input)).to.deep.equal([
        input,
        { ...input, stem: "vocals" },
      ]);
      expect((bodies()[0] as { readonly version: string }).version).to.match(/^ryan5453\/demucs:[0-9a-f]{64}$/);
    });

    it("asks another fork in its own words", async () => {
      start({ splitModel: "jagilley/demucs", splitVocalsInput: "two_stems", splitInputs: '{"mp3":true}' });
      await split("vocal_removal");
      expect(bodies()).to.deep.equal([
        {
          version: "jagilley/demucs",
          input: { mp3: true, audio: "https://fermata.example/song.mp3", two_stems: "vocals" },
        },
      ]);
    });

    for (const rest of ["no_vocals", "accompaniment", "other", "Instrumental"]) {
      it(`takes the stem ${rest} next to the vocals for the instrumental`, async () => {
        const handle = await split("vocal_removal");
        await prediction({
          status: "succeeded",
          output: { vocals: "https://x.example/v.mp3", [rest]: "https://x.example/r.mp3" },
        })(fake);
        const { stems = [] } = (await polled(handle)) as Completed;
        expect(stems.map(({ label }) => label)).to.deep.equal(["vocals", "instrumental"]);
      });
    }

    it("fails a vocal removal without an instrumental, and one of which nothing came", async () => {
      const handle = await split("vocal_removal");
      await prediction({ status: "succeeded", output: { vocals: "https://x.example/v.mp3" } })(fake);
      const failure = await failureOf(polled(handle));
      expect([failure.kind, failure.message]).to.deep.equal([
        "failed",
        "The response has vocals: there is no instrumental.",
      ]);
      for (const output of [{}, "https://x.example/v.mp3", ["https://x.example/v.mp3"]]) {
        await prediction({ status: "succeeded", output })(fake);
        expect((await failureOf(polled(handle))).kind, JSON.stringify(output)).to.equal("failed");
      }
    });

    it("can be switched off", async () => {
      start({ splits: false });
      const { capabilities } = definition;
      expect(typeof capabilities === "function" && capabilities(host.settings)).to.not.have.any.keys(
        "stemSplit",
        "vocalRemoval",
      );
      expect((await failureOf(split("stem_split"))).kind).to.equal("invalid_input");
      expect(bodies()).to.deep.equal([]);
    });
  });

  describe("webhooks", () => {
    const parse = (
      handle: ProviderHandle,
      sent: { readonly headers: Record<string, string>; readonly body: string },
    ) => {
      const received = { ...sent, body: Buffer.from(sent.body), query: {}, receivedAt: host.clock.now(), handle };
      return provider.parseCallback?.(received, never);
    };
    const body = (handle: ProviderHandle): string =>
      JSON.stringify({ id: handle.data["id"], status: "succeeded", output: "https://replicate.delivery/a.mp3" });

    it("are believed by any one of several signatures; their key is read once", async () => {
      fake.on("GET", "/v1/webhooks/default/secret", json({ key: SECRET }));
      const handle = await accepted();
      const { headers, body: text } = signed(body(handle), host.clock.now());
      const signature = `v1,AAAA v2,unknown ${headers["webhook-signature"]}`;
      for (let time = 0; time < 2; time += 1)
        expect(
          (await parse(handle, { headers: { ...headers, "webhook-signature": signature }, body: text }))?.trust,
        ).to.equal("verified");
      expect(fake.calls({ method: "GET", path: "/v1/webhooks/default/secret" })).to.have.lengthOf(1);
    });

    it("are hints where the key cannot be read, or where they are of other work", async () => {
      fake.on("GET", "/v1/webhooks/default/secret", json({ detail: "no" }, { status: 503 }));
      const handle = await accepted();
      expect(await parse(handle, signed(body(handle), host.clock.now()))).to.deep.equal({ trust: "hint" });
      fake.on("GET", "/v1/webhooks/default/secret", json({ key: SECRET }));
      expect(await parse(handle, signed(body(await accepted()), host.clock.now()))).to.deep.equal({ trust: "hint" });
      expect(await parse(handle, signed("no JSON", host.clock.now()))).to.deep.equal({ trust: "hint" });
    });

    describe("of a submission whose reply was lost", () => {
      const parseLost = (request: CallbackRequest | undefined, parts: object): Promise<ParsedCallback> | undefined => {
        fake.on("GET", "/v1/webhooks/default/secret", json({ key: SECRET }));
        const reported = JSON.stringify({ id: "p-lost", output: null, error: null, ...parts });
        const { headers, body: text } = signed(reported, host.clock.now());
        const handle = { version: 0, data: {} };
        const received = { headers, body: Buffer.from(text), query: {}, receivedAt: host.clock.now(), handle };
        return provider.parseCallback?.({ ...received, ...(request === undefined ? {} : { request }) }, never);
      };
      const handleWith = (operation: string, output = ""): ProviderHandle => ({
        version: 1,
        data: { id: "p-lost", operation, output },
      });
      const music = { operation: "music", modelId: "replicate/musicgen" } as const;

      it("deliver what they name, as the model's options find it", async () => {
        const [first] = definition.models;
        if (first === undefined) throw new Error("There is no model.");
        const model = { ...first, id: "replicate/nested", options: { ...first.options, output: "result.0" } };
        start({}, [model]);
        const output = { result: ["https://replicate.delivery/a.mp3"] };
        const read = await parseLost({ operation: "music", modelId: model.id }, { status: "succeeded", output });
        const { snapshot } = read as ParsedCallback & { readonly trust: "verified" };
        expect(urlsOf(snapshot as Completed)).to.deep.equal(output.result);
        expect((snapshot as Completed).handle).to.deep.equal(handleWith("music", "result.0"));
      });

      it("deliver stems by the operation", async () => {
        const output = { vocals: "https://replicate.delivery/v.mp3", other: "https://replicate.delivery/o.mp3" };
        const read = await parseLost({ operation: "vocal_removal", modelId: null }, { status: "succeeded", output });
        const { stems = [], handle } = (read as { readonly snapshot: Completed }).snapshot;
        expect(stems.map(({ label }) => label)).to.deep.equal(["vocals", "instrumental"]);
        expect(handle).to.deep.equal(handleWith("vocal_removal"));
      });

      it("bring the handle of work that has started, and the end of work that failed", async () => {
        for (const status of ["starting", "processing"])
          expect(await parseLost(music, { status })).to.deep.equal({
            trust: "verified",
            snapshot: { state: "running", nextPollMs: 2_000, handle: handleWith("music") },
          });
        const read = await parseLost(music, { status: "failed", error: "out of memory" });
        const { kind, providerCode } = (read as { readonly snapshot: ProviderFailure }).snapshot;
        expect([kind, providerCode]).to.deep.equal(["failed", "failed"]);
      });

      it("are hints where it is not known what was asked for", async () => {
        for (const request of [undefined, { operation: "music", modelId: "replicate/retired" } as const])
          expect(await parseLost(request, { status: "succeeded", output: "https://x.example/a" })).to.deep.equal({
            trust: "hint",
          });
      });
    });
  });

  it("refuses settings that cannot work, and says what is allowed", () => {
    expect(() => start({ splitModel: "demucs" })).to.throw(/^splitModel: demucs; allowed: /);
    expect(() => start({ baseUrl: "api.replicate.com" })).to.throw(
      'baseUrl: "api.replicate.com"; allowed: an http or https URL',
    );
    expect(() => start({ splitInputs: "[]" })).to.throw(/^splitInputs: "\[\]"; allowed: a JSON object/);
  });

  it("polls the prediction by its id", async () => {
    const handle = await accepted();
    await prediction({ status: "processing" })(fake);
    expect(await polled(handle)).to.deep.equal({ state: "running", nextPollMs: 2_000 });
    expect(fake.calls(STATUS).map(({ path }) => path)).to.deep.equal([`/v1/predictions/${String(handle.data["id"])}`]);
  });
});

function urlsOf({ tracks }: Completed): string[] {
  return tracks.flatMap(({ assets }) => assets.map(({ source }) => (source.kind === "url" ? source.url : source.kind)));
}

async function failureOf(promise: Promise<unknown>): Promise<ProviderFailure> {
  const response = await promise.then(
    (value) => value,
    (error: unknown) => error,
  );
  if (!ProviderFailure.is(response)) throw new Error(`Expected a failure, and got ${JSON.stringify(response)}`);
  return response;
}
