import definition from "../../plugins/ace-step/index.js";
import type {
  ExpectedTracks,
  MusicProviderHarness,
  ReferenceScenario,
  Script,
} from "../contract/music-provider.contract.js";
import { bytes, type FakeResponse, type FakeApi, type FakeRequest, json, text } from "../support/provider-kit/index.js";

export const API_KEY = "key-of-the-gpu-box";
export const SUBMIT = { method: "POST", path: "/release_task" } as const;
export const QUERY = { method: "POST", path: "/query_result" } as const;
export const FILE = { method: "GET", path: "/v1/audio" } as const;
export const STATS = { method: "GET", path: "/v1/stats" } as const;
export const HEALTH = { method: "GET", path: "/health" } as const;
export const INVENTORY = { method: "GET", path: "/v1/model_inventory" } as const;
export const MODEL = "acestep-v15-turbo";

export const bodyOf = (request: FakeRequest | undefined): Record<string, unknown> =>
  (request?.json ?? {}) as Record<string, unknown>;

/** What is good stands in an envelope. */
export const enveloped = (data: unknown): FakeResponse =>
  json({ data, code: 200, error: null, timestamp: 1_790_000_000_123, extra: null });

export const refused = (status: number, detail: string): FakeResponse => json({ detail }, { status });

/** A wrong key is known by the routes that have one; `/health` is none of them. */
const keyed =
  (response: FakeResponse | ((request: FakeRequest) => FakeResponse)) =>
  (request: FakeRequest): FakeResponse => {
    if (request.headers["authorization"] !== `Bearer ${API_KEY}`) return refused(401, "Invalid API key");
    return typeof response === "function" ? response(request) : response;
  };

/** One track of a task, as it stands in `result`. */
export type Entry = Readonly<Record<string, unknown>>;

const ENTRY = { file: "", wave: "", status: 0, create_time: 1_790_000_000, env: "development" };
export const QUEUED: Entry = { ...ENTRY, prompt: "", lyrics: "", metas: {}, progress: 0, stage: "queued", error: null };
export const FAILED: Entry = { ...ENTRY, status: 2, progress: 0, stage: "failed" };
export const NO_METAS = { bpm: "N/A", duration: "N/A", genres: "N/A", keyscale: "N/A", timesignature: "N/A" };

export const running = (progress: number): Entry => ({
  ...ENTRY,
  progress,
  stage: "Generating music (batch size: 1)...",
});

export const done = (file: string, more: Entry = {}): Entry => ({
  ...ENTRY,
  file,
  status: 1,
  prompt: "warm folk",
  lyrics: "[Verse]\nRain on the tin roof",
  metas: { ...NO_METAS, bpm: 92, duration: 95, genres: "Folk, Acoustic", keyscale: "G major", timesignature: "4" },
  generation_info: "**Seed**: 771204",
  seed_value: "771204",
  lm_model: "acestep-5Hz-lm-0.6B",
  dit_model: MODEL,
  progress: 1,
  stage: "succeeded",
  ...more,
});

/** A task as the server tells of it: its tracks are JSON inside a text. */
export interface Notified {
  readonly status: number;
  readonly result: string;
  readonly progress_text?: string;
}

/** `progress_text` is the last line of the server's log, of whichever task. */
export const notified = (
  status: number,
  entries: readonly Entry[],
  progressText = "loss of another job: 0.3",
): Notified => ({
  status,
  result: JSON.stringify(entries),
  progress_text: progressText,
});

/** Of an id that the server does not know: no failure and no word for it. */
export const UNKNOWN: Notified = { status: 0, result: "[]" };

/** Answers polls by what is said of each id, the last one first; what is said of none is unknown there. */
export function tells(fake: FakeApi, of: (taskId: string) => Notified | undefined): void {
  fake.on(
    QUERY.method,
    QUERY.path,
    keyed((request) => enveloped(notificationsOf(request, of))),
  );
}

function notificationsOf(request: FakeRequest, of: (taskId: string) => Notified | undefined): unknown[] {
  const given = bodyOf(request)["task_id_list"];
  const ids = (typeof given === "string" ? JSON.parse(given) : given) as string[];
  return ids.map((id) => ({ task_id: id, ...(of(id) ?? UNKNOWN) })).reverse();
}

export const says =
  (...response: Parameters<typeof notified>): Script =>
  (fake) =>
    tells(fake, () => notified(...response));

