import definition from "../../plugins/lalal/index.js";
import type {
  ExpectedStems,
  MusicProviderHarness,
  Script,
  SplitScenarios,
} from "../contract/music-provider.contract.js";
import { type FakeApi, type FakeRequest, json, tinyMp3 } from "../support/provider-kit/index.js";

export const API_KEY = "license-of-the-account";
export const UPLOAD = { method: "POST", path: "/api/v1/upload/" } as const;
export const MULTISTEM = { method: "POST", path: "/api/v1/split/multistem/" } as const;
export const SEPARATOR = { method: "POST", path: "/api/v1/split/stem_separator/" } as const;
export const CHECK = { method: "POST", path: "/api/v1/check/" } as const;
export const CANCEL = { method: "POST", path: "/api/v1/cancel/" } as const;
export const MINUTES = { method: "POST", path: "/api/v1/limits/minutes_left/" } as const;

export const bodyOf = (request: FakeRequest | undefined): Record<string, unknown> =>
  (request?.json ?? {}) as Record<string, unknown>;
const idsIn = (request: FakeRequest): string[] => bodyOf(request)["task_ids"] as string[];

/** The same state for whatever is checked. */
export const checked = (state: object) => (request: FakeRequest) =>
  json({ result: Object.fromEntries(idsIn(request).map((id) => [id, state])) });

const says =
  (state: object): Script =>
  (fake) =>
    void fake.on(CHECK.method, CHECK.path, checked(state));

let created = 0;
export const accepts: Script = (fake) => {
  const upload = {
    id: "2fe8f214-1771-4900-9e7e-570f823bd359",
    name: "a.mp3",
    size: 1,
    duration: 182,
    expires: 1_795_300_000,
  };
  fake.on(UPLOAD.method, UPLOAD.path, json(upload));
  for (const { method, path } of [MULTISTEM, SEPARATOR])
    fake.on(method, path, () => json({ task_id: `T${(created += 1)}` }));
};

/** @param names their labels and ours */
export function succeeds(fake: FakeApi, names: Readonly<Record<string, string>>): ExpectedStems {
  const files = Object.entries(names).map(([name, label]) => ({ name, label, stem: tinyMp3(label) }));
  const tracks = files.map(({ name, stem }) => ({
    type: name.startsWith("no_") ? "back" : "stem",
    label: name,
    url: fake.file(stem),
  }));
  void says({ status: "success", source_id: "2fe8", presets: {}, result: { duration: 182, tracks } })(fake);
  return { stems: Object.fromEntries(files.map(({ label, stem }) => [label, stem])) };
}

const FOUR = { vocals: "vocals", drum: "drums", bass: "bass", no_multistem: "other" };

function splits(submit: SplitScenarios["submit"], names: Readonly<Record<string, string>>): SplitScenarios {
  return {
    submit,
    completes: async (fake) => {
      await accepts(fake);
      const expected = succeeds(fake, names);
      fake.once(
        CHECK.method,
        CHECK.path,
        checked({ status: "progress", progress: 40, source_id: "2fe8", presets: {} }),
      );
      return expected;
    },
    receivedSource: (requests) =>
      requests.some(({ path, body }) => path === UPLOAD.path && body.equals(Buffer.from(tinyMp3("to be split")))),
  };
}

const refused =
  (status: number, body: object = {}, headers: Record<string, string> = {}): Script =>
  async (fake) => {
    await accepts(fake);
    fake.on(MULTISTEM.method, MULTISTEM.path, json(body, { status, headers }));
  };

const refusedUpload =
  (status: number, body: object): Script =>
  (fake) =>
    void fake.on(UPLOAD.method, UPLOAD.path, json(body, { status }));

