import definition from "../../plugins/audioshake/index.js";
import type {
  ExpectedStems,
  MusicProviderHarness,
  Script,
  SplitScenarios,
} from "../contract/music-provider.contract.js";
import { type FakeApi, type FakeRequest, json, tinyMp3 } from "../support/provider-kit/index.js";

export const API_KEY = "ask_key_of_the_test";
export const ASSETS = { method: "POST", path: "/assets" } as const;
export const TASKS = { method: "POST", path: "/tasks" } as const;
export const TASK = { method: "GET", path: "/tasks/:id" } as const;
export const LIST = { method: "GET", path: "/tasks" } as const;

export const bodyOf = (request: FakeRequest | undefined): Record<string, unknown> =>
  (request?.json ?? {}) as Record<string, unknown>;

let tasks = 0;

export const accepts: Script = (fake) => {
  fake.on(ASSETS.method, ASSETS.path, json({ id: "cmkd41zsb019001pvdcdg13ec", format: "mp3", name: "a.mp3" }));
  fake.on(TASKS.method, TASKS.path, () => json(task([processing("vocals")], { id: `cmn5h${(tasks += 1)}` })));
};

/** As their documentation shows it. */
export function task(targets: readonly object[], parts: object = {}): object {
  const clientId = "cm4lousna0yurbk8ngu31n8bb";
  return { id: "cmn5h1wv600edx8fgoboeeg06", createdAt: "2026-03-25T03:16:17.442Z", clientId, targets, ...parts };
}

export function processing(model: string): object {
  return { id: `p-${model}`, model, formats: ["wav"], status: "processing", output: [] };
}

export function completed(model: string, link: string): object {
  const output = [{ name: model, format: "wav", link }];
  return { id: `c-${model}`, model, cost: 4, formats: ["wav"], status: "completed", duration: 200.53, output };
}

export function errored(model: string, error: object | null, status = "error"): object {
  return { id: `e-${model}`, model, formats: ["wav"], status, output: [], error };
}

/** The status call responds with these targets. */
export function says(targets: readonly object[], parts: object = {}): Script {
  return (fake) => {
    fake.on(TASK.method, TASK.path, ({ params }) => json(task(targets, { id: params["id"], ...parts })));
  };
}

async function succeeds(fake: FakeApi, models: readonly string[]): Promise<ExpectedStems> {
  const stems = Object.fromEntries(models.map((model) => [model, tinyMp3(model)]));
  const targets = models.map((model) => completed(model, fake.file(stems[model] ?? new Uint8Array())));
  await says(targets, { cost: 4 * models.length })(fake);
  return { stems, cost: { amount: 4 * models.length, unit: "credits" } };
}

function splits(models: readonly string[]): SplitScenarios {
  return {
    submit: TASKS,
    completes: async (fake) => {
      await accepts(fake);
      fake.once(TASK.method, TASK.path, json(task(models.map(processing))));
      return succeeds(fake, models);
    },
    // The track is uploaded in a form, and the task names the asset.
    receivedSource: (requests) =>
      requests.some((request) => {
        const file = request.path === ASSETS.path ? request.field("file") : undefined;
        return typeof file === "object" && Buffer.from(file.bytes).equals(Buffer.from(tinyMp3("to be split")));
      }) && requests.some((request) => bodyOf(request)["assetId"] === "cmkd41zsb019001pvdcdg13ec"),
  };
}

/** The task is refused with this. */
export function refused(code: number, message: unknown, headers: Record<string, string> = {}): Script {
  return async (fake) => {
    await accepts(fake);
    const body = { statusCode: code, error: "Error", message };
    fake.on(TASKS.method, TASKS.path, json(body, { status: code, headers }));
  };
}

function refusedUpload(code: number, message: string): Script {
  return (fake) => void fake.on(ASSETS.method, ASSETS.path, json({ message }, { status: code }));
}

const FOUR = ["vocals", "drums", "bass", "other"];

