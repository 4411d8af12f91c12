import definition from "../../plugins/musicgpt/index.js";
import type { ExpectedTracks, MusicProviderHarness, Script } from "../contract/music-provider.contract.js";
import { type FakeApi, json, tinyMp3 } from "../support/provider-kit/index.js";

export const API_KEY = "key-of-the-dashboard";
export const GENERATE = { method: "POST", path: "/v2/MusicAI" } as const;
export const BY_ID = { method: "GET", path: "/v1/byId" } as const;
export const VOICES = { method: "GET", path: "/v1/getAllVoices" } as const;

let tasks = 0;

export const accepts: Script = (fake) => {
  fake.on(GENERATE.method, GENERATE.path, () =>
    json({
      success: true,
      message: "Message published to queue",
      task_id: `4fc2cdba-005d-4d14-a208-${String((tasks += 1)).padStart(12, "0")}`,
      conversion_id_1: "05092d5c-f8b1-4c96-a4a3-45bc00de6268",
      conversion_id_2: "52fcd3b6-3925-41ed-b4c6-aee17a29e40b",
      eta: 154,
      credit_estimate: 2.5,
    }),
  );
};

/** The task as its status call shows it. */
export function says(parts: object): Script {
  return (fake) => {
    fake.on(BY_ID.method, BY_ID.path, ({ query }) =>
      json({ success: true, conversion: { task_id: query["task_id"], ...parts } }),
    );
  };
}

/** A finished task with a file for each link; the paths of a conversion that is not there are null. */
export function completed(links: readonly (string | null)[], parts: object = {}): object {
  const of = (index: number): object => ({
    [`conversion_id_${index + 1}`]: `c${index + 1}`,
    [`conversion_path_${index + 1}`]: links[index] ?? null,
    [`conversion_path_wav_${index + 1}`]: null,
    [`conversion_duration_${index + 1}`]: 209.84 + index,
    [`title_${index + 1}`]: `Clash of Titans ${index + 1}`,
    [`lyrics_${index + 1}`]: "[Instrumental]",
  });
  return {
    status: "COMPLETED",
    message: "Both conversions received",
    music_style: "Cinematic, orchestral, ",
    ...of(0),
    ...of(1),
    createdAt: "2026-03-27T07:21:14Z",
    updatedAt: "2026-03-27T07:22:47Z",
    ...parts,
  };
}

async function succeeds(fake: FakeApi): Promise<ExpectedTracks> {
  const mixes = [tinyMp3("one"), tinyMp3("two")];
  const links = mixes.map((mix) => fake.file(mix));
  await says(completed(links, { conversion_cost: 1.25 }))(fake);
  return {
    mixes,
    cost: { amount: 1.25, unit: "credits" },
    tracks: [1, 2].map((n) => ({ title: `Clash of Titans ${n}`, bpm: null, mixSeconds: 208.84 + n })),
  };
}

const completes: Script<ExpectedTracks> = async (fake) => {
  await accepts(fake);
  fake.once(BY_ID.method, BY_ID.path, json({ success: true, conversion: { task_id: "t", status: "IN_QUEUE" } }));
  return succeeds(fake);
};

/** The submission is refused with this. */
export function refused(code: number, body: object, headers: Record<string, string> = {}): Script {
  return (fake) => void fake.on(GENERATE.method, GENERATE.path, json(body, { status: code, headers }));
}

const refusedPoll = (code: number, body: object): Script => {
  return (fake) => void fake.on(BY_ID.method, BY_ID.path, json(body, { status: code }));
};

/** As FastAPI writes it: the request's own values stand in it. */
export const INVALID = {
  detail: [{ type: "string_too_long", loc: ["body", "prompt"], msg: "String too long", input: "no credit policy" }],
};