export const lalal: MusicProviderHarness = {
  definition,
  settings: (fake) => ({ apiKey: API_KEY, baseUrl: fake.url }),
  generation: { notApplicable: "it makes no music" },
  work: {
    status: CHECK,
    accepts,
    running: says({ status: "progress", progress: 0 }),
    succeeds: (fake) => succeeds(fake, FOUR),
    fails: [
      says({ status: "error", error: { detail: "decoding failed", code: "internal_error", id: "e1" } }),
      says({ status: "error", error: { detail: [{ loc: ["file"] }], code: "exceeded_duration" } }),
      says({ status: "error" }),
    ],
    rejectsContent: { notApplicable: "there is no moderation" },
    cancelled: says({ status: "cancelled" }),
    timesOut: { notApplicable: "no time limit is documented" },
    gone: (fake) => void fake.on(CHECK.method, CHECK.path, json({ result: {} })),
    expiredLink: { notApplicable: "a link that died answers the download, not the check" },
    succeedsEmpty: says({ status: "success", result: { duration: 182, tracks: [] } }),
    partlyReady: { notApplicable: "all stems are ready at once" },
    others: {
      "a state that could not be read": { kind: "unavailable", script: says({ status: "server_error" }) },
      "no state": { kind: "unavailable", script: says({}) },
      "a check that is refused": {
        kind: "unavailable",
        script: (fake) => void fake.on(CHECK.method, CHECK.path, json({ detail: "no" }, { status: 422 })),
      },
      "a check that is refused with a code of requests": {
        kind: "unavailable",
        script: (fake) =>
          void fake.on(CHECK.method, CHECK.path, json({ detail: "no", code: "max_duration" }, { status: 400 })),
      },
      "a check that is not there": {
        kind: "unavailable",
        script: (fake) => void fake.on(CHECK.method, CHECK.path, json({ detail: "Not Found" }, { status: 404 })),
      },
    },
  },
  refusals: {
    content: { notApplicable: "there is no moderation" },
    rateLimit: { script: refused(429, { detail: "slow down" }, { "retry-after": "20" }), retryAfterMs: 20_000 },
    key: refusedUpload(403, { detail: "Forbidden" }),
    credit: refused(400, { detail: "no minutes left", code: "exceeded_duration" }),
    unavailable: refused(503),
    input: refused(422, { detail: [{ loc: ["presets"], msg: "wrong" }] }),
    errorWith200: { notApplicable: "errors have a status of their own" },
    others: {
      "a key that it refuses with 400": {
        kind: "misconfigured",
        script: refusedUpload(400, { detail: "Invalid license key" }),
      },
      "a track that is too long": {
        kind: "invalid_input",
        script: refused(400, { detail: "too long", code: "max_duration" }),
      },
      "a file that is too large": {
        kind: "invalid_input",
        script: refusedUpload(400, { detail: "too large", code: "exceeded_size" }),
      },
      "an error of its own": {
        kind: "outcome_unknown",
        script: refused(400, { detail: "oops", code: "internal_error" }),
      },
      "an error of its own on upload": {
        kind: "unavailable",
        script: refusedUpload(400, { detail: "oops", code: "internal_error" }),
      },
      "an upload without an id": { kind: "unavailable", script: refusedUpload(200, {}) },
    },
  },
  idempotency: { keyOf: (request) => bodyOf(request)["idempotency_key"] as string | undefined },
  callbacks: { notApplicable: "it has no callbacks" },
  lookup: { notApplicable: "tasks are found by their id alone" },
  cancel: {
    route: CANCEL,
    cancels: (fake) => void fake.on(CANCEL.method, CANCEL.path, checked({ status: "success" })),
    tooLate: (fake) => {
      const late = { status: "server_error", error: "Task is not in progress state" };
      fake.on(CANCEL.method, CANCEL.path, checked(late));
    },
  },
  probe: {
    route: MINUTES,
    responses: (fake) => {
      fake.on(MINUTES.method, MINUTES.path, json({ minutes_left: 87.5 }));
      return { amount: 87.5, unit: "minutes" };
    },
    refusesKey: (fake) => void fake.on(MINUTES.method, MINUTES.path, json({ detail: "no" }, { status: 400 })),
  },
  stemSplit: splits(MULTISTEM, FOUR),
  vocalRemoval: splits(SEPARATOR, { vocals: "vocals", no_vocals: "instrumental" }),
};
