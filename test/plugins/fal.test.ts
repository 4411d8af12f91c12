import { expect } from "chai";
import { ProviderFailure } from "../../core/ports/music-provider.js";
import type {
  CallbackRequest,
  Completed,
  MusicProvider,
  ParsedCallback,
  ProviderHandle,
  ProviderHost,
  Running,
} from "../../core/ports/music-provider.js";
import definition from "../../plugins/fal/index.js";
import { urlsOf } from "../../plugins/fal/map.js";
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
  ended,
  falHarness,
  jwks,
  KEY,
  KEYS_PATH,
  RESULT,
  SEVERAL,
  signed,
  SPLIT,
  STATUS,
  status,
  SUBMIT,
} from "./fal-support.js";

musicProviderContract("fal", falHarness);

const never = { signal: new AbortController().signal };

describe("fal", () => {
  let fake: FakeApi;
  let host: HostUnderTest;
  let provider: MusicProvider;
  beforeEach(async () => {
    fake = await FakeApi.open();
    await accepts(fake);
    start();
  });
  afterEach(() => fake.close());

  function start(settings: ProviderHost["settings"] = {}): void {
    const models = [SEVERAL, ...definition.models];
    host = providerHost({ settings: settingsOf(definition, { ...falHarness.settings(fake), ...settings }), models });
    provider = definition.create(host);
  }

  async function accepted(request = aMusicRequest(SEVERAL)): Promise<ProviderHandle> {
    const outcome = await provider.submit(request, never);
    if (outcome.state !== "accepted") throw new Error("it was not accepted");
    return outcome.handle;
  }

  const poll = async (handle: ProviderHandle): Promise<unknown> => provider.poll?.(handle, never);

  it("sends a request as documented: key, file life, webhook in the query, inputs as they are", async () => {
    await accepted(
      aMusicRequest(SEVERAL, { callbackUrl: "https://fermata.example/cb?a=1&b=2", prompt: "sea", durationSeconds: 30 }),
    );
    const [request] = fake.calls(SUBMIT);
    expect(request?.json).to.deep.equal({ num_samples: 2, prompt: "sea", duration: 30 });
    expect(request?.query).to.deep.equal({ fal_webhook: "https://fermata.example/cb?a=1&b=2" });
    expect(request?.headers)
      .to.include({
        authorization: `Key ${KEY}`,
        "x-fal-object-lifecycle-preference": '{"expiration_duration_seconds":86400}',
      })
      .and.not.have.property("x-fal-request-timeout");
  });

  it("limits the wait for a start and the life of files as settings say", async () => {
    start({ startTimeoutSeconds: 120, keepFilesSeconds: 7_200 });
    await accepted();
    expect(fake.calls(SUBMIT)[0]?.headers).to.include({
      "x-fal-request-timeout": "120",
      "x-fal-object-lifecycle-preference": '{"expiration_duration_seconds":7200}',
    });
  });

  it("passes on the place in the queue", async () => {
    const handle = await accepted();
    await status({ status: "IN_QUEUE", queue_position: 3 })(fake);
    const queued = { state: "running", nextPollMs: 2_000, progress: { queuePosition: 3 } };
    expect(await poll(handle)).to.deep.equal(queued);
  });

  it("asks at the URLs of the response, which drop a part of the endpoint's id", async () => {
    const handle = await accepted();
    await status({ status: "IN_PROGRESS" })(fake);
    expect(await poll(handle)).to.deep.equal({ state: "running", nextPollMs: 2_000 });
    const id = String(handle.data["requestId"]);
    expect(fake.calls(STATUS).map(({ path }) => path)).to.deep.equal([`/sonilo/v1.1/requests/${id}/status`]);
    expect(fake.calls(RESULT)).to.have.lengthOf(0);
  });

  it("does not know the outcome of a submission without its URLs", async () => {
    fake.on("POST", SUBMIT.path, json({ status: "IN_QUEUE", request_id: "rq" }));
    expect((await failureOf(accepted())).kind).to.equal("outcome_unknown");
  });

  it("carries its key to no other host that a response names", async () => {
    const url = "https://evil.example/rq";
    fake.on("POST", SUBMIT.path, json({ request_id: "rq", status_url: url, response_url: url, cancel_url: url }));
    const handle = await accepted();
    expect((await failureOf(poll(handle))).kind).to.equal("misconfigured");
    expect(host.fetched.filter((asked) => asked.startsWith("https://evil.example"))).to.deep.equal([]);
  });

  for (const [what, response, failure] of [
    [
      "a rejection, which may be billed",
      json(
        { detail: [{ type: "content_policy_violation", msg: "no" }] },
        { status: 422, headers: { "x-fal-request-id": "g1" } },
      ),
      { kind: "content_rejected", billable: "unknown", providerCode: "content_policy_violation", requestId: "g1" },
    ],
    [
      "a service behind the model, which may be billed",
      json({ detail: [{ type: "downstream_service_error", msg: "no" }] }, { status: 400 }),
      { kind: "failed", billable: "unknown", providerCode: "downstream_service_error", requestId: null },
    ],
    [
      "a generation that took too long, which is not",
      json({ detail: [{ type: "generation_timeout", msg: "late" }] }, { status: 504 }),
      { kind: "timeout", billable: "no", providerCode: "generation_timeout", requestId: null },
    ],
    [
      "an error of the platform, which is not",
      json({ detail: "gone", error_type: "runner_disconnected" }, { status: 503 }),
      { kind: "failed", billable: "no", providerCode: "runner_disconnected", requestId: null },
    ],
    [
      "an error that has its type in a header",
      json({ detail: "late" }, { status: 504, headers: { "x-fal-error-type": "request_timeout" } }),
      { kind: "timeout", billable: "no", providerCode: "request_timeout", requestId: null },
    ],
  ] as const) {
    it(`gives the operator all that a result says of ${what}`, async () => {
      const handle = await accepted();
      await ended(response)(fake);
      const { kind, billable, providerCode, requestId } = await failureOf(poll(handle));
      expect({ kind, billable, providerCode, requestId }).to.deep.equal(failure);
    });
  }

  for (const [what, result, outcome] of [
    ["was still queued", json({ status: "OK" }), "cancelled"],
    ["runs", json({ status: "CANCELLATION_REQUESTED" }, { status: 202 }), "requested"],
    ["is done, said one way", json({ status: "ALREADY_COMPLETED" }, { status: 400 }), "too_late"],
    ["is done, said the other way", json({ status: "ALREADY_COMPLETED" }, { status: 409 }), "too_late"],
    ["is not there", json({ status: "NOT_FOUND" }, { status: 404 }), "too_late"],
  ] as const) {
    it(`says ${outcome} of work that ${what} when it is cancelled`, async () => {
      const handle = await accepted();
      fake.on("PUT", CANCEL.path, result);
      expect(await provider.cancel?.(handle, never)).to.equal(outcome);
    });
  }

  it("asks the separator for its stems, in its own words, unless the settings turn that off", async () => {
    const split = aSplitRequest("stem_split", aSource({ url: "https://fermata.example/song.mp3" }));
    await provider.submit(split, never);
    expect(fake.calls(SPLIT)[0]?.json).to.deep.equal({
      model: "htdemucs_6s",
      output_format: "mp3",
      audio_url: "https://fermata.example/song.mp3",
    });
    start({ splits: false });
    expect((await failureOf(provider.submit(split, never))).kind).to.equal("invalid_input");
    expect(fake.calls(SPLIT)).to.have.lengthOf(1);
    for (const name of ["baseUrl", "jwksUrl"])
      expect(() => start({ [name]: "fal" })).to.throw(`${name}: "fal"; allowed: an http or https URL`);
    expect(() => start({ splitModel: "demucs" })).to.throw(/^splitModel: demucs; allowed: an endpoint id/);
    expect(() => start({ splitInputs: "{" })).to.throw(/^splitInputs: "\{"; allowed: a JSON object/);
  });

  describe("webhooks", () => {
    const parse = async (handle: ProviderHandle, body: object) => {
      const sent = signed(JSON.stringify({ request_id: handle.data["requestId"], ...body }), host.clock.now());
      const received = {
        headers: sent.headers,
        body: Buffer.from(sent.body),
        query: {},
        receivedAt: host.clock.now(),
        handle,
      };
      return provider.parseCallback?.(received, never);
    };
    const done = { status: "OK", payload: { audios: [{ url: "https://v3.fal.media/a.mp3" }] } };

    it("are believed by any key of the document, which is read once, without our own key", async () => {
      fake.on("GET", KEYS_PATH, json(jwks));
      const handle = await accepted();
      for (let time = 0; time < 2; time += 1) expect((await parse(handle, done))?.trust).to.equal("verified");
      const calls = fake.calls({ method: "GET", path: KEYS_PATH });
      expect(calls.map(({ headers }) => headers["authorization"])).to.deep.equal([undefined]);
    });

    it("are forged where no key fits, and hints where there is none", async () => {
      const handle = await accepted();
      fake.on("GET", KEYS_PATH, json({}, { status: 503 }));
      expect(await parse(handle, done)).to.deep.equal({ trust: "hint" });
      fake.on("GET", KEYS_PATH, json({ keys: [{ kty: "OKP", crv: "Ed25519", x: "short" }] }));
      expect(await parse(handle, done)).to.deep.equal({ trust: "hint" });
      fake.on("GET", KEYS_PATH, json({ keys: [jwks.keys[1]] }));
      expect((await parse(handle, done))?.trust).to.equal("forged");
    });

    for (const [what, body] of [
      ["of other work", { ...done, request_id: "rq-other" }],
      ["without a payload", { status: "OK", payload: null }],
      ["of an error that only the result explains", { status: "ERROR", error: "504", payload: { detail: "late" } }],
    ] as const) {
      it(`are hints ${what}`, async () => {
        fake.on("GET", KEYS_PATH, json(jwks));
        expect(await parse(await accepted(), body)).to.deep.equal({ trust: "hint" });
      });
    }

    describe("of a submission whose reply was lost", () => {
      const parseLost = (request: CallbackRequest | undefined, body: object): Promise<ParsedCallback> | undefined => {
        fake.on("GET", KEYS_PATH, json(jwks));
        const sent = signed(JSON.stringify({ request_id: "rq-lost", ...body }), host.clock.now());
        const handle = { version: 0, data: {} };
        const sentParts = { headers: sent.headers, body: Buffer.from(sent.body), query: {} };
        const received = { ...sentParts, receivedAt: host.clock.now(), handle };
        return provider.parseCallback?.({ ...received, ...(request === undefined ? {} : { request }) }, never);
      };
      const music = { operation: "music", modelId: SEVERAL.id } as const;

      it("deliver what they name, and bring the very handle that the reply would have left", async () => {
        const { data } = await accepted();
        const read = await parseLost(music, done);
        const { state, handle } = (read as { readonly snapshot: Completed }).snapshot;
        const expected = JSON.stringify(data).replaceAll(String(data["requestId"]), "rq-lost");
        expect([state, handle]).to.deep.equal(["completed", { version: 1, data: JSON.parse(expected) as object }]);
      });

      it("bring the handle where only the queue has the rest, by the separator's endpoint for a split", async () => {
        const late = { status: "ERROR", error: "504", payload: { detail: "late" } };
        for (const body of [late, { status: "OK", payload: null }]) {
          const read = await parseLost({ operation: "stem_split", modelId: null }, body);
          const { state, handle } = (read as { readonly snapshot: Running }).snapshot;
          expect([state, handle?.data["statusUrl"], handle?.data["operation"]]).to.deep.equal([
            "running",
            `${fake.url}/fal-ai/demucs/requests/rq-lost/status`,
            "stem_split",
          ]);
        }
      });

      it("keep the namespace of an endpoint", () => {
        expect(urlsOf("https://queue.fal.run", "workflows/acme/songs/v2", "r 1").statusUrl).to.equal(
          "https://queue.fal.run/workflows/acme/songs/requests/r%201/status",
        );
      });

      it("are hints where it is not known what was asked for", async () => {
        const other = { operation: "vocal_removal", modelId: null } as const;
        for (const request of [undefined, { ...music, modelId: "fal/retired" }, other])
          expect(await parseLost(request, done)).to.deep.equal({ trust: "hint" });
        expect(await parseLost(music, { ...done, request_id: null })).to.deep.equal({ trust: "hint" });
      });
    });
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
