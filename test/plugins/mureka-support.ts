import definition from "../../plugins/mureka/index.js";
import type {
  ExpectedTracks,
  MusicProviderHarness,
  ReferenceScenario,
  Script,
  SplitScenarios,
} from "../contract/music-provider.contract.js";
import {
  type FakeApi,
  type FakeRequest,
  json,
  type Route,
  tinyMp3,
  tinyWav,
  tinyZip,
} from "../support/provider-kit/index.js";

export const API_KEY = "key-of-the-platform";
export const SONG = { method: "POST", path: "/v1/song/generate" } as const;
export const EASY = { method: "POST", path: "/v1/song/easy-generate" } as const;
export const INSTRUMENTAL = { method: "POST", path: "/v1/instrumental/generate" } as const;
export const QUERY = { method: "GET", path: "/v1/song/query/:id" } as const;
export const EXTEND = { method: "POST", path: "/v1/song/extend" } as const;
export const REMIX = { method: "POST", path: "/v1/song/remix" } as const;
export const UPLOAD = { method: "POST", path: "/v1/files/upload" } as const;
export const STEM = { method: "POST", path: "/v1/song/stem" } as const;
export const BILLING = { method: "GET", path: "/v1/account/billing" } as const;

export const bodyOf = (request: FakeRequest | undefined): Record<string, unknown> =>
  (request?.json ?? {}) as Record<string, unknown>;

/** The account as they show it: amounts in cents. */
export const billing = (balance: number, limit: number): object => ({
  account_id: 435_134,
  balance,
  total_recharge: 3_000,
  total_spending: 3_000 - balance,
  concurrent_request_limit: limit,
});

let created = 435_134;
export const accepts: Script = (fake) => {
  for (const { method, path } of [SONG, EASY, INSTRUMENTAL, EXTEND, REMIX]) {
    fake.on(method, path, () =>
      json({ id: String((created += 1)), created_at: 1_790_000_000, model: "mureka-9", status: "preparing" }),
    );
  }
  fake.on(UPLOAD.method, UPLOAD.path, (request) => {
    const [purpose, file] = [request.field("purpose"), request.field("file")];
    const { filename, bytes } = typeof file === "object" ? file : { filename: "", bytes: [] };
    const id = `file-${typeof purpose === "string" ? purpose : ""}`;
    return json({ id, filename, bytes: bytes.length, created_at: 1_790_000_000, purpose });
  });
};

export const says =
  (task: object): Script =>
  (fake) =>
    void fake.on(QUERY.method, QUERY.path, ({ params }) => json({ id: params["id"], ...task }));

/** A choice as they show it: its length in milliseconds. */
export function aChoice(fake: FakeApi, mix: Uint8Array, index: number): object {
  const wav = fake.file(tinyWav(440 + index), "audio/wav");
  const sections = [{ section_type: "verse", start: 0, end: 30_000, lines: [] }];
  return {
    index,
    id: `s${index}`,
    url: fake.file(mix),
    flac_url: "",
    wav_url: wav,
    duration: 182_000,
    lyrics_sections: sections,
  };
}

function succeeds(fake: FakeApi, marks: readonly string[]): ExpectedTracks {
  const mixes = marks.map((mark) => tinyMp3(mark));
  // They come in any order; `index` counts.
  const choices = mixes.map((mix, index) => aChoice(fake, mix, index)).reverse();
  void says({ status: "succeeded", finished_at: 1_790_000_080, choices })(fake);
  return { mixes, tracks: mixes.map(() => ({ title: null, bpm: null, mixSeconds: 182 })) };
}

const completes =
  (marks: readonly string[]): Script<ExpectedTracks> =>
  async (fake) => {
    await accepts(fake);
    const expected = succeeds(fake, marks);
    fake.once(QUERY.method, QUERY.path, json({ id: "1", status: "queued" }));
    return expected;
  };

const refused =
  (status: number, body: object = {}, headers: Record<string, string> = {}): Script =>
  (fake) =>
    void fake.on(SONG.method, SONG.path, json(body, { status, headers }));

/** What the plugin leaves with a song of today. */
const OWN = { songId: "s1", madeAt: Date.now() };

/** Whether the track came over, by its id or as an upload for this purpose. */
const received =
  (route: Route, purpose: string): ReferenceScenario["receivedSource"] =>
  (requests, { bytes, reference }) => {
    const call = bodyOf(requests.find(({ path }) => path === route.path));
    if (reference !== null) return call["song_id"] === reference["songId"];
    const upload = requests.find(({ path }) => path === UPLOAD.path);
    const file = upload?.field("file");
    const isWhole = typeof file === "object" && Buffer.compare(file.bytes, bytes) === 0;
    return isWhole && upload?.field("purpose") === purpose && call["upload_audio_id"] === `file-${purpose}`;
  };

/** Where an extension is asked to begin; its greatest number is the end of any track. */
const extendAt = (requests: readonly FakeRequest[]): number | undefined => {
  const at = bodyOf(requests.find(({ path }) => path === EXTEND.path))["extend_at"];
  return typeof at === "number" && at < 420_000 ? at / 1_000 : undefined;
};

const references: MusicProviderHarness["references"] = {
  extend: {
    submit: EXTEND,
    completes: completes(["one", "two"]),
    own: OWN,
    receivedSource: received(EXTEND, "audio"),
    sent: (requests) => ({ from: extendAt(requests) }),
  },
  cover: { submit: REMIX, completes: completes(["one"]), own: OWN, receivedSource: received(REMIX, "remix") },
};

