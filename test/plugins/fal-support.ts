import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { ProviderModel } from "../../core/ports/music-provider.js";
import type { ExpectedTracks, MusicProviderHarness, Script } from "../contract/music-provider.contract.js";
import { type FakeApi, json, tinyMp3 } from "../support/provider-kit/index.js";
import definition from "../../plugins/fal/index.js";
import { asObject } from "../../plugins/sdk/index.js";
import { falReferences } from "./fal-references-support.js";

export const KEY = "fal-key-id:fal-key-secret";
export const BILLING = { method: "GET", path: "/v1/account/billing" } as const;
export const KEYS_PATH = "/.well-known/jwks.json";
/** The endpoint's path is longer than that of its requests. */
export const SUBMIT = { method: "POST", path: "/sonilo/v1.1/text-to-music" } as const;
export const SPLIT = { method: "POST", path: "/fal-ai/demucs" } as const;
const REQUESTS = "/:owner/:alias/requests/:id";
export const STATUS = { method: "GET", path: `${REQUESTS}/status` } as const;
export const RESULT = { method: "GET", path: REQUESTS } as const;
export const CANCEL = { method: "PUT", path: `${REQUESTS}/cancel` } as const;

/** Several tracks of one request. */
export const SEVERAL: ProviderModel = {
  id: "fal/sonilo-twice",
  name: "Sonilo, twice",
  creditCost: 30,
  supportsLyrics: false,
  supportsInstrumental: false,
  duration: { minSeconds: 1, maxSeconds: 600, defaultSeconds: 90 },
  upstream: "sonilo/v1.1/text-to-music",
  options: { prompt: "prompt", duration: "duration", fixed: { num_samples: 2 }, output: "audios" },
};

const signer = generateKeyPairSync("ed25519");
const other = generateKeyPairSync("ed25519");

/** The JWKS document, with keys of others in it. */
export const jwks = {
  keys: [{ kty: "RSA", n: "AQAB", e: "AQAB" }, publicJwk(other.publicKey), publicJwk(signer.publicKey)],
};

function publicJwk(key: KeyObject): object {
  return key.export({ format: "jwk" });
}

/** As 403 of an empty account has it. */
const EMPTY = "User is locked. Reason: Exhausted balance. Top up your balance at fal.ai/dashboard/billing.";

let created = 0;

export const accepts: Script = (fake) => {
  for (const { path } of [SUBMIT, SPLIT]) acceptsAt(fake, path);
};

function acceptsAt(fake: FakeApi, path: string): void {
  fake.on("POST", path, () => {
    const id = `rq${(created += 1)}`;
    const base = `${fake.url}${path.split("/").slice(0, 3).join("/")}/requests/${id}`;
    const urls = { response_url: base, status_url: `${base}/status`, cancel_url: `${base}/cancel` };
    return json({ status: "IN_QUEUE", request_id: id, gateway_request_id: id, queue_position: 3, ...urls });
  });
}

/** 202 until it is completed. */
export const status = (body: { readonly status: string; readonly [member: string]: unknown }): Script => {
  const code = body.status === "COMPLETED" ? 200 : 202;
  return (fake) =>
    void fake.on("GET", STATUS.path, ({ params }) => json({ request_id: params["id"], ...body }, { status: code }));
};

/** Completed, and the response that its result gives. */
export const ended =
  (result: Parameters<FakeApi["on"]>[2], body: object = {}): Script =>
  async (fake) => {
    await status({ status: "COMPLETED", metrics: { inference_time: 71.4 }, ...body })(fake);
    fake.on("GET", RESULT.path, result);
  };

const modelError = (code: number, type: string, headers: Record<string, string> = {}): ReturnType<typeof json> =>
  json({ detail: [{ loc: ["body", "prompt"], msg: "no", type }] }, { status: code, headers });

const file = (fake: FakeApi, content: Uint8Array): object => ({
  url: fake.file(content),
  content_type: "audio/mpeg",
  file_name: "out.mp3",
  file_size: content.length,
});

async function succeeds(fake: FakeApi, marks: readonly string[] = ["one"]): Promise<ExpectedTracks> {
  const mixes = marks.map((mark) => tinyMp3(mark));
  const audios = mixes.map((mix) => file(fake, mix));
  await ended(json({ audio: audios[0], audios }))(fake);
  return { mixes, tracks: marks.map(() => ({ title: null, mixSeconds: null })) };
}

const completes =
  (marks: readonly string[]): Script<ExpectedTracks> =>
  async (fake) => {
    await accepts(fake);
    fake.once("GET", STATUS.path, json({ status: "IN_PROGRESS", logs: [] }, { status: 202 }));
    return succeeds(fake, marks);
  };

const refused =
  (response: Parameters<FakeApi["on"]>[2]): Script =>
  (fake) =>
    void fake.on("POST", SUBMIT.path, response);

