import definition from "../../plugins/musicai/index.js";
import type { ExpectedStems, MusicProviderHarness, Script } from "../contract/music-provider.contract.js";
import { type FakeRequest, json, tinyMp3 } from "../support/provider-kit/index.js";

export const KEY = "key-of-the-application";
export const SUBMIT = { method: "POST", path: "/v1/job" } as const;
const STATUS = { method: "GET", path: "/v1/job/:id" } as const;
export const LIST = { method: "GET", path: "/v1/job" } as const;
export const UPLOAD = { method: "PUT", path: "/storage/moises/939b" } as const;

let created = 0;
export const accepts: Script = (fake) => {
  const [uploadUrl, downloadUrl] = ["X96cb5", "SSScb5"].map(
    (signature) => `${fake.url}${UPLOAD.path}?signature=${signature}`,
  );
  fake.on("GET", "/v1/upload", json({ uploadUrl, downloadUrl }));
  fake.on("PUT", UPLOAD.path, { status: 200 });
  fake.on("POST", SUBMIT.path, () =>
    json({ id: `27803abe-0000-4000-8000-${String((created += 1)).padStart(12, "0")}` }),
  );
};

/** The job, as the status call answers it. */
export const job = (parts: object): Script => {
  return (fake) =>
    void fake.on("GET", STATUS.path, ({ params }) => json({ id: params["id"], metadata: {}, result: {}, ...parts }));
};

export const failed = (code: string): Script =>
  job({ status: "FAILED", error: { code, title: "It went wrong", message: "file is not audio" } });

const succeeds =
  (labels: Readonly<Record<string, string>>): Script<ExpectedStems> =>
  async (fake) => {
    const stems = Object.fromEntries(Object.values(labels).map((label) => [label, tinyMp3(label)]));
    const result = Object.fromEntries(
      Object.entries(labels).map(([name, label]) => [name, fake.file(stems[label] ?? new Uint8Array())]),
    );
    await job({ status: "SUCCEEDED", result })(fake);
    return { stems };
  };

const completes =
  (labels: Readonly<Record<string, string>>): Script<ExpectedStems> =>
  async (fake) => {
    await accepts(fake);
    fake.once("GET", STATUS.path, json({ id: "j", status: "STARTED" }));
    return succeeds(labels)(fake);
  };

export const refused =
  (status: number, headers: Record<string, string> = {}): Script =>
  async (fake) => {
    await accepts(fake);
    fake.on("POST", SUBMIT.path, json({ code: "SOME_CODE", title: "No", message: "not that" }, { status, headers }));
  };

/** The bytes were put where the job reads them. */
const receivedSource = (requests: readonly FakeRequest[]): boolean =>
  requests.some(({ method, body }) => method === "PUT" && body.equals(Buffer.from(tinyMp3("to be split")))) &&
  requests.some((request) => inputOf(request).endsWith(`${UPLOAD.path}?signature=SSScb5`));

function inputOf(request: FakeRequest): string {
  const { params } = (request.json ?? {}) as { readonly params?: { readonly inputUrl?: string } };
  return params?.inputUrl ?? "";
}

const STEMS = {
  Vocals: "vocals",
  drums: "drums",
  bass: "bass",
  "lead guitar": "lead guitar",
  "keys/piano": "keys_piano",
};

export const musicAiHarness: MusicProviderHarness = {
  definition,
  settings: (fake) => ({ apiKey: KEY, baseUrl: `${fake.url}/v1`, stemSplitWorkflow: "acme/stems" }),
  generation: { notApplicable: "it splits tracks" },
  work: {
    status: STATUS,
    accepts,
    running: job({ status: "QUEUED" }),
    succeeds: succeeds(STEMS),
    fails: [failed("INTERNAL_ERROR"), job({ status: "FAILED", error: null })],
    rejectsContent: { notApplicable: "it has no such code" },
    cancelled: { notApplicable: "jobs cannot be cancelled" },
    timesOut: failed("TIMEOUT"),
    gone: (fake) => void fake.on("GET", STATUS.path, json({ code: "NOT_FOUND", title: "Not found" }, { status: 404 })),
    expiredLink: { notApplicable: "it does not tell how long its URLs live" },
    succeedsEmpty: job({ status: "SUCCEEDED", result: {} }),
    partlyReady: { notApplicable: "the result is there whole, or not at all" },
    others: {
      "a track that it cannot read": { kind: "invalid_input", script: failed("BAD_INPUT") },
      "a result without files": {
        kind: "failed",
        script: job({ status: "SUCCEEDED", result: { bpm: 120, key: "C" } }),
      },
      "an unknown status": { kind: "unavailable", script: job({ status: "PONDERING" }) },
    },
  },
  refusals: {
    content: { notApplicable: "it has no such code" },
    rateLimit: { script: refused(429, { "retry-after": "8" }), retryAfterMs: 8_000 },
    key: refused(401),
    credit: refused(402),
    unavailable: refused(503),
    input: refused(422),
    errorWith200: { notApplicable: "its errors have their status" },
    others: {
      "a workflow that is not there": { kind: "model_unavailable", script: refused(404) },
      "a body that it does not take": { kind: "invalid_input", script: refused(400) },
      "an upload that is refused": {
        kind: "unavailable",
        script: async (fake) => {
          await accepts(fake);
          fake.on("PUT", UPLOAD.path, { status: 403, body: "SignatureDoesNotMatch" });
        },
      },
      "no URLs to upload to": {
        kind: "unavailable",
        script: async (fake) => {
          await accepts(fake);
          fake.on("GET", "/v1/upload", json({ uploadUrl: "somewhere" }));
        },
      },
    },
  },
  idempotency: { notApplicable: "it takes no key" },
  callbacks: { notApplicable: "it has no callbacks" },
  lookup: {
    route: LIST,
    found: (fake, attemptId) => {
      const other = { id: "other", status: "FAILED", metadata: { ref: "att_other" } };
      const lost = { id: "lost", status: "STARTED", metadata: { ref: attemptId, operation: "stem_split" } };
      fake.on("GET", LIST.path, ({ query }) =>
        json(query["page"] === "0" ? [other] : query["page"] === "1" ? [other, lost] : []),
      );
      return void succeeds(STEMS)(fake);
    },
    absent: (fake) =>
      void fake.on("GET", LIST.path, ({ query }) =>
        json(query["page"] === "0" ? [{ id: "other", status: "FAILED", metadata: null }] : []),
      ),
  },
  cancel: { notApplicable: "jobs cannot be cancelled" },
  probe: {
    route: { method: "GET", path: "/v1/application" },
    responses: (fake) => {
      fake.on("GET", "/v1/application", json({ id: "app", name: "Fermata" }));
      return null;
    },
    refusesKey: (fake) => void fake.on("GET", "/v1/application", json({ code: "UNAUTHORIZED" }, { status: 401 })),
  },
  stemSplit: { submit: SUBMIT, completes: completes(STEMS), receivedSource },
  vocalRemoval: {
    submit: SUBMIT,
    completes: completes({ vocals: "vocals", accompaniment: "instrumental" }),
    receivedSource,
  },
};