export const idle = (fake: FakeApi, isIdle = true): void => {
  const jobs = { total: 7, queued: 3, running: isIdle ? 0 : 1, succeeded: 4, failed: 0 };
  const stats = { jobs, queue_size: 0, queue_maxsize: 200, avg_job_seconds: 12.5 };
  fake.on(STATS.method, STATS.path, keyed(enveloped(stats)));
};

let created = 0;

/** Takes every task, and works. */
export const accepts: Script = (fake) => {
  const accepted = (): FakeResponse =>
    enveloped({ task_id: `7b0c2a52-${(created += 1)}`, status: "queued", queue_position: 1 });
  fake.on(SUBMIT.method, SUBMIT.path, keyed(accepted));
  idle(fake, false);
};

/** Puts files on the server's disk. @returns what the server calls them, in their order */
export function store(fake: FakeApi, files: readonly Uint8Array[], contentType = "audio/flac"): string[] {
  const paths = files.map((_, index) => `/srv/ace/.cache/acestep/tmp/api_audio/3f2a9c-${index}.flac`);
  const response = (path: unknown): FakeResponse => {
    const file = files[paths.indexOf(String(path))];
    return file === undefined ? refused(404, "Audio file not found") : bytes(file, contentType);
  };
  fake.on(
    FILE.method,
    FILE.path,
    keyed(({ query }) => response(query["path"])),
  );
  return paths.map((path) => `/v1/audio?path=${encodeURIComponent(path)}`);
}

/** A FLAC file as far as its first bytes go. */
export function tinyFlac(mark: string): Uint8Array {
  return new TextEncoder().encode(`fLaC of ${mark}`);
}

function succeeds(fake: FakeApi, marks: readonly string[]): ExpectedTracks {
  const mixes = marks.map(tinyFlac);
  const files = store(fake, mixes);
  tells(fake, () =>
    notified(
      1,
      files.map((file) => done(file)),
    ),
  );
  return { mixes, tracks: marks.map(() => ({ title: null, bpm: 92, mixSeconds: null })) };
}

const completes =
  (marks: readonly string[]): Script<ExpectedTracks> =>
  async (fake) => {
    await accepts(fake);
    const expected = succeeds(fake, marks);
    const still = (entry: Entry) =>
      keyed((request: FakeRequest) => enveloped(notificationsOf(request, () => notified(0, [entry]))));
    fake.once(QUERY.method, QUERY.path, still(QUEUED), still(running(0.34)), still(running(0.62)));
    return expected;
  };

const refuses =
  (response: FakeResponse): Script =>
  (fake) =>
    void fake.on(SUBMIT.method, SUBMIT.path, response);

const asked =
  (response: FakeResponse): Script =>
  (fake) =>
    void fake.on(QUERY.method, QUERY.path, response);

export const HEALTHY = {
  status: "ok",
  service: "ACE-Step API",
  version: "1.0",
  models_initialized: true,
  llm_initialized: true,
  loaded_model: MODEL,
  loaded_lm_model: "acestep-5Hz-lm-0.6B",
};

export const STOCK = {
  models: [
    { name: MODEL, is_default: true, is_loaded: true, supported_task_types: ["text2music"] },
    { name: "acestep-v15-base", is_default: false, is_loaded: false, supported_task_types: ["text2music", "extract"] },
  ],
  default_model: MODEL,
  lm_models: [{ name: "acestep-5Hz-lm-0.6B", is_loaded: true }],
  loaded_lm_model: "acestep-5Hz-lm-0.6B",
  llm_initialized: true,
};

/** A server that is up. */
export function up(fake: FakeApi, health: object = HEALTHY, stock: object = STOCK): void {
  fake.on(HEALTH.method, HEALTH.path, enveloped(health));
  fake.on(INVENTORY.method, INVENTORY.path, keyed(enveloped(stock)));
}

/** A form has numbers as text; without a form there are none. */
const numberOf = (requests: readonly FakeRequest[], name: string): number | undefined => {
  const value = requests.find(({ path }) => path === SUBMIT.path)?.field(name);
  return typeof value === "string" ? Number(value) : undefined;
};

/** A task with the track in it, as a file. */
const withTrack: Pick<ReferenceScenario, "submit" | "completes" | "receivedSource" | "sent"> = {
  submit: SUBMIT,
  completes: completes(["one"]),
  receivedSource: (requests, { bytes: track }) => {
    const file = requests.find(({ path }) => path === SUBMIT.path)?.field("src_audio");
    return file !== undefined && typeof file !== "string" && Buffer.from(track).equals(file.bytes);
  },
  sent: (requests) => ({
    from: numberOf(requests, "repainting_start"),
    to: numberOf(requests, "repainting_end"),
    strength: numberOf(requests, "audio_cover_strength"),
  }),
};

