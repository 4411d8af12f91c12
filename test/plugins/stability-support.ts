import type { ProviderFailureKind, ProviderModel } from "../../core/ports/music-provider.js";
import definition from "../../plugins/stability/index.js";
import type {
  ExpectedTracks,
  MusicProviderHarness,
  NamedFailure,
  Script,
} from "../contract/music-provider.contract.js";
import { bytes, type FakeResponse, type FakeApi, json, tinyMp3 } from "../support/provider-kit/index.js";
import { COVER, COVER_AT_2, INPAINT, INPAINT_AT_2, referencesOn } from "./stability-references-support.js";

export const ASYNC = { method: "POST", path: "/v2beta/audio/stable-audio/text-to-audio" } as const;
export const SYNC = { method: "POST", path: "/v2beta/audio/stable-audio-2/text-to-audio" } as const;
export const RESULTS = { method: "GET", path: "/v2beta/audio/results/:id" } as const;
export const API_KEY = "key-of-the-platform";

export function modelOf(id: string): ProviderModel {
  const found = definition.models.find((candidate) => candidate.id === `stability/${id}`);
  if (found === undefined) throw new Error(`there is no model ${id}`);
  return found;
}

/** Sound as it comes, with its headers. */
export const sound = (content: Uint8Array, headers: Record<string, string> = {}): FakeResponse =>
  bytes(content, "audio/mpeg", {
    headers: { seed: "7", "finish-reason": "SUCCESS", "x-request-id": "rq1", ...headers },
  });

/** The envelope of every error. */
export const refusal = (status: number, name: string, headers: Record<string, string> = {}): FakeResponse =>
  json({ id: "e9", name, errors: [`it says ${name}`] }, { status, headers });

type Called = { readonly method: string; readonly path: string };
const responses =
  ({ method, path }: Called, response: FakeResponse): Script =>
  (fake) =>
    void fake.on(method, path, response);
const named = (kind: ProviderFailureKind, script: Script): NamedFailure => ({ kind, script });

let created = 0;
const acceptsAt = (path: string, fake: FakeApi): void =>
  void fake.on("POST", path, () => json({ id: `a1b2-${(created += 1)}` }, { status: 202 }));
export const accepts: Script = (fake) => acceptsAt(ASYNC.path, fake);

function succeeds(fake: FakeApi): ExpectedTracks {
  const mix = tinyMp3("pad");
  fake.on("GET", RESULTS.path, sound(mix));
  return { mixes: [mix], tracks: [{ title: null, bpm: null, mixSeconds: null }] };
}

function completesLater(path: string, fake: FakeApi): ExpectedTracks {
  acceptsAt(path, fake);
  const expected = succeeds(fake);
  fake.once("GET", RESULTS.path, json({}, { status: 202 }));
  return expected;
}

function completesAtOnce(path: string, fake: FakeApi): ExpectedTracks {
  const mix = tinyMp3("sync");
  fake.on("POST", path, sound(mix));
  return { mixes: [mix], tracks: [{ title: null, bpm: null, mixSeconds: null }] };
}

const running: Script = (fake) =>
  void fake.on("GET", RESULTS.path, json({ id: "a1b2", status: "in-progress" }, { status: 202 }));

function refusalsOf(route: Called): MusicProviderHarness["refusals"] {
  const refused = (...parts: Parameters<typeof refusal>): Script => responses(route, refusal(...parts));
  return {
    content: refused(403, "content_moderation"),
    rateLimit: { script: refused(429, "rate_limit_exceeded"), retryAfterMs: 60_000 },
    key: refused(401, "unauthorized"),
    credit: refused(402, "payment_required"),
    unavailable: refused(500, "internal_error"),
    input: refused(400, "bad_request"),
    errorWith200: named(
      "content_rejected",
      responses(route, sound(tinyMp3(), { "finish-reason": "CONTENT_FILTERED" })),
    ),
    others: {
      "music that was filtered, as JSON": named(
        "content_rejected",
        responses(route, json({ finish_reason: "CONTENT_FILTERED", audio: "" })),
      ),
      "a file that is too large": named("invalid_input", refused(413, "payload_too_large")),
      "another language than English": named("invalid_input", refused(422, "invalid_language")),
      "a 403 of another server": named("misconfigured", responses(route, json({}, { status: 403 }))),
      "an address that is not there": named("model_unavailable", refused(404, "not_found")),
      "a 500 of another server": named("outcome_unknown", responses(route, json({}, { status: 500 }))),
      "a gateway that gave up": named("outcome_unknown", responses(route, json({}, { status: 504 }))),
      "a plain 503": named("unavailable", responses(route, json({}, { status: 503 }))),
    },
  };
}

