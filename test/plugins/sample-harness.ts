import type {
  ExpectedStems,
  ExpectedTracks,
  MusicProviderHarness,
  Script,
  SentPoints,
} from "../contract/music-provider.contract.js";
import { type FakeApi, type FakeRequest, json, tinyMp3 } from "../support/provider-kit/index.js";
import { nightingale, signatureOf } from "./sample-provider.js";

const WEBHOOK_SECRET = "whsec-of-the-sample";
const TASKS = { method: "GET", path: "/v1/tasks" } as const;

/** Answers the status call so for whatever task is polled. */
function tasks(task: object): Script {
  return (fake) =>
    void fake.on("GET", "/v1/tasks", ({ query }) =>
      json({ tasks: (query["ids"] ?? "").split(",").map((id) => ({ id, kind: "music", ...task })) }),
    );
}

let created = 0;
const accepts: Script = (fake) => {
  for (const path of ["/v1/music", "/v1/extensions", "/v1/splits"])
    fake.on("POST", path, () => json({ id: `task-${(created += 1)}` }, { status: 202 }));
};

function succeeds(fake: FakeApi, marks: readonly string[] = ["one"]): ExpectedTracks {
  const mixes = marks.map((mark) => tinyMp3(mark));
  tasks({ status: "done", price: 2, files: mixes.map((mix) => ({ name: "mix", url: fake.file(mix) })) })(fake) as void;
  return { mixes, cost: { amount: 2, unit: "credits" } };
}

function completes(marks: readonly string[]): Script<ExpectedTracks> {
  return async (fake) => {
    await accepts(fake);
    const expected = succeeds(fake, marks);
    fake.once("GET", "/v1/tasks", ({ query }) =>
      json({ tasks: [{ id: query["ids"], kind: "music", status: "queued" }] }),
    );
    return expected;
  };
}

function splits(labels: readonly string[]): Script<ExpectedStems> {
  return async (fake) => {
    await accepts(fake);
    const stems = Object.fromEntries(labels.map((label) => [label, tinyMp3(label)]));
    await tasks({
      kind: "split",
      status: "done",
      files: Object.entries(stems).map(([name, stem]) => ({ name, url: fake.file(stem) })),
    })(fake);
    return { stems };
  };
}

const refused =
  (status: number, body: object = {}, headers = {}): Script =>
  (fake) =>
    void fake.on("POST", "/v1/music", json(body, { status, headers }));

function sentPoints(requests: readonly FakeRequest[]): SentPoints {
  const [body = {}] = requests.map(bodyOf).filter(({ prompt }) => prompt !== undefined);
  const { begin, end, change } = body as { readonly [name: string]: number | undefined };
  return {
    from: begin === undefined ? undefined : begin / 1_000,
    to: end === undefined ? undefined : end / 1_000,
    strength: change === undefined ? undefined : 1 - change / 100,
  };
}

const bodyOf = (request: FakeRequest | undefined): Record<string, unknown> =>
  (request?.json ?? {}) as Record<string, unknown>;