export const audioShake: MusicProviderHarness = {
  definition,
  settings: (fake) => ({ apiKey: API_KEY, baseUrl: fake.url }),
  generation: { notApplicable: "it creates no music" },
  work: {
    status: TASK,
    accepts,
    running: says(FOUR.map(processing)),
    succeeds: (fake) => succeeds(fake, FOUR),
    fails: [
      says([errored("vocals", { code: 500, message: "decoding failed" })]),
      says([errored("vocals", null), errored("drums", null)]),
      says([errored("vocals", { message: "no" }, "failed")]),
    ],
    rejectsContent: { notApplicable: "there is no moderation" },
    cancelled: { notApplicable: "tasks cannot be cancelled" },
    timesOut: { notApplicable: "no time limit is documented" },
    gone: (fake) => void fake.on(TASK.method, TASK.path, json({ message: "Task not found" }, { status: 404 })),
    expiredLink: { notApplicable: "a poll signs new links" },
    succeedsEmpty: says([{ ...completed("vocals", "x"), output: [] }]),
    partlyReady: says([completed("vocals", "https://cdn.example/v.wav"), processing("drums")]),
    others: {
      "a status that is not documented": { kind: "unavailable", script: says([errored("vocals", null, "resting")]) },
      "a task without targets": { kind: "unavailable", script: says([]) },
      "a link that is none": { kind: "failed", script: says([completed("vocals", "/vocals.wav")]) },
      "a poll that is refused for the balance": {
        kind: "misconfigured",
        script: (fake) => void fake.on(TASK.method, TASK.path, json({ message: "no credits" }, { status: 403 })),
      },
    },
  },
  refusals: {
    content: { notApplicable: "there is no moderation" },
    rateLimit: { script: refused(429, "Too Many Requests", { "retry-after": "3" }), retryAfterMs: 3_000 },
    key: refused(401, "Unauthorized"),
    credit: [
      refused(402, "Payment Required"),
      refused(403, "Insufficient credits"),
      refused(400, "Not enough credit balance"),
      refusedUpload(403, "No credit balance"),
    ],
    unavailable: refused(503, "Service Unavailable"),
    input: refused(400, ["targets.0.model must be one of"]),
    errorWith200: { notApplicable: "errors have a status of their own" },
    others: {
      "an upload that is refused": { kind: "invalid_input", script: refusedUpload(400, "Unsupported format") },
      "an upload that broke": { kind: "unavailable", script: refusedUpload(502, "Bad Gateway") },
      "an upload without an id": { kind: "unavailable", script: refusedUpload(200, "ok") },
      "a key without the right": { kind: "misconfigured", script: refused(403, "Forbidden") },
      "a bad gateway": { kind: "outcome_unknown", script: refused(502, "Bad Gateway") },
    },
  },
  idempotency: { notApplicable: "its API takes no key of ours" },
  callbacks: { notApplicable: "its webhook is one for the whole account" },
  lookup: {
    route: LIST,
    found: async (fake, attemptId) => {
      const other = task([processing("bass")], { id: "other", metadata: "catalog:track-8842" });
      const lost = task([processing("vocals")], { id: "lost", metadata: `stem_split:${attemptId}` });
      fake.on(LIST.method, LIST.path, ({ query }) => json(query["skip"] === "0" ? [other] : [lost]));
      await succeeds(fake, FOUR);
    },
    absent: (fake) =>
      void fake.on(LIST.method, LIST.path, ({ query }) => json(query["skip"] === "0" ? [task([], { id: "x" })] : [])),
  },
  cancel: { notApplicable: "tasks cannot be cancelled" },
  probe: {
    route: LIST,
    responses: (fake) => {
      fake.on(LIST.method, LIST.path, json([]));
      return null;
    },
    refusesKey: (fake) => void fake.on(LIST.method, LIST.path, json({ message: "Unauthorized" }, { status: 401 })),
  },
  stemSplit: splits(FOUR),
  vocalRemoval: splits(["vocals", "instrumental"]),
};