const COMMON = {
  definition,
  settings: (fake: FakeApi) => ({ apiKey: API_KEY, baseUrl: fake.url }),
  idempotency: { notApplicable: "it takes no key" },
  callbacks: { notApplicable: "nothing is reported" },
  lookup: { notApplicable: "nothing lists what was made" },
  cancel: { notApplicable: "nothing can be cancelled there" },
  probe: { notApplicable: "no call without work is documented" },
  stemSplit: { notApplicable: "it splits no tracks" },
  vocalRemoval: { notApplicable: "it splits no tracks" },
} satisfies Partial<MusicProviderHarness>;
const ONE_TRACK = { notApplicable: "a call creates one track" };

/** The form's own `seed`, as a number. */
const optionsOn = (route: Called): MusicProviderHarness["options"] => ({
  sent: (requests) => {
    const call = requests.find(({ method, path }) => method === route.method && path === route.path);
    const seed = call?.fields.find(({ name }) => name === "seed")?.value;
    return { seed: seed === undefined ? undefined : Number(seed) };
  },
});

/** Stable Audio 3: an id, and then the sound. */
export const asyncHarness: MusicProviderHarness = {
  ...COMMON,
  options: optionsOn(ASYNC),
  models: [modelOf("stable-audio-3")],
  generation: {
    submit: ASYNC,
    completes: (fake) => completesLater(ASYNC.path, fake),
    severalTracks: ONE_TRACK,
  },
  work: {
    status: RESULTS,
    accepts,
    running,
    succeeds,
    fails: [400, 413, 422].map((status) => responses(RESULTS, refusal(status, "bad_request"))),
    rejectsContent: responses(RESULTS, refusal(403, "content_moderation")),
    cancelled: { notApplicable: "nothing can be cancelled there" },
    timesOut: { notApplicable: "no such answer is documented" },
    gone: responses(RESULTS, refusal(404, "not_found")),
    expiredLink: { notApplicable: "the sound is the response itself" },
    succeedsEmpty: responses(RESULTS, sound(new Uint8Array())),
    partlyReady: { notApplicable: "work has one result" },
    others: {
      "sound that was filtered": named(
        "content_rejected",
        responses(RESULTS, sound(tinyMp3(), { "finish-reason": "CONTENT_FILTERED" })),
      ),
      "an error of the server": named("unavailable", responses(RESULTS, refusal(500, "internal_error"))),
      "a key that was taken back": named("misconfigured", responses(RESULTS, refusal(401, "unauthorized"))),
      "an account that was emptied": named("out_of_credit", responses(RESULTS, refusal(402, "payment_required"))),
      "questions that come too fast": named("rate_limited", responses(RESULTS, refusal(429, "rate_limit_exceeded"))),
      "a 400 of another server": named("unavailable", responses(RESULTS, json({ message: "no" }, { status: 400 }))),
      "a 404 of another server": named(
        "unavailable",
        responses(RESULTS, json({ message: "no route" }, { status: 404 })),
      ),
    },
  },
  references: referencesOn({ cover: COVER, inpaint: INPAINT }, (path) => (fake) => completesLater(path, fake)),
  refusals: refusalsOf(ASYNC),
};

/** Stable Audio 2 and 2.5: the sound at once. */
export const syncHarness: MusicProviderHarness = {
  ...COMMON,
  options: optionsOn(SYNC),
  models: [modelOf("stable-audio-2.5"), modelOf("stable-audio-2")],
  generation: {
    submit: SYNC,
    completes: (fake) => completesAtOnce(SYNC.path, fake),
    severalTracks: ONE_TRACK,
  },
  // Stable Audio 2.5 keeps no track whole: its strength is tested by itself.
  references: referencesOn(
    { cover: COVER_AT_2, inpaint: INPAINT_AT_2 },
    (path) => (fake) => completesAtOnce(path, fake),
    "stability/stable-audio-2",
  ),
  work: { notApplicable: "the music of these models is the response of the call" },
  refusals: refusalsOf(SYNC),
};