export const nightingaleHarness: MusicProviderHarness = {
  definition: nightingale,
  settings: (fake) => ({ apiKey: "key-of-the-sample", webhookSecret: WEBHOOK_SECRET, baseUrl: fake.url }),
  options: {
    sent([request]) {
      const { seed, key, voice, loop } = bodyOf(request);
      return { seed, key, vocal_gender: voice, loop };
    },
  },
  references: {
    extend: {
      submit: { method: "POST", path: "/v1/extensions" },
      completes: completes(["one", "two"]),
      own: { task: "task-of-before" },
      receivedSource: (requests, { reference }) =>
        requests.some((request) => bodyOf(request)["task"] === (reference?.["task"] ?? "task-of-before")),
      sent: sentPoints,
    },
    cover: {
      submit: { method: "POST", path: "/v1/music" },
      completes: completes(["one"]),
      receivedSource: (requests, { bytes }) =>
        requests.some((request) => bodyOf(request)["audio"] === Buffer.from(bytes).toString("base64")),
      sent: sentPoints,
    },
    inpaint: {
      submit: { method: "POST", path: "/v1/music" },
      completes: completes(["one"]),
      receivedSource: (requests, { url }) => requests.some((request) => bodyOf(request)["audio"] === url),
      sent: sentPoints,
    },
  },
  generation: {
    submit: { method: "POST", path: "/v1/music" },
    completes: completes(["one"]),
    severalTracks: completes(["one", "two", "three"]),
  },
  work: {
    status: TASKS,
    accepts,
    running: tasks({ status: "working" }),
    succeeds: (fake) => succeeds(fake),
    fails: [tasks({ status: "error" }), tasks({ status: "no such word" })],
    rejectsContent: tasks({ status: "error", code: "blocked" }),
    cancelled: [tasks({ status: "canceled" }), tasks({ status: "cancelled" })],
    timesOut: { notApplicable: "it has no time limit" },
    gone: (fake) => void fake.on("GET", "/v1/tasks", json({ tasks: [] })),
    expiredLink: { notApplicable: "its files stay" },
    succeedsEmpty: tasks({ status: "done", files: [] }),
    partlyReady: { notApplicable: "all tracks are ready at once" },
  },
  refusals: {
    content: refused(422, { code: "blocked" }),
    rateLimit: { script: refused(429, {}, { "retry-after": "7" }), retryAfterMs: 7_000 },
    key: refused(401),
    credit: [refused(402), refused(429, { code: "no_credit" })],
    unavailable: refused(503),
    input: refused(400),
    errorWith200: { kind: "content_rejected", script: refused(200, { code: "blocked" }) },
  },
  idempotency: { keyOf: ({ headers }) => headers["idempotency-key"] },
  callbacks: {
    stages: ["running", "succeeded", "failed"],
    send: (stage, { handle, at, fake }) => {
      const status = { running: "working", succeeded: "done", failed: "error" }[stage];
      const body = JSON.stringify({
        id: handle.data["id"],
        kind: "music",
        status,
        files: [{ name: "mix", url: `${fake.url}/mix.mp3` }],
      });
      return {
        headers: {
          "X-Timestamp": String(at),
          "x-signature": signatureOf(WEBHOOK_SECRET, String(at), Buffer.from(body)),
        },
        body,
      };
    },
    signature: { header: "x-signature", coversBody: true, toleranceMs: 300_000 },
  },
  lookup: {
    route: TASKS,
    found: (fake, attemptId) =>
      void fake.on("GET", "/v1/tasks", ({ query }) =>
        json({
          tasks:
            query["ref"] === attemptId || query["ids"] === "task-lost"
              ? [{ id: "task-lost", kind: "music", status: "done", files: [{ name: "mix", url: fake.url }] }]
              : [],
        }),
      ),
    absent: (fake) => void fake.on("GET", "/v1/tasks", json({ tasks: [] })),
  },
  cancel: {
    route: { method: "POST", path: "/v1/tasks/:id/cancel" },
    cancels: (fake) => void fake.on("POST", "/v1/tasks/:id/cancel", json({ stopped: true })),
    tooLate: (fake) => void fake.on("POST", "/v1/tasks/:id/cancel", json({ stopped: false })),
  },
  probe: {
    route: { method: "GET", path: "/v1/account" },
    responses: (fake) => {
      fake.on("GET", "/v1/account", json({ credits: 41 }));
      return { amount: 41, unit: "credits" };
    },
    refusesKey: (fake) => void fake.on("GET", "/v1/account", json({}, { status: 401 })),
  },
  stemSplit: {
    submit: { method: "POST", path: "/v1/splits" },
    completes: splits(["vocals", "drums", "bass", "other"]),
    receivedSource: (requests) =>
      requests.some((request) => bodyOf(request)["audio"] === Buffer.from(tinyMp3("to be split")).toString("base64")),
  },
  vocalRemoval: {
    submit: { method: "POST", path: "/v1/splits" },
    completes: splits(["vocals", "instrumental"]),
    receivedSource: (requests, { url }) => requests.some((request) => bodyOf(request)["audio"] === url),
  },
};
