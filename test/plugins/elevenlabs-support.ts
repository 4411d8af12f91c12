import definition from "../../plugins/elevenlabs/index.js";
import { asObject } from "../../plugins/sdk/index.js";
import type {
  ExpectedTracks,
  MusicProviderHarness,
  Script,
  SplitScenarios,
} from "../contract/music-provider.contract.js";
import {
  bytes,
  type FakeResponse,
  type FakeApi,
  json,
  multipart,
  type MultipartPart,
  tinyMp3,
  tinyZip,
} from "../support/provider-kit/index.js";
import { referencesWith } from "./elevenlabs-references-support.js";

export const PLAN = { method: "POST", path: "/v1/music/plan" } as const;
export const COMPOSE = { method: "POST", path: "/v1/music/detailed" } as const;
export const SEPARATE = { method: "POST", path: "/v1/music/stem-separation" } as const;
export const SUBSCRIPTION = { method: "GET", path: "/v1/user/subscription" } as const;
export const API_KEY = "key-of-the-console";

/** As music_v2 plans: chunks, the words among them its own. */
export const CHUNKS = {
  chunks: [
    { text: "[Intro]\n{soft guitar}", duration_ms: 8_000, positive_styles: ["indie folk"], negative_styles: [] },
    {
      text: "[Verse]\nWords of its own\nAnd more of them",
      duration_ms: 30_000,
      positive_styles: ["warm voice"],
      negative_styles: [],
    },
    {
      text: "[Chorus]\nIts own chorus\n{louder}",
      duration_ms: 22_000,
      positive_styles: ["full band"],
      negative_styles: ["metal"],
    },
  ],
};

/** As music_v1 plans: sections. */
export const SECTIONS = {
  positive_global_styles: ["indie folk"],
  negative_global_styles: [],
  sections: [
    {
      section_name: "Intro",
      positive_local_styles: ["guitar"],
      negative_local_styles: [],
      duration_ms: 8_000,
      lines: [],
    },
    {
      section_name: "Verse",
      positive_local_styles: [],
      negative_local_styles: [],
      duration_ms: 52_000,
      lines: ["Its own words"],
    },
  ],
};

export const METADATA = {
  composition_plan: { chunks: [] },
  song_metadata: {
    title: "Harbour",
    description: null,
    genres: ["Folk", " Indie Folk"],
    languages: ["en"],
    is_explicit: false,
  },
  words_timestamps: null,
};

/** The parts of a response of `detailed`, as documented: JSON and sound. */
const partsOf = (sound: Uint8Array, metadata: object): MultipartPart[] => [
  { headers: { "Content-Type": "application/json" }, bytes: JSON.stringify(metadata) },
  {
    headers: { "Content-Type": "audio/mpeg", "Content-Disposition": 'attachment; filename="harbour.mp3"' },
    bytes: sound,
  },
];

/** A response of `detailed`. */
export function detailed(sound: Uint8Array, metadata: object = METADATA, boundary = "b1"): FakeResponse {
  const body = multipart(partsOf(sound, metadata), boundary);
  return bytes(body, `multipart/mixed; boundary=${boundary}`, { headers: { "song-id": "sng_7f2" } });
}

/** An account's plan, as the SDK has it. */
export function subscription(parts: object = {}): FakeResponse {
  const counts = { character_count: 30_000, character_limit: 100_000 };
  return json({ tier: "creator", ...counts, status: "active", currency: "usd", ...parts });
}

/** Today's envelope of errors. */
export function refusal(
  status: number,
  code: string,
  more: object = {},
  headers: Record<string, string> = {},
): FakeResponse {
  const detail = { type: "error", code, status: code, message: `it says ${code}`, request_id: "r1", ...more };
  return json({ detail }, { status, headers });
}

const refused =
  (response: FakeResponse): Script =>
  (fake) => {
    planned(fake);
    fake.on("POST", COMPOSE.path, response);
  };

export function planned(fake: FakeApi): void {
  fake.on("POST", PLAN.path, json(CHUNKS));
}

function completes(fake: FakeApi): ExpectedTracks {
  planned(fake);
  const mix = tinyMp3("harbour");
  fake.on("POST", COMPOSE.path, detailed(mix));
  return { mixes: [mix], tracks: [{ title: "Harbour", bpm: null, mixSeconds: null }] };
}

function splits(names: Readonly<Record<string, string>>, variation: string): SplitScenarios {
  return {
    submit: SEPARATE,
    completes: (fake) => {
      const stems = Object.fromEntries(Object.values(names).map((label) => [label, tinyMp3(label)]));
      const files = Object.entries(names).map(([name, label]) => [name, stems[label] ?? new Uint8Array()] as const);
      fake.on("POST", SEPARATE.path, bytes(tinyZip(Object.fromEntries(files)), "application/zip"));
      return { stems };
    },
    receivedSource: (requests) =>
      requests.some((request) => {
        const file = request.field("file");
        const isSource = typeof file === "object" && Buffer.from(tinyMp3("to be split")).equals(file.bytes);
        return isSource && request.field("stem_variation_id") === variation;
      }),
  };
}

