import { generateKeyPairSync } from "node:crypto";
import type { ProviderFailureKind, ProviderModel } from "../../core/ports/music-provider.js";
import definition from "../../plugins/lyria/index.js";
import type {
  ExpectedTracks,
  MusicProviderHarness,
  NamedFailure,
  Script,
} from "../contract/music-provider.contract.js";
import {
  type FakeResponse,
  type FakeApi,
  type FakeRequest,
  json,
  tinyMp3,
  tinyWav,
} from "../support/provider-kit/index.js";

export const GENERATE = { method: "POST", path: "/v1beta/models/lyria-3.5:generateContent" } as const;
export const PREDICT = {
  method: "POST",
  path: "/v1/projects/band-practice/locations/us-central1/publishers/google/models/lyria-002:predict",
} as const;
export const TOKEN = { method: "POST", path: "/token" } as const;

export const API_KEY = "key-of-the-gemini-api";
export const ACCESS_TOKEN = "ya29.token-of-an-hour";
const PAIR = generateKeyPairSync("rsa", { modulusLength: 2048 });
export const PUBLIC_KEY = PAIR.publicKey;
export const PRIVATE_KEY = PAIR.privateKey.export({ type: "pkcs8", format: "pem" }).toString();

/** A service account's key, as the console hands it out. */
export function serviceAccount(fake: FakeApi, parts: object = {}): string {
  return JSON.stringify({
    type: "service_account",
    project_id: "band-practice",
    private_key_id: "kid-1",
    private_key: PRIVATE_KEY,
    client_email: "fermata@band-practice.iam.gserviceaccount.com",
    token_uri: `${fake.url}/token`,
    ...parts,
  });
}

export const vertexSettings = (fake: FakeApi): Record<string, string> => ({
  serviceAccount: serviceAccount(fake),
  vertexUrl: `${fake.url}/v1`,
});
export const geminiSettings = (fake: FakeApi, geminiApi = "generateContent"): Record<string, string> => ({
  apiKey: API_KEY,
  geminiUrl: `${fake.url}/v1beta`,
  geminiApi,
});

export const base64 = (content: Uint8Array): string => Buffer.from(content).toString("base64");

/** A response of `generateContent`, as documented: words, and one sound. */
export function song(content: Uint8Array): FakeResponse {
  const parts = [
    { text: "[Verse] Neon on the water" },
    { inlineData: { mimeType: "audio/mpeg", data: base64(content) } },
  ];
  return json({ candidates: [{ finishReason: "STOP", content: { parts } }], modelVersion: "lyria-3.5" });
}

/** Google's error model. */
export const refusal = (
  code: number,
  status: string,
  message = "no",
  { headers, details = [] }: { headers?: Record<string, string>; details?: readonly object[] } = {},
): FakeResponse =>
  json({ error: { code, message, status, details } }, { status: code, ...(headers === undefined ? {} : { headers }) });

/** A quota as Google refuses it: what was too much, and when to come again. */
export const RETRY_IN_20S = [
  { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [{ quotaId: "GenerateRequestsPerMinute" }] },
  { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "20.5s" },
];
const DEPLETED = "Your prepayment credits are depleted. Please go to AI Studio to manage your project and billing.";

export const grants: Script = (fake) =>
  void fake.on("POST", TOKEN.path, json({ access_token: ACCESS_TOKEN, expires_in: 3_599, token_type: "Bearer" }));

export type Called = { readonly method: string; readonly path: string };
export const responses =
  ({ method, path }: Called, response: FakeResponse): Script =>
  async (fake) => {
    await grants(fake);
    fake.on(method, path, response);
  };
export const named = (kind: ProviderFailureKind, script: Script): NamedFailure => ({ kind, script });

/** What all calls answer in the same words. */
export function common(
  route: Called,
): Pick<
  Exclude<MusicProviderHarness["refusals"], { readonly notApplicable: string }>,
  "content" | "rateLimit" | "key" | "credit" | "unavailable" | "input"
> {
  const refused = (...parts: Parameters<typeof refusal>): Script => responses(route, refusal(...parts));
  return {
    content: refused(400, "INVALID_ARGUMENT", "The generated music was blocked by recitation checks."),
    rateLimit: { script: refused(429, "RESOURCE_EXHAUSTED", "quota", { details: RETRY_IN_20S }), retryAfterMs: 20_500 },
    key: refused(401, "UNAUTHENTICATED"),
    credit: [refused(402, "RESOURCE_EXHAUSTED", "Payment required."), refused(429, "RESOURCE_EXHAUSTED", DEPLETED)],
    unavailable: refused(503, "UNAVAILABLE"),
    input: refused(400, "INVALID_ARGUMENT", "Request contains an invalid argument."),
  };
}

