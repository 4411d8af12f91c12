import definition from "../../plugins/sonauto/index.js";
import type { ProviderModel } from "../../core/ports/music-provider.js";
import type { ExpectedTracks, MusicProviderHarness, Script, SentPoints } from "../contract/music-provider.contract.js";
import { type FakeResponse, type FakeApi, type FakeRequest, json, tinyMp3 } from "../support/provider-kit/index.js";

export const API_KEY = "sksonauto_key_of_the_test";
export const V3 = { method: "POST", path: "/v1/generations/v3" } as const;
export const V2 = { method: "POST", path: "/v1/generations/v2" } as const;
export const EXTEND_V3 = { method: "POST", path: "/v1/generations/v3/extend" } as const;
export const EXTEND_V2 = { method: "POST", path: "/v1/generations/v2/extend" } as const;
export const STATUS = { method: "GET", path: "/v1/generations/status/:id" } as const;
export const GENERATION = { method: "GET", path: "/v1/generations/:id" } as const;
export const BALANCE = { method: "GET", path: "/v1/credits/balance" } as const;

/** Two songs of one request, which v2 alone can. */
const TWO_SONGS: ProviderModel = {
  id: "sonauto/v2-two",
  name: "Melodia v2, two songs",
  creditCost: 15,
  supportsLyrics: true,
  supportsInstrumental: true,
  duration: null,
  upstream: "v2",
  options: { songs: 2 },
};

let tasks = 0;

export const accepts: Script = (fake) => {
  for (const { method, path } of [V3, V2, EXTEND_V3, EXTEND_V2])
    fake.on(method, path, () => json({ task_id: `task-${(tasks += 1)}` }));
};

/** The status call responds with the word alone, as a JSON string. */
export function status(word: string): Script {
  return (fake) => void fake.on(STATUS.method, STATUS.path, json(word));
}

/** The whole of a task that ended, as their documentation shows it. */
export function generation(parts: object): object {
  return {
    id: "task-1",
    created_at: "2026-09-17T10:00:00Z",
    status: "SUCCESS",
    alignment_status: null,
    model_version: "v3-preview",
    song_paths: [],
    error_message: null,
    lyrics: "[Verse]\nPaper boats",
    prompt: "dream pop",
    prompt_strength: 2,
    tags: ["Dream Pop", "2020s"],
    v2_params: null,
    ...parts,
  };
}

/** The task ended with this word, and the call that reads it responds with this. */
export function ended(word: string, response: FakeResponse): Script {
  return async (fake) => {
    await status(word)(fake);
    fake.on(GENERATION.method, GENERATION.path, response);
  };
}

const failed = (reason: string | null): Script =>
  ended("FAILURE", json(generation({ status: "FAILURE", error_message: reason })));

async function succeeds(fake: FakeApi, names: readonly string[]): Promise<ExpectedTracks> {
  const mixes = names.map((name) => tinyMp3(name));
  const paths = mixes.map((mix) => fake.file(mix));
  await ended("SUCCESS", json(generation({ song_paths: paths })))(fake);
  return { mixes, tracks: names.map(() => ({ title: null, bpm: null, mixSeconds: null })) };
}

function completes(names: readonly string[]): Script<ExpectedTracks> {
  return async (fake) => {
    await accepts(fake);
    fake.once(STATUS.method, STATUS.path, json("RECEIVED"), json("GENERATING_STREAMING_READY"), json("SAVING"));
    return succeeds(fake, names);
  };
}

type Body = Readonly<Record<string, unknown>>;

const bodyIn = (requests: readonly FakeRequest[]): Body =>
  (requests.find(({ method }) => method === "POST")?.json ?? {}) as Body;

/** The members of a body that are options of requests; the tags to avoid are a list there. */
function sentOptions(requests: readonly FakeRequest[]): Body {
  const { seed, bpm, prompt_strength, balance_strength, negative_tags: tags } = bodyIn(requests);
  const negative_tags = Array.isArray(tags) ? tags.join(", ") : tags;
  return { seed, bpm, prompt_strength, balance_strength, negative_tags };
}

/** The suite's tracks have 20 seconds; what is cropped counts from their end. */
function sentPoints(requests: readonly FakeRequest[]): SentPoints {
  const { crop_duration: cropped } = bodyIn(requests);
  return typeof cropped === "number" ? { from: 20 - cropped } : {};
}

/** The submission is refused with this. */
export function refused(code: number, detail: unknown, headers: Record<string, string> = {}): Script {
  return (fake) => {
    for (const { method, path } of [V3, V2]) fake.on(method, path, json({ detail }, { status: code, headers }));
  };
}