const platform = (code: number, type: string): ReturnType<typeof json> =>
  json({ detail: "It went wrong", error_type: type }, { status: code, headers: { "x-fal-error-type": type } });

export const falHarness: MusicProviderHarness = {
  definition,
  models: [SEVERAL, ...definition.models],
  settings: (fake) => ({
    apiKey: KEY,
    baseUrl: fake.url,
    jwksUrl: fake.url + KEYS_PATH,
    platformUrl: `${fake.url}/v1`,
  }),
  options: {
    completes: (fake, { upstream = "" }) => {
      acceptsAt(fake, `/${upstream}`);
    },
    sent: (requests, { upstream = "" }) => {
      const { seed, negative_prompt } = asObject(requests.find(({ path }) => path === `/${upstream}`)?.json);
      return { seed, negative_prompt };
    },
  },
  references: falReferences({ acceptsAt, succeeds }),
  generation: { submit: SUBMIT, completes: completes(["one"]), severalTracks: completes(["one", "two"]) },
  work: {
    status: STATUS,
    accepts,
    running: status({ status: "IN_QUEUE", queue_position: 0 }),
    succeeds: (fake) => succeeds(fake),
    fails: [
      status({ status: "COMPLETED", error: "Runner disconnected", error_type: "runner_disconnected" }),
      ended(platform(503, "runner_connection_refused")),
      ended(modelError(500, "internal_server_error")),
      ended(json({}), { error: "Something else", error_type: "something_else" }),
      ended(json({ detail: "Internal Server Error" }, { status: 500 }), { error: "Internal Server Error" }),
    ],
    rejectsContent: ended(modelError(422, "content_policy_violation"), { error: "Unprocessable" }),
    cancelled: status({ status: "COMPLETED", error: "Request was cancelled", error_type: "request_cancelled" }),
    timesOut: status({ status: "COMPLETED", error: "Request timed out", error_type: "request_timeout" }),
    gone: (fake) => void fake.on("GET", STATUS.path, json({ detail: "Not found" }, { status: 404 })),
    expiredLink: ended(json({ detail: "Not found" }, { status: 404 })),
    succeedsEmpty: ended(json({ audio: null, audios: [] })),
    partlyReady: { notApplicable: "a result is there whole, or not at all" },
    others: {
      "a timeout that stands in the result": { kind: "timeout", script: ended(platform(504, "startup_timeout")) },
      "a generation that took too long": { kind: "timeout", script: ended(modelError(504, "generation_timeout")) },
      "a generation that took too long, by its status": {
        kind: "timeout",
        script: status({ status: "COMPLETED", error: "Generation timed out", error_type: "generation_timeout" }),
      },
      "a service behind the model": {
        kind: "failed",
        script: ended(modelError(400, "downstream_service_error", { "x-fal-retryable": "true" })),
      },
      "a client within the platform that hung up": {
        kind: "failed",
        script: ended(platform(499, "client_disconnected"), { error: "Gone", error_type: "client_disconnected" }),
      },
      "a model that made nothing": { kind: "failed", script: ended(modelError(422, "no_media_generated")) },
      "an error that may pass, so no fault of the request": {
        kind: "failed",
        script: ended(modelError(422, "value_error", { "x-fal-retryable": "true" })),
      },
      "an account that was locked meanwhile": {
        kind: "out_of_credit",
        script: ended(json({ detail: EMPTY }, { status: 403 })),
      },
      "inputs that the model does not take": { kind: "invalid_input", script: ended(modelError(422, "value_error")) },
      "a file without a URL": { kind: "failed", script: ended(json({ audios: [{ file_name: "out.mp3" }] })) },
      "a file with a URL that is none": { kind: "failed", script: ended(json({ audios: [{ url: "/out.mp3" }] })) },
      "an unknown status": { kind: "unavailable", script: status({ status: "PONDERING" }) },
      "a gateway's error in place of the result": {
        kind: "unavailable",
        script: ended({ status: 500, body: "<html>" }),
      },
      "plain words of status 500 in place of the result": {
        kind: "unavailable",
        script: ended(json({ detail: "Internal Server Error" }, { status: 500 })),
      },
      "plain words of status 400 in place of the result": {
        kind: "unavailable",
        script: ended(json({ detail: "Bad request" }, { status: 400 })),
      },
      "a gateway's page in place of the result of failed work": {
        kind: "unavailable",
        script: ended({ status: 404, body: "<html>" }, { error: "Unprocessable" }),
      },
      "a result that is no JSON": { kind: "unavailable", script: ended({ status: 200, body: "<html>" }) },
    },
  },
  refusals: {
    content: refused(modelError(422, "content_policy_violation")),
    rateLimit: {
      script: refused(json({ detail: "Too many" }, { status: 429, headers: { "retry-after": "9" } })),
      retryAfterMs: 9_000,
    },
    key: refused(json({ detail: "Unauthorized" }, { status: 401 })),
    credit: [
      refused(json({ detail: EMPTY }, { status: 403 })),
      refused(json({ detail: "User is locked. Reason: TOP_UP." }, { status: 403 })),
      refused(json({ detail: "Payment required" }, { status: 402 })),
    ],
    unavailable: refused(platform(503, "runner_scheduling_failure")),
    input: refused(modelError(422, "missing")),
    errorWith200: { notApplicable: "a submission's errors have their status; a failed request's stand in its own" },
    others: {
      "a service behind the model, which may be back": {
        kind: "unavailable",
        script: refused(modelError(400, "downstream_service_error", { "x-fal-retryable": "true" })),
      },
      "a service behind the model, which will not be": {
        kind: "failed",
        script: refused(modelError(400, "downstream_service_error", { "x-fal-retryable": "false" })),
      },
      "an error that the older header calls passing": {
        kind: "unavailable",
        script: refused(modelError(400, "bad_request", { "x-fal-needs-retry": "1" })),
      },
      "overload that the header says will not pass": {
        kind: "failed",
        script: refused(modelError(503, "internal_server_error", { "x-fal-retryable": "false" })),
      },
      "a fault that may have made the request, whatever the header says": {
        kind: "outcome_unknown",
        script: refused(modelError(500, "internal_server_error", { "x-fal-retryable": "true" })),
      },
      "a client that hung up, which is this one": {
        kind: "outcome_unknown",
        script: refused(platform(499, "client_disconnected")),
      },
      "a key without the right": {
        kind: "misconfigured",
        script: refused(json({ detail: "Forbidden" }, { status: 403 })),
      },
      "an endpoint that is not there": {
        kind: "model_unavailable",
        script: refused(json({ detail: "Not found" }, { status: 404 })),
      },
      "a timeout that may have made the request": {
        kind: "outcome_unknown",
        script: refused(platform(504, "request_timeout")),
      },
    },
  },
  idempotency: { notApplicable: "it takes no key" },
  callbacks: {
    prepare: (fake) => void fake.on("GET", KEYS_PATH, json(jwks)),
    stages: ["succeeded", "failed"],
    send: (stage, { handle, at }) => {
      const payload =
        stage === "succeeded"
          ? { audios: [{ url: "https://v3.fal.media/files/x/out.mp3", content_type: "audio/mpeg" }] }
          : { detail: [{ loc: ["body"], msg: "blocked", type: "content_policy_violation" }] };
      return signed(
        JSON.stringify({
          request_id: handle.data["requestId"],
          status: stage === "succeeded" ? "OK" : "ERROR",
          payload,
        }),
        at,
      );
    },
    signature: { header: "x-fal-webhook-signature", coversBody: true, toleranceMs: 300_000 },
  },
  lookup: { notApplicable: "requests cannot be searched" },
  cancel: {
    route: CANCEL,
    cancels: (fake) => void fake.on("PUT", CANCEL.path, json({ status: "CANCELLATION_REQUESTED" }, { status: 202 })),
    tooLate: (fake) => void fake.on("PUT", CANCEL.path, json({ status: "ALREADY_COMPLETED" }, { status: 400 })),
  },
  probe: {
    route: BILLING,
    responses: (fake) => {
      const credits = { current_balance: 24.5, currency: "USD" };
      fake.on(BILLING.method, BILLING.path, json({ username: "acme", credits }));
      return { amount: 24.5, unit: "USD" };
    },
    refusesKey: (fake) => void fake.on(BILLING.method, BILLING.path, json({ detail: "Unauthorized" }, { status: 401 })),
  },
  stemSplit: {
    submit: SPLIT,
    completes: async (fake) => {
      await accepts(fake);
      const stems = { vocals: tinyMp3("v"), drums: tinyMp3("d"), guitar: tinyMp3("g") };
      const files = Object.entries(stems).map(([name, stem]) => [name, file(fake, stem)] as const);
      await ended(json({ ...Object.fromEntries(files), piano: null, model: "htdemucs_6s" }))(fake);
      return { stems };
    },
    receivedSource: (requests, { url }) =>
      requests.some((request) => ((request.json ?? {}) as { readonly audio_url?: string }).audio_url === url),
  },
  vocalRemoval: { notApplicable: "its separator answers no instrumental" },
};

/** A webhook as fal signs it at that time. */
export function signed(body: string, at: number): { readonly headers: Record<string, string>; readonly body: string } {
  const sentAt = String(Math.floor(at / 1_000));
  const message = ["rq-1", "user-1", sentAt, createHash("sha256").update(body).digest("hex")].join("\n");
  return {
    headers: {
      "x-fal-webhook-request-id": "rq-1",
      "x-fal-webhook-user-id": "user-1",
      "x-fal-webhook-timestamp": sentAt,
      "x-fal-webhook-signature": sign(null, Buffer.from(message), signer.privateKey).toString("hex"),
    },
    body,
  };
}