export const musicGpt: MusicProviderHarness = {
  definition,
  settings: (fake) => ({ apiKey: API_KEY, baseUrl: fake.url }),
  options: {
    sent: (requests) => {
      const call = requests.find(({ path }) => path === GENERATE.path);
      return { vocal_gender: (call?.json as Readonly<Record<string, unknown>>)["gender"] };
    },
  },
  generation: { submit: GENERATE, completes, severalTracks: completes },
  work: {
    status: BY_ID,
    accepts,
    running: says({ status: "IN_QUEUE" }),
    succeeds,
    fails: [
      says({ status: "FAILED", status_msg: "Generation failed" }),
      says({ status: "ERROR", message: "Worker lost" }),
      says({ status: "FAILED" }),
    ],
    rejectsContent: says({ status: "FAILED", status_msg: "Blocked by moderation" }),
    cancelled: { notApplicable: "nothing can be cancelled there" },
    timesOut: { notApplicable: "no time limit is documented" },
    gone: refusedPoll(404, { success: false, message: "Conversion not found" }),
    expiredLink: { notApplicable: "a link that died answers the download, not the poll" },
    succeedsEmpty: says(completed([null, null])),
    partlyReady: says(
      completed(["https://cdn.example/1.mp3", null], { status: "IN_PROGRESS", updatedAt: new Date().toISOString() }),
    ),
    others: {
      "links to the storage without a file": { kind: "failed", script: says(completed(["https://s3.example/", ""])) },
      "a status that is not documented": { kind: "unavailable", script: says({ status: "RESTING" }) },
      "a task without a status": { kind: "unavailable", script: says({}) },
      "a poll that did not succeed": {
        kind: "unavailable",
        script: refusedPoll(200, { success: false, message: "no credit" }),
      },
      "a poll that is refused": { kind: "unavailable", script: refusedPoll(422, INVALID) },
    },
  },
  refusals: {
    content: refused(400, { success: false, message: "The prompt must not have an artist name" }),
    rateLimit: { script: refused(429, { detail: "Too many" }, { "retry-after": "20" }), retryAfterMs: 20_000 },
    key: refused(401, { detail: "Invalid API key" }),
    credit: [refused(402, { detail: "Insufficient credits" }), refused(403, { detail: "Insufficient funds" })],
    unavailable: refused(503, { detail: "Service Unavailable" }),
    input: refused(422, INVALID),
    errorWith200: {
      kind: "out_of_credit",
      script: refused(200, { success: false, error: { code: "NO_FUNDS", message: "Not enough credits" } }),
    },
    others: {
      "a key without the right": { kind: "misconfigured", script: refused(403, { detail: "Upgrade your plan" }) },
      "a refusal with status 200 that says no more": {
        kind: "failed",
        script: refused(200, { success: false, message: "Try something else" }),
      },
      "a conflict": { kind: "invalid_input", script: refused(409, { detail: "Conflict" }) },
      "an error of the server": { kind: "outcome_unknown", script: refused(500, { detail: "Internal Server Error" }) },
      "a success without a task": { kind: "outcome_unknown", script: refused(200, { success: true }) },
    },
  },
  idempotency: { notApplicable: "its API takes no key of ours" },
  callbacks: {
    stages: ["succeeded"],
    send: (_stage, { handle }) => ({
      body: JSON.stringify({ task_id: handle.data["taskId"], status: "COMPLETED", conversion_type: "MUSIC_AI" }),
    }),
    signature: { notApplicable: "no signature is documented" },
  },
  lookup: { notApplicable: "a task carries nothing of ours" },
  cancel: { notApplicable: "nothing can be cancelled there" },
  probe: {
    route: VOICES,
    responses: (fake) => {
      fake.on(VOICES.method, VOICES.path, json({ success: true, voices: [], limit: 1, page: 0, total: 0 }));
      return null;
    },
    refusesKey: (fake) => void fake.on(VOICES.method, VOICES.path, json({ detail: "no" }, { status: 401 })),
  },
  stemSplit: { notApplicable: "what its extraction results in is not documented" },
  vocalRemoval: { notApplicable: "what its extraction results in is not documented" },
};
