import { createHmac } from "node:crypto";
import type {
  ExpectedStems,
  ExpectedTracks,
  MusicProviderHarness,
  Script,
} from "../contract/music-provider.contract.js";
import { bytes, type FakeApi, type FakeRequest, json, tinyMp3 } from "../support/provider-kit/index.js";
import definition from "../../plugins/replicate/index.js";
import { asObject } from "../../plugins/sdk/index.js";

export const KEY = "r8_token-of-the-test";
export const SECRET = `whsec_${Buffer.from("a key that signs webhooks").toString("base64")}`;
export const SUBMIT = { method: "POST", path: "/v1/predictions" } as const;
export const FILES = { method: "POST", path: "/v1/files" } as const;
export const STATUS = { method: "GET", path: "/v1/predictions/:id" } as const;
export const CANCEL = { method: "POST", path: "/v1/predictions/:id/cancel" } as const;

const GONE = "The specified version does not exist (or perhaps you don't have permission to use it?)";

let created = 0;

/** The prediction object, as the status call answers it. */
export function prediction(parts: object): Script {
  return (fake) =>
    void fake.on("GET", STATUS.path, ({ params }) =>
      json({ id: params["id"], output: null, error: null, data_removed: false, ...parts }),
    );
}

export const accepts: Script = (fake) =>
  void fake.on("POST", SUBMIT.path, () => {
    const id = `p${(created += 1)}`;
    const urls = { get: `${fake.url}/v1/predictions/${id}`, cancel: `${fake.url}/v1/predictions/${id}/cancel` };
    return json({ id, status: "starting", urls, output: null, error: null, data_removed: false }, { status: 201 });
  });

/** A file that wants the token, as theirs do. */
export function guardedFile(fake: FakeApi, content: Uint8Array, name: string): string {
  const path = `/files/${name}.mp3`;
  fake.on("GET", path, ({ headers }) =>
    headers["authorization"] === `Bearer ${KEY}` ? bytes(content, "audio/mpeg") : json({}, { status: 401 }),
  );
  return fake.url + path;
}

function succeeds(fake: FakeApi, marks: readonly string[] = ["one"]): ExpectedTracks {
  const mixes = marks.map((mark) => tinyMp3(mark));
  const urls = mixes.map((mix, index) => guardedFile(fake, mix, marks[index] ?? ""));
  void prediction({ status: "succeeded", output: urls.length === 1 ? urls[0] : urls, metrics: { predict_time: 41.2 } })(
    fake,
  );
  return { mixes, tracks: marks.map(() => ({ title: null, mixSeconds: null })) };
}

const completes =
  (marks: readonly string[]): Script<ExpectedTracks> =>
  async (fake) => {
    await accepts(fake);
    const expected = succeeds(fake, marks);
    fake.once("GET", STATUS.path, json({ id: "p", status: "processing", output: null }));
    return expected;
  };

const splits =
  (names: Readonly<Record<string, string>>): Script<ExpectedStems> =>
  async (fake) => {
    await accepts(fake);
    const stems = Object.fromEntries(Object.values(names).map((label) => [label, tinyMp3(label)]));
    const output = Object.fromEntries(
      Object.entries(names).map(([name, label]) => [name, guardedFile(fake, stems[label] ?? new Uint8Array(), name)]),
    );
    await prediction({ status: "succeeded", output: { ...output, guitar: null } })(fake);
    return { stems };
  };

const refused =
  (status: number, detail = "no", headers: Record<string, string> = {}): Script =>
  (fake) =>
    void fake.on("POST", SUBMIT.path, json({ detail }, { status, headers }));

const audioSent = (requests: readonly { readonly json: unknown }[], url: string | null): boolean =>
  requests.some(
    (request) => ((request.json ?? {}) as { readonly input?: { readonly audio?: string } }).input?.audio === url,
  );

/** A file that was stored there, by what it is named then. */
const STORED = "https://api.replicate.com/v1/files/cneqzikepnug6xezperrr4z55o";

/** Stores what is uploaded. */
export const stores: Script = (fake) =>
  void fake.on("POST", FILES.path, ({ field }) => {
    const content = field("content");
    if (content === undefined || typeof content === "string") return json({ detail: "no content" }, { status: 422 });
    return json(
      { id: "cneqzikepnug6xezperrr4z55o", size: content.bytes.length, urls: { get: STORED } },
      { status: 201 },
    );
  });

/** Whether the bytes were stored, and named to a model. */
const storedAndNamed = (requests: readonly FakeRequest[], bytes: Uint8Array): boolean => {
  const content = requests.find(({ path }) => path === FILES.path)?.field("content");
  const isStored = content !== undefined && typeof content !== "string" && Buffer.from(bytes).equals(content.bytes);
  return isStored && requests.some(({ json: body }) => asObject(asObject(body)["input"])["input_audio"] === STORED);
};