export const elevenLabsHarness: MusicProviderHarness = {
  definition,
  settings: (fake) => ({ apiKey: API_KEY, baseUrl: fake.url }),
  options: {
    sent: (requests) => {
      const { seed } = asObject(requests.find(({ path }) => path === COMPOSE.path)?.json);
      return { seed };
    },
    requestFor: () => ({ instrumental: false }),
  },
  generation: {
    submit: COMPOSE,
    completes,
    severalTracks: { notApplicable: "a call creates one track" },
    multipart: {
      route: COMPOSE,
      response: (fake, mix) => {
        planned(fake);
        return { parts: partsOf(mix, METADATA), tracks: [{ title: "Harbour" }] };
      },
    },
  },
  references: referencesWith(completes),
  work: { notApplicable: "the music is the response of the call" },
  refusals: {
    content: refused(refusal(422, "bad_prompt", { data: { prompt_suggestion: "warm 60s style beat group" } })),
    rateLimit: {
      script: refused(refusal(429, "rate_limit_exceeded", {}, { "retry-after": "12" })),
      retryAfterMs: 12_000,
    },
    key: refused(refusal(401, "invalid_api_key")),
    credit: [
      refused(refusal(401, "quota_exceeded")),
      refused(refusal(402, "payment_required")),
      // The envelope of old.
      refused(json({ detail: { status: "quota_exceeded", message: "none left" } }, { status: 401 })),
    ],
    unavailable: refused(refusal(429, "system_busy")),
    input: refused(
      json({ detail: [{ loc: ["body", "music_length_ms"], msg: "too large", type: "value_error" }] }, { status: 422 }),
    ),
    errorWith200: { notApplicable: "its errors have their status" },
    others: {
      "a plan with styles under copyright": {
        kind: "content_rejected",
        script: refused(refusal(422, "bad_composition_plan")),
      },
      "a prompt it refuses with 400": { kind: "content_rejected", script: refused(refusal(400, "bad_prompt")) },
      "a parameter it does not take": { kind: "invalid_input", script: refused(refusal(400, "invalid_parameters")) },
      "too many at once": { kind: "rate_limited", script: refused(refusal(429, "concurrent_limit_exceeded")) },
      "too many at once, in older words": {
        kind: "rate_limited",
        script: refused(refusal(429, "too_many_concurrent_requests")),
      },
      service_unavailable: { kind: "unavailable", script: refused(refusal(503, "service_unavailable")) },
      "a plan of the account that is too low": {
        kind: "misconfigured",
        script: refused(refusal(403, "only_for_creator+")),
      },
      "a missing subscription": { kind: "misconfigured", script: refused(refusal(403, "subscription_required")) },
      "a 401 without a word": { kind: "misconfigured", script: refused(json({}, { status: 401 })) },
      "an address that is not there": {
        kind: "model_unavailable",
        script: refused(json({ detail: "Not Found" }, { status: 404 })),
      },
      "an error of the server, which may have made the music": {
        kind: "outcome_unknown",
        script: refused(json({ detail: "Internal Server Error" }, { status: 500 })),
      },
      "a plan call that is too much": {
        kind: "rate_limited",
        script: (fake) => void fake.on("POST", PLAN.path, refusal(429, "rate_limit_exceeded")),
      },
      "a plan call that fails: nothing was made": {
        kind: "unavailable",
        script: (fake) => void fake.on("POST", PLAN.path, json({}, { status: 500 })),
      },
      "a plan call that is not there": {
        kind: "misconfigured",
        script: (fake) => void fake.on("POST", PLAN.path, json({}, { status: 404 })),
      },
      "a plan of no known shape": {
        kind: "unavailable",
        script: (fake) => void fake.on("POST", PLAN.path, json({ chunks: [] })),
      },
    },
  },
  idempotency: { notApplicable: "it takes no key" },
  callbacks: { notApplicable: "music is not reported" },
  lookup: { notApplicable: "nothing lists what was made" },
  cancel: { notApplicable: "there is nothing between call and answer" },
  probe: {
    route: SUBSCRIPTION,
    responses: (fake) => {
      fake.on("GET", SUBSCRIPTION.path, subscription());
      return { amount: 70_000, unit: "credits" };
    },
    refusesKey: (fake) => void fake.on("GET", SUBSCRIPTION.path, refusal(401, "invalid_api_key")),
  },
  stemSplit: splits(
    Object.fromEntries(["vocals", "drums", "bass", "guitar", "piano", "other"].map((label) => [`${label}.mp3`, label])),
    "six_stems_v1",
  ),
  vocalRemoval: splits({ "song/vocals.mp3": "vocals", "song/instrumental.mp3": "instrumental" }, "two_stems_v1"),
};