/** As pydantic writes it: the request's own values stand in it. */
export const INVALID_TAGS = [
  { type: "value_error", loc: ["body", "negative_tags"], msg: "Value error, Invalid tags: x", input: "credit policy" },
];

export const sonauto: MusicProviderHarness = {
  definition,
  models: [...definition.models, TWO_SONGS],
  settings: (fake) => ({ apiKey: API_KEY, baseUrl: `${fake.url}/v1` }),
  options: { sent: sentOptions },
  references: {
    extend: {
      submit: EXTEND_V3,
      completes: completes(["one"]),
      request: { durationSeconds: null },
      receivedSource: (requests, { bytes }) =>
        bodyIn(requests)["audio_base64"] === Buffer.from(bytes).toString("base64"),
      sent: sentPoints,
    },
  },
  generation: { submit: V3, completes: completes(["one"]), severalTracks: completes(["one", "two"]) },
  work: {
    status: STATUS,
    accepts,
    running: status("TASK_SENT"),
    succeeds: (fake) => succeeds(fake, ["one"]),
    fails: [failed("The GPU worker was lost"), failed(null), failed("")],
    rejectsContent: failed("The lyrics were flagged by moderation"),
    cancelled: { notApplicable: "nothing can be cancelled there" },
    timesOut: { notApplicable: "a task that ran out of time is a FAILURE as any other" },
    gone: (fake) => void fake.on(STATUS.method, STATUS.path, json({ detail: "Task not found" }, { status: 404 })),
    expiredLink: ended("SUCCESS", json({ detail: "Generation not found" }, { status: 404 })),
    succeedsEmpty: ended("SUCCESS", json(generation({ song_paths: [] }))),
    partlyReady: { notApplicable: "all songs of a task are there at once" },
    others: {
      "paths that are no links": { kind: "failed", script: ended("SUCCESS", json(generation({ song_paths: ["/a"] }))) },
      "a success whose generation is no JSON": { kind: "unavailable", script: ended("SUCCESS", { body: "<html>" }) },
      "a failure whose generation cannot be read": {
        kind: "unavailable",
        script: ended("FAILURE", json({ detail: "busy" }, { status: 500 })),
      },
    },
  },
  refusals: {
    content: refused(422, "The prompt was refused by moderation"),
    rateLimit: { script: refused(429, "Too many requests", { "retry-after": "11" }), retryAfterMs: 11_000 },
    key: refused(401, "Invalid API key"),
    credit: [
      refused(402, "Insufficient credits"),
      refused(403, "Not enough credits"),
      refused(429, "Your credit balance is 0"),
      refused(400, "No credits left"),
    ],
    unavailable: refused(503, "Maintenance"),
    input: refused(422, INVALID_TAGS),
    errorWith200: { notApplicable: "errors have a status of their own" },
    others: {
      "a key without the right": { kind: "misconfigured", script: refused(403, "Forbidden") },
      "an address that moved": {
        kind: "misconfigured",
        script: (fake) => void fake.on(V3.method, V3.path, { status: 307, headers: { location: "https://a.example" } }),
      },
      "an error of the server": { kind: "outcome_unknown", script: refused(500, "Internal Server Error") },
      "a response without a task": {
        kind: "outcome_unknown",
        script: (fake) => void fake.on(V3.method, V3.path, json({ task_id: null })),
      },
    },
  },
  idempotency: { notApplicable: "its API takes no key of ours" },
  callbacks: {
    stages: ["running", "succeeded", "failed"],
    send: (stage, { handle }) => ({
      body: JSON.stringify({
        task_id: handle.data["taskId"],
        status: { running: "GENERATING", succeeded: "SUCCESS", failed: "FAILURE" }[stage],
      }),
    }),
    signature: { notApplicable: "no signature is documented" },
  },
  lookup: { notApplicable: "tasks are found by their id alone" },
  cancel: { notApplicable: "nothing can be cancelled there" },
  probe: {
    route: BALANCE,
    responses: (fake) => {
      fake.on(BALANCE.method, BALANCE.path, json({ num_credits: 900, num_credits_payg: 200 }));
      return { amount: 1_100, unit: "credits" };
    },
    refusesKey: (fake) => void fake.on(BALANCE.method, BALANCE.path, json({ detail: "no" }, { status: 401 })),
  },
  stemSplit: { notApplicable: "it splits no tracks" },
  vocalRemoval: { notApplicable: "it splits no tracks" },
};