export const replicateHarness: MusicProviderHarness = {
  definition,
  settings: (fake) => ({ apiKey: KEY, baseUrl: `${fake.url}/v1` }),
  options: {
    sent: (requests) => {
      const body = asObject(requests.find(({ path }) => path === SUBMIT.path)?.json);
      const { seed, negative_prompt } = asObject(body["input"]);
      return { seed, negative_prompt };
    },
  },
  references: {
    cover: {
      submit: SUBMIT,
      completes: async (fake) => {
        await stores(fake);
        return completes(["one"])(fake);
      },
      receivedSource: (requests, { bytes: track }) => storedAndNamed(requests, track),
    },
  },
  generation: { submit: SUBMIT, completes: completes(["one"]), severalTracks: completes(["one", "two"]) },
  work: {
    status: STATUS,
    accepts,
    running: prediction({ status: "starting" }),
    succeeds: (fake) => succeeds(fake),
    fails: [prediction({ status: "failed", error: "E1001 model ran out of memory" }), prediction({ status: "failed" })],
    rejectsContent: prediction({ status: "failed", error: "The input was flagged as sensitive. (E005)" }),
    cancelled: prediction({ status: "canceled" }),
    timesOut: prediction({ status: "aborted" }),
    gone: (fake) => void fake.on("GET", STATUS.path, json({ detail: "not found" }, { status: 404 })),
    expiredLink: prediction({ status: "succeeded", data_removed: true }),
    succeedsEmpty: prediction({ status: "succeeded" }),
    partlyReady: prediction({ status: "processing", output: ["https://replicate.delivery/x/first.mp3"] }),
    others: {
      "an output without files": {
        kind: "failed",
        script: prediction({ status: "succeeded", output: { seconds: 8 } }),
      },
      "a list of files with something else in it": {
        kind: "failed",
        script: prediction({
          status: "succeeded",
          output: ["https://replicate.delivery/x/a.mp3", "ftp://replicate.delivery/x/b.mp3"],
        }),
      },
      "an unknown status": { kind: "unavailable", script: prediction({ status: "pondering" }) },
    },
  },
  refusals: {
    content: { notApplicable: "models refuse content in the prediction" },
    rateLimit: { script: refused(429, "Request was throttled. Your rate limit resets in ~30s."), retryAfterMs: 30_000 },
    key: refused(401),
    credit: refused(402),
    unavailable: refused(503),
    input: refused(422, "input.prompt is required"),
    retiredModel: (fake) => {
      const body = { title: "Invalid version or not permitted", detail: GONE, status: 422 };
      fake.on("POST", SUBMIT.path, json(body, { status: 422 }));
    },
    errorWith200: { notApplicable: "its errors have their status" },
    others: {
      "a model or version that is not there": { kind: "model_unavailable", script: refused(404) },
      "a fault of its own, which may have made the prediction": { kind: "outcome_unknown", script: refused(500) },
    },
  },
  idempotency: { notApplicable: "it takes no key" },
  callbacks: {
    prepare: (fake) => void fake.on("GET", "/v1/webhooks/default/secret", json({ key: SECRET })),
    stages: ["succeeded", "failed"],
    send: (stage, { handle, at }) => {
      const output = stage === "succeeded" ? "https://replicate.delivery/x/out.mp3" : null;
      return signed(JSON.stringify({ id: handle.data["id"], status: stage, output, error: null }), at);
    },
    signature: { header: "webhook-signature", coversBody: true, toleranceMs: 300_000 },
  },
  lookup: { notApplicable: "a prediction carries no mark of ours: the list cannot be searched by attempt" },
  cancel: {
    route: CANCEL,
    cancels: (fake) =>
      void fake.on("POST", CANCEL.path, ({ params }) => json({ id: params["id"], status: "canceled" })),
    tooLate: (fake) =>
      void fake.on("POST", CANCEL.path, ({ params }) => json({ id: params["id"], status: "succeeded" })),
  },
  probe: {
    route: { method: "GET", path: "/v1/account" },
    responses: (fake) => {
      fake.on("GET", "/v1/account", json({ type: "organization", username: "acme" }));
      return null;
    },
    refusesKey: (fake) => void fake.on("GET", "/v1/account", json({ detail: "Unauthenticated" }, { status: 401 })),
  },
  stemSplit: {
    submit: SUBMIT,
    completes: splits({ vocals: "vocals", drums: "drums", bass: "bass", other: "other" }),
    receivedSource: (requests, { url }) => audioSent(requests, url),
  },
  vocalRemoval: {
    submit: SUBMIT,
    completes: splits({ vocals: "vocals", no_vocals: "instrumental" }),
    receivedSource: (requests, { url }) => audioSent(requests, url),
  },
};

/** A webhook as Replicate signs it at that time. */
export function signed(body: string, at: number): { readonly headers: Record<string, string>; readonly body: string } {
  const sentAt = String(Math.floor(at / 1_000));
  const key = Buffer.from(SECRET.slice("whsec_".length), "base64");
  const signature = createHmac("sha256", key).update(`msg_1.${sentAt}.${body}`).digest("base64");
  return {
    headers: { "webhook-id": "msg_1", "webhook-timestamp": sentAt, "webhook-signature": `v1,${signature}` },
    body,
  };
}