export const aceStep: MusicProviderHarness = {
  definition,
  settings: (fake) => ({ apiKey: API_KEY, baseUrl: fake.url }),
  generation: { submit: SUBMIT, completes: completes(["one"]), severalTracks: completes(["one", "two"]) },
  options: {
    sent: (requests) => {
      const { seed, use_random_seed: isRandom, bpm, key_scale: key, vocal_language: language } = bodyOf(requests[0]);
      return { seed: isRandom === false ? seed : undefined, bpm, key, language };
    },
  },
  references: { extend: withTrack, cover: withTrack, inpaint: withTrack },
  work: {
    status: QUERY,
    accepts,
    running: says(0, [running(0.62)]),
    succeeds: (fake) => succeeds(fake, ["one", "two"]),
    fails: [says(2, [FAILED]), says(2, [{ ...FAILED, error: "checkpoint not found" }]), says(2, [])],
    rejectsContent: { notApplicable: "there is no moderation" },
    cancelled: { notApplicable: "nothing can be cancelled" },
    timesOut: says(2, [running(0.62)], ""),
    gone: (fake) => tells(fake, () => UNKNOWN),
    expiredLink: { notApplicable: "a file that is gone answers the download, not the poll" },
    succeedsEmpty: says(1, [done("")]),
    partlyReady: { notApplicable: "the tracks of a task are ready together" },
    others: {
      "a success without entries": { kind: "failed", script: says(1, []) },
      "the path of the other server in place of a file": {
        kind: "failed",
        script: says(1, [done("/srv/ace/one.flac")]),
      },
      "a result that is no JSON": {
        kind: "unavailable",
        script: (fake) => tells(fake, () => ({ status: 1, result: "[{" })),
      },
      "an unknown status": { kind: "unavailable", script: says(3, [running(0.5)]) },
      "a response without the task": { kind: "unavailable", script: asked(enveloped([])) },
      "a poll that it cannot read": {
        kind: "unavailable",
        script: asked(text("Internal Server Error", { status: 500 })),
      },
      "a route that is not there": { kind: "unavailable", script: asked(refused(404, "Not Found")) },
    },
  },
  refusals: {
    content: { notApplicable: "there is no moderation" },
    rateLimit: {
      script: (fake) => {
        idle(fake, false);
        fake.on(SUBMIT.method, SUBMIT.path, refused(429, "Server busy: queue is full"));
      },
      retryAfterMs: 37_500,
    },
    key: refuses(refused(401, "Invalid API key")),
    credit: { notApplicable: "nothing is billed" },
    unavailable: refuses(text("upstream is away", { status: 503 })),
    input: refuses(refused(400, "path traversal in src_audio_path is not allowed")),
    retiredModel: { notApplicable: "in place of a model that it has not got, the server runs its primary one" },
    errorWith200: { notApplicable: "only routes that are not used say 200 to errors" },
    others: {
      "a value that its request model refuses": {
        kind: "invalid_input",
        script: refuses(text("Internal Server Error", { status: 500 })),
      },
      "a page of status 500": { kind: "outcome_unknown", script: refuses({ status: 500, body: "<html>" }) },
      "a gateway that waited in vain": { kind: "outcome_unknown", script: refuses(text("timeout", { status: 504 })) },
      "another server": { kind: "misconfigured", script: refuses(refused(405, "Method Not Allowed")) },
      "a body that it does not read": { kind: "invalid_input", script: refuses(refused(415, "Unsupported")) },
    },
  },
  idempotency: { notApplicable: "there is no key of idempotency" },
  callbacks: { notApplicable: "it has no callbacks" },
  lookup: { notApplicable: "tasks are found by their id alone" },
  cancel: { notApplicable: "there is no route for it" },
  probe: {
    route: INVENTORY,
    responses: (fake) => {
      up(fake);
      return null;
    },
    // Green, whatever the key.
    refusesKey: (fake) => {
      up(fake);
      fake.on(INVENTORY.method, INVENTORY.path, refused(401, "Invalid API key"));
    },
  },
  stemSplit: { notApplicable: "its stems are created again" },
  vocalRemoval: { notApplicable: "it makes no instrumental of a song" },
};