export function others(route: Called): Record<string, NamedFailure> {
  const refused = (...parts: Parameters<typeof refusal>): Script => responses(route, refusal(...parts));
  return {
    "no permission: billing, or the API is off": named("misconfigured", refused(403, "PERMISSION_DENIED")),
    "a model that is not there": named("model_unavailable", refused(404, "NOT_FOUND")),
    "an internal error": named("outcome_unknown", refused(500, "INTERNAL")),
    "a deadline that passed": named("outcome_unknown", refused(504, "DEADLINE_EXCEEDED")),
    "a 500 of another server": named("outcome_unknown", responses(route, json({}, { status: 500 }))),
    "a region, a free tier, or billing that is off": named(
      "misconfigured",
      refused(400, "FAILED_PRECONDITION", "User location is not supported for the API use."),
    ),
    "a call that was cancelled on the way": named("outcome_unknown", refused(499, "CANCELLED")),
    "a 499 of another server": named("outcome_unknown", responses(route, json({}, { status: 499 }))),
    "a status that is not explained": named("invalid_input", refused(400, "OUT_OF_RANGE")),
    "a 400 about content, without a status": named(
      "content_rejected",
      responses(route, json({ error: { message: "Safety" } }, { status: 400 })),
    ),
  };
}

const candidate = (parts: object): Script => responses(GENERATE, json({ candidates: [parts] }));
const filtered = ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"].map(
  (finishReason) =>
    [`a song that ended with ${finishReason}`, named("content_rejected", candidate({ finishReason }))] as const,
);
const unmade = ["STOP", "LANGUAGE", "OTHER", "MAX_TOKENS"].map(
  (finishReason) =>
    [
      `a song without sound that ended with ${finishReason}`,
      named("failed", candidate({ finishReason, content: { parts: [{ text: "la" }] } })),
    ] as const,
);

export const SAME = {
  definition,
  work: { notApplicable: "the music is the response of the call" },
  idempotency: { notApplicable: "it takes no key" },
  callbacks: { notApplicable: "nothing is reported" },
  lookup: { notApplicable: "nothing lists what was made" },
  cancel: { notApplicable: "there is nothing between call and answer" },
  probe: { notApplicable: "no call without work is documented" },
  stemSplit: { notApplicable: "it splits no tracks" },
  vocalRemoval: { notApplicable: "it splits no tracks" },
} satisfies Partial<MusicProviderHarness>;

export const behind = (api: string): ProviderModel[] =>
  definition.models.filter(({ options }) => options?.["api"] === api);

export const geminiHarness: MusicProviderHarness = {
  ...SAME,
  settings: (fake) => geminiSettings(fake),
  models: behind("gemini"),
  generation: {
    submit: GENERATE,
    completes: (fake) => {
      const mix = tinyMp3("neon");
      fake.on("POST", GENERATE.path, song(mix));
      return { mixes: [mix], tracks: [{ title: null, bpm: null, mixSeconds: null }] };
    },
    severalTracks: { notApplicable: "a call makes one song" },
  },
  refusals: {
    ...common(GENERATE),
    errorWith200: named(
      "content_rejected",
      responses(GENERATE, json({ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } })),
    ),
    others: {
      ...others(GENERATE),
      ...Object.fromEntries([...filtered, ...unmade]),
      "a key that is not valid, said with 400": named(
        "misconfigured",
        responses(GENERATE, refusal(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.")),
      ),
    },
  },
};

function clips(fake: FakeApi, pitches: readonly number[], member = "bytesBase64Encoded"): ExpectedTracks {
  const mixes = pitches.map((pitch) => tinyWav(pitch));
  void grants(fake);
  const predictions = mixes.map((mix) => ({ [member]: base64(mix), mimeType: "audio/wav" }));
  fake.on("POST", PREDICT.path, json({ predictions, modelDisplayName: "Lyria 2" }));
  return { mixes, tracks: pitches.map(() => ({ title: null, bpm: null, mixSeconds: null })) };
}

/** `seed` and `negative_prompt` of the instance of a predict call. */
function sentOptions(requests: readonly FakeRequest[]): { readonly [name: string]: unknown } {
  const call = requests.find(({ path }) => path === PREDICT.path);
  const { instances } = call?.json as { readonly instances: readonly [Record<string, unknown>] };
  const { prompt: _, ...options } = instances[0];
  return options;
}

const token =
  (response: FakeResponse): Script =>
  (fake) =>
    void fake.on("POST", TOKEN.path, response);

export const vertexHarness: MusicProviderHarness = {
  ...SAME,
  settings: vertexSettings,
  models: behind("vertex"),
  options: { sent: (requests) => sentOptions(requests) },
  generation: {
    submit: PREDICT,
    completes: (fake) => clips(fake, [440]),
    severalTracks: (fake) => clips(fake, [440, 220, 330], "audioContent"),
  },
  refusals: {
    ...common(PREDICT),
    errorWith200: named("content_rejected", responses(PREDICT, json({ predictions: [] }))),
    others: {
      ...others(PREDICT),
      "predictions without music": named(
        "failed",
        responses(PREDICT, json({ predictions: [{ mimeType: "audio/wav" }, null] })),
      ),
      "a service account that is refused": named(
        "misconfigured",
        token(json({ error: "invalid_grant", error_description: "Invalid JWT Signature." }, { status: 400 })),
      ),
      "a token call that fails: nothing was made": named("unavailable", token(json({}, { status: 500 }))),
      "a token call that is too much": named("rate_limited", token(json({}, { status: 429 }))),
      "a token call that answers none": named("unavailable", token(json({ token_type: "Bearer" }))),
    },
  },
};