export const mureka: MusicProviderHarness = {
  definition,
  settings: (fake) => ({ apiKey: API_KEY, baseUrl: fake.url }),
  options: {
    sent: (requests) => ({ vocal_gender: bodyOf(requests.find(({ path }) => path === SONG.path))["gender"] }),
    requestFor: () => ({ lyrics: "[Verse]\nPaper boats", instrumental: false }),
  },
  references,
  generation: { submit: SONG, completes: completes(["one"]), severalTracks: completes(["one", "two", "three"]) },
  work: {
    status: QUERY,
    accepts,
    running: says({ status: "running" }),
    succeeds: (fake) => succeeds(fake, ["one", "two"]),
    fails: [says({ status: "failed", failed_reason: "internal error" }), says({ status: "failed" })],
    rejectsContent: says({ status: "failed", failed_reason: "The lyrics contain sensitive words" }),
    cancelled: says({ status: "cancelled" }),
    timesOut: says({ status: "timeouted" }),
    gone: (fake) =>
      void fake.on(QUERY.method, QUERY.path, json({ error: { message: "no such task" } }, { status: 404 })),
    expiredLink: { notApplicable: "a link that died answers the download, not the query" },
    succeedsEmpty: says({ status: "succeeded", choices: [] }),
    partlyReady: says({
      status: "streaming",
      choices: [{ index: 0, id: "s0", stream_url: "https://cdn.mureka.ai/s0" }],
    }),
    others: {
      "choices without files": {
        kind: "failed",
        script: says({ status: "succeeded", choices: [{ index: 0, id: "s0", url: "" }] }),
      },
      "a question that is refused": {
        kind: "unavailable",
        script: (fake) => void fake.on(QUERY.method, QUERY.path, json({ message: "no" }, { status: 400 })),
      },
      "an error of the server": {
        kind: "unavailable",
        script: (fake) => void fake.on(QUERY.method, QUERY.path, json({ message: "no" }, { status: 500 })),
      },
    },
  },
  refusals: {
    content: refused(451, { error: { message: "The request parameters did not pass the security review" } }),
    rateLimit: {
      script: refused(429, { error: { message: "Rate limit reached for requests" } }, { "retry-after": "4" }),
      retryAfterMs: 4_000,
    },
    key: refused(401, { error: { message: "Invalid key" } }),
    credit: [
      refused(429, { error: { message: "You exceeded your current quota, please check your billing details" } }),
      refused(429, { message: "Quota exceeded" }),
    ],
    unavailable: refused(503, { error: { message: "overloaded" } }),
    input: refused(400, { error: { message: "Invalid request" } }),
    errorWith200: { notApplicable: "errors have a status of their own" },
    others: {
      "a region that it does not serve": { kind: "misconfigured", script: refused(403) },
      "a rate limit without words": { kind: "rate_limited", script: refused(429) },
      "an error of the server": { kind: "outcome_unknown", script: refused(500) },
    },
  },
  idempotency: { notApplicable: "there is no key of idempotency" },
  callbacks: { notApplicable: "it has no callbacks" },
  lookup: { notApplicable: "tasks are found by their id alone" },
  cancel: { notApplicable: "there is no route for it" },
  probe: {
    route: BILLING,
    responses: (fake) => {
      fake.on(BILLING.method, BILLING.path, json(billing(2_950, 5)));
      return { amount: 2_950, unit: "cents" };
    },
    refusesKey: (fake) => void fake.on(BILLING.method, BILLING.path, json({}, { status: 401 })),
  },
  stemSplit: { notApplicable: "the names of the files in its ZIP are not documented: the operator gives them" },
  vocalRemoval: { notApplicable: "the names of the files in its ZIP are not documented: the operator gives them" },
};

export const STEM_FILES = '{"vocals":"vocals.mp3","drums":"drums.mp3","instrumental":"backing.mp3"}';

function splits(labels: readonly string[]): SplitScenarios {
  return {
    submit: STEM,
    completes: (fake) => {
      const [vocals, drums, instrumental] = [tinyMp3("vocals"), tinyMp3("drums"), tinyMp3("instrumental")];
      const zip = tinyZip({
        "vocals.mp3": vocals,
        "drums.mp3": drums,
        "backing.mp3": instrumental,
        "notes.txt": new Uint8Array([1]),
      });
      fake.on(STEM.method, STEM.path, json({ zip_url: fake.file(zip, "application/zip"), expires_at: 1_790_086_400 }));
      const all: Readonly<Record<string, Uint8Array>> = { vocals, drums, instrumental };
      return { stems: Object.fromEntries(labels.map((label) => [label, all[label] ?? new Uint8Array()])) };
    },
    receivedSource: (requests) => {
      const inline = `data:audio/mpeg;base64,${Buffer.from(tinyMp3("to be split")).toString("base64")}`;
      return requests.some((request) => request.path === STEM.path && bodyOf(request)["url"] === inline);
    },
  };
}

/** An operator who has looked into a ZIP. */
export const murekaWithSplits: MusicProviderHarness = {
  ...mureka,
  settings: (fake) => ({ apiKey: API_KEY, baseUrl: fake.url, stemFiles: STEM_FILES }),
  stemSplit: splits(["vocals", "drums", "instrumental"]),
  vocalRemoval: splits(["vocals", "instrumental"]),
};
