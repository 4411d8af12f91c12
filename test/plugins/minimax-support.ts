import type { ProviderFailureKind } from "../../core/ports/music-provider.js";
import definition from "../../plugins/minimax/index.js";
import type {
  ExpectedTracks,
  MusicProviderHarness,
  NamedFailure,
  Script,
} from "../contract/music-provider.contract.js";
import { type FakeApi, json, tinyMp3 } from "../support/provider-kit/index.js";

export const GENERATE = { method: "POST", path: "/v1/music_generation" } as const;
export const API_KEY = "key-of-the-platform";

/** A response that is well, as documented. */
export function answered(audio: string, more: object = {}): object {
  return {
    data: { status: 2, audio },
    extra_info: {
      music_duration: 128_400,
      music_sample_rate: 44_100,
      music_channel: 2,
      bitrate: 256_000,
      music_size: 4_108_800,
    },
    trace_id: "t1",
    base_resp: { status_code: 0, status_msg: "success" },
    ...more,
  };
}

/** An error as it mostly comes: with status 200. */
export function refusal(code: number, message = "no", status = 200): ReturnType<typeof json> {
  return json({ data: null, trace_id: "t2", base_resp: { status_code: code, status_msg: message } }, { status });
}

const refused =
  (...parts: Parameters<typeof refusal>): Script =>
  (fake) =>
    void fake.on(GENERATE.method, GENERATE.path, refusal(...parts));

const plain =
  (status: number, body: object = {}): Script =>
  (fake) =>
    void fake.on(GENERATE.method, GENERATE.path, json(body, { status }));

const named = (kind: ProviderFailureKind, script: Script): NamedFailure => ({ kind, script });

function completes(fake: FakeApi): ExpectedTracks {
  const mix = tinyMp3("coat");
  fake.on(GENERATE.method, GENERATE.path, json(answered(fake.file(mix))));
  return { mixes: [mix], tracks: [{ title: null, bpm: null, mixSeconds: 128.4 }] };
}

export const miniMaxHarness: MusicProviderHarness = {
  definition,
  settings: (fake) => ({ apiKey: API_KEY, baseUrl: fake.url }),
  generation: { submit: GENERATE, completes, severalTracks: { notApplicable: "a call creates one track" } },
  work: { notApplicable: "the music is the response of the call" },
  refusals: {
    content: refused(1026, "input new_sensitive"),
    rateLimit: refused(1002, "rate limit"),
    key: refused(1004),
    // Balance, quotas, a usage window: as a code or, in words, as a status.
    credit: [
      ...[1008, 1028, 1030].map((code) => refused(code)),
      refused(2056, "usage limit exceeded"),
      plain(402),
      plain(429, { message: "insufficient balance" }),
      plain(429, { message: "usage limit exceeded (2056)" }),
    ],
    unavailable: plain(503),
    input: refused(2013),
    errorWith200: named("content_rejected", refused(1027, "output new_sensitive")),
    others: {
      "code 1000, unknown": named("outcome_unknown", refused(1000)),
      "code 1001, out of time": named("outcome_unknown", refused(1001)),
      "code 1002 of a text that is sensitive": named("content_rejected", refused(1002, "Sensitive content")),
      "code 1024, internal": named("outcome_unknown", refused(1024)),
      "code 1033, a system below": named("outcome_unknown", refused(1033)),
      "code 1039, tokens": named("unavailable", refused(1039, "token limit")),
      "code 1039 of a text that is sensitive": named("content_rejected", refused(1039, "sensitive")),
      "code 1041, connections": named("rate_limited", refused(1041)),
      "code 1042, invisible characters": named("invalid_input", refused(1042)),
      "code 2038, no real name": named("misconfigured", refused(2038)),
      "code 2045, requests that grow too fast": named("rate_limited", refused(2045, "rate growth limit")),
      "code 2049, an invalid key": named("misconfigured", refused(2049)),
      "code 2061, not in the plan": named("misconfigured", refused(2061)),
      "an account that came too late for music": named("misconfigured", refused(2153, "closed", 410)),
      "410 without a code": named("model_unavailable", plain(410)),
      "an unknown code": named("failed", refused(4711)),
      "an unknown code, with a status that says more": named("rate_limited", refused(4711, "slow", 429)),
      "401 without a code": named("misconfigured", plain(401)),
      "403 without a code": named("misconfigured", plain(403)),
      "408: it ran out of time": named("outcome_unknown", plain(408)),
      "504: it ran out of time": named("outcome_unknown", plain(504)),
      "429 without a code": named("rate_limited", plain(429)),
      "an error of the server": named("outcome_unknown", plain(500)),
    },
  },
  idempotency: { notApplicable: "it takes no key" },
  callbacks: { notApplicable: "nothing is reported" },
  lookup: { notApplicable: "nothing lists what was made" },
  cancel: { notApplicable: "there is nothing between call and answer" },
  probe: { notApplicable: "no call without work is documented" },
  stemSplit: { notApplicable: "it splits no tracks" },
  vocalRemoval: { notApplicable: "it splits no tracks" },
};
