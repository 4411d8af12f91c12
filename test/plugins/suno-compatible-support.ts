import { createHmac } from "node:crypto";
import definition from "../../plugins/suno-compatible/index.js";
import type {
  ExpectedStems,
  ExpectedTracks,
  MusicProviderHarness,
  Script,
  SplitScenarios,
} from "../contract/music-provider.contract.js";
import { type FakeApi, type FakeRequest, json, tinyMp3, tinyPng } from "../support/provider-kit/index.js";

export const GENERATE = { method: "POST", path: "/api/v1/generate" } as const;
export const EXTEND = { method: "POST", path: "/api/v1/generate/extend" } as const;
export const UPLOAD_EXTEND = { method: "POST", path: "/api/v1/generate/upload-extend" } as const;
export const UPLOAD_COVER = { method: "POST", path: "/api/v1/generate/upload-cover" } as const;
export const RECORD = { method: "GET", path: "/api/v1/generate/record-info" } as const;
export const SPLIT = { method: "POST", path: "/api/v1/vocal-removal/generate" } as const;
export const SPLIT_RECORD = { method: "GET", path: "/api/v1/vocal-removal/record-info" } as const;
export const CREDIT = { method: "GET", path: "/api/v1/generate/credit" } as const;
export const KIE_CREDIT = { method: "GET", path: "/api/v1/chat/credit" } as const;

export const API_KEY = "key-of-the-vendor";
export const WEBHOOK_KEY = "key-of-callbacks";

/** What every answer is wrapped in. */
export const envelope = (data: unknown, code = 200, msg = "success"): ReturnType<typeof json> =>
  json({ code, msg, data });

let created = 0;
const accepts: Script = (fake) => {
  for (const { method, path } of [GENERATE, EXTEND, UPLOAD_EXTEND, UPLOAD_COVER, SPLIT])
    fake.on(method, path, () => envelope({ taskId: `t${(created += 1)}` }));
};

export const status = (record: object): Script => {
  return (fake) =>
    void fake.on(RECORD.method, RECORD.path, ({ query }) => envelope({ taskId: query["taskId"], ...record }));
};

/** A track as a poll shows it. */
export function aTrack(fake: FakeApi, mix: Uint8Array, number: number): object {
  return {
    id: `a${number}`,
    audioUrl: fake.file(mix, "audio/mpeg", `a${number}.mp3`),
    streamAudioUrl: `${fake.url}/stream/a${number}`,
    imageUrl: fake.file(tinyPng(), "image/png", `a${number}.png`),
    prompt: "[Verse]\nPaper boats",
    modelName: "chirp",
    title: `Boats ${number}`,
    tags: "Dream Pop, calm, female vocal",
    createTime: "2026-11-21 06:30:00",
    duration: 198.4,
  };
}

function succeeds(fake: FakeApi, word = "SUCCESS"): ExpectedTracks {
  const mixes = [tinyMp3("one"), tinyMp3("two")];
  const sunoData = mixes.map((mix, index) => aTrack(fake, mix, index + 1));
  void status({ status: word, response: { sunoData }, errorCode: null, errorMessage: null })(fake);
  return { mixes, tracks: [1, 2].map((number) => ({ title: `Boats ${number}`, bpm: null, mixSeconds: 198.4 })) };
}

const completes: Script<ExpectedTracks> = async (fake) => {
  await accepts(fake);
  const expected = succeeds(fake);
  fake.once(RECORD.method, RECORD.path, envelope({ taskId: "t", status: "PENDING", response: null }));
  return expected;
};

const failed = (word: string, errorCode: number | null, errorMessage = "no"): Script =>
  status({ status: word, response: null, errorCode, errorMessage });

const answered =
  (code: number): Script =>
  (fake) =>
    void fake.on(RECORD.method, RECORD.path, envelope(null, code, `code ${code}`));
const refused =
  (code: number): Script =>
  (fake) =>
    void fake.on(GENERATE.method, GENERATE.path, envelope(null, code, `code ${code}`));

function splits(names: Readonly<Record<string, string>>, type: string): SplitScenarios {
  return {
    submit: SPLIT,
    completes: async (fake): Promise<ExpectedStems> => {
      await accepts(fake);
      const files = Object.entries(names).map(([name, label]) => ({ name, label, stem: tinyMp3(label) }));
      const links = Object.fromEntries(files.map(({ name, stem }) => [name, fake.file(stem)]));
      const response = { originUrl: fake.file(tinyMp3("whole")), fxUrl: null, brassUrl: "", ...links };
      fake.on(SPLIT_RECORD.method, SPLIT_RECORD.path, envelope({ taskId: "t", successFlag: "SUCCESS", response }));
      fake.once(
        SPLIT_RECORD.method,
        SPLIT_RECORD.path,
        envelope({ taskId: "t", successFlag: "PENDING", response: null }),
      );
      return { stems: Object.fromEntries(files.map(({ label, stem }) => [label, stem])) };
    },
    source: { reference: { dialect: "sunoapi.org", taskId: "t77", audioId: "a1" } },
    receivedSource: (requests) =>
      requests.some(({ path, json: body }) => {
        const { taskId, audioId, type: sentType } = (body ?? {}) as Record<string, unknown>;
        return path === SPLIT.path && taskId === "t77" && audioId === "a1" && sentType === type;
      }),
  };
}

const bodyOf = (requests: readonly FakeRequest[]): Record<string, unknown> =>
  (requests.find(({ method }) => method === "POST")?.json ?? {}) as Record<string, unknown>;

/** How a vendor is asked to work from tracks, its own ones by their ids. */
function referencesOf(dialect: string): MusicProviderHarness["references"] {
  const own = { dialect, taskId: "t77", audioId: "a1", model: "V6", submittedAt: Date.now() };
  const strengthIn = (requests: readonly FakeRequest[]): number | undefined =>
    bodyOf(requests)["audioWeight"] as number | undefined;
  return {
    extend: {
      submit: UPLOAD_EXTEND,
      completes,
      own,
      // It takes no duration.
      request: { durationSeconds: null },
      receivedSource: (requests, { url, reference }) => {
        const { uploadUrl, audioId } = bodyOf(requests);
        return reference === null ? uploadUrl === url : audioId === reference["audioId"];
      },
      sent: (requests) => ({
        from: bodyOf(requests)["continueAt"] as number | undefined,
        strength: strengthIn(requests),
      }),
    },
    cover: {
      submit: UPLOAD_COVER,
      completes,
      own,
      receivedSource: (requests, { url }) => bodyOf(requests)["uploadUrl"] === url,
      sent: (requests) => ({ strength: strengthIn(requests) }),
    },
  };
}

const GENDERS: Readonly<Record<string, string>> = { f: "female", m: "male" };

/** The vendor whose callbacks are unsigned. */
export const sunoapi: MusicProviderHarness = {
  definition,
  settings: (fake) => ({ apiKey: API_KEY, baseUrl: fake.url, dialect: "sunoapi.org" }),
  options: {
    sent: (requests) => {
      const { negativeTags, vocalGender } = bodyOf(requests);
      return { negative_prompt: negativeTags, vocal_gender: GENDERS[String(vocalGender)] };
    },
    requestFor: () => ({ lyrics: "[Verse]\nPaper boats", instrumental: false }),
  },
  references: referencesOf("sunoapi.org"),
  generation: { submit: GENERATE, completes, severalTracks: completes },
  work: {
    status: RECORD,
    accepts,
    running: status({ status: "TEXT_SUCCESS" }),
    succeeds: (fake) => succeeds(fake),
    fails: [
      failed("CREATE_TASK_FAILED", 500),
      failed("GENERATE_AUDIO_FAILED", 501),
      failed("GENERATE_AUDIO_FAILED", null),
    ],
    rejectsContent: failed("SENSITIVE_WORD_ERROR", 400, "blocked words"),
    cancelled: { notApplicable: "nothing can be cancelled there" },
    timesOut: failed("GENERATE_AUDIO_FAILED", 408),
    gone: answered(404),
    expiredLink: { notApplicable: "a link that died answers the download, not the poll" },
    succeedsEmpty: status({ status: "SUCCESS", response: { sunoData: [] } }),
    partlyReady: (fake) =>
      status({
        status: "FIRST_SUCCESS",
        response: { sunoData: [aTrack(fake, tinyMp3("one"), 1), { id: "a2", audioUrl: "" }] },
      })(fake),
    others: {
      "lyrics under copyright": { kind: "content_rejected", script: failed("GENERATE_AUDIO_FAILED", 400) },
      "audio that matches a work": { kind: "content_rejected", script: failed("CREATE_TASK_FAILED", 413) },
      "a failure whose credits it gave back": { kind: "failed", script: failed("GENERATE_AUDIO_FAILED", 531) },
      "a success without links": {
        kind: "failed",
        script: status({ status: "SUCCESS", response: { sunoData: [{ id: "a1", audioUrl: null }] } }),
      },
      "a code 500": { kind: "unavailable", script: answered(500) },
      "a code that is not explained": { kind: "unavailable", script: answered(409) },
      "a code of wrong parameters": { kind: "unavailable", script: answered(400) },
      "a response without data": { kind: "unavailable", script: answered(200) },
      "a 404 without a code": {
        kind: "unavailable",
        script: (fake) => void fake.on(RECORD.method, RECORD.path, json({ error: "no" }, { status: 404 })),
      },
    },
  },
  refusals: {
    content: { notApplicable: "words are looked at when the work has begun" },
    rateLimit: refused(430),
    key: refused(401),
    credit: refused(429),
    unavailable: refused(455),
    input: refused(400),
    errorWith200: { kind: "out_of_credit", script: refused(429) },
    others: {
      "a call limit": { kind: "rate_limited", script: refused(405) },
      "a prompt that is too long": { kind: "invalid_input", script: refused(413) },
      "a path that is not there": { kind: "model_unavailable", script: refused(404) },
      "an error of the server": { kind: "outcome_unknown", script: refused(500) },
      "an unknown code": { kind: "outcome_unknown", script: refused(201) },
      "a source that it could not fetch": { kind: "invalid_input", script: refused(451) },
      "a generation that failed at once": { kind: "unavailable", script: refused(501) },
      "a failure whose credits it gave back": { kind: "unavailable", script: refused(531) },
    },
  },
  idempotency: { notApplicable: "there is no key of idempotency" },
  callbacks: {
    stages: ["running", "succeeded", "failed"],
    send: (stage, { handle }) => ({ body: callbackBody(stage, String(handle.data["taskId"])) }),
    signature: { notApplicable: "sunoapi.org documents none" },
  },
  lookup: { notApplicable: "tasks are found by their id alone" },
  cancel: { notApplicable: "nothing can be cancelled there" },
  probe: probeOf(CREDIT),
  stemSplit: splits(
    {
      vocalUrl: "vocals",
      backingVocalsUrl: "backing_vocals",
      drumsUrl: "drums",
      keyboardUrl: "keyboard",
      pianoUrl: "piano",
    },
    "split_stem",
  ),
  vocalRemoval: splits({ vocalUrl: "vocals", instrumentalUrl: "instrumental" }, "separate_vocal"),
};

/** The vendor that signs the task and the time. */
export const kie: MusicProviderHarness = {
  ...sunoapi,
  settings: (fake) => ({ apiKey: API_KEY, baseUrl: fake.url, dialect: "kie.ai", webhookKey: WEBHOOK_KEY }),
  models: definition.models.filter((model) => definition.offersModel?.(model, { dialect: "kie.ai" })),
  references: referencesOf("kie.ai"),
  probe: probeOf(KIE_CREDIT),
  refusals: {
    content: { notApplicable: "words are looked at when the work has begun" },
    rateLimit: refused(429),
    key: refused(401),
    // The balance, and a key that has used up its own limit.
    credit: [refused(402), refused(433)],
    unavailable: refused(455),
    input: refused(422),
    errorWith200: { kind: "rate_limited", script: refused(429) },
    others: {
      "a source that it could not fetch": { kind: "invalid_input", script: refused(451) },
      "a generation that failed at once": { kind: "unavailable", script: refused(501) },
      "a feature that is switched off": { kind: "unavailable", script: refused(505) },
      "a path that is not there": { kind: "model_unavailable", script: refused(404) },
      "an error of the server": { kind: "outcome_unknown", script: refused(500) },
    },
  },
  callbacks: {
    stages: ["running", "succeeded", "failed"],
    send: (stage, { handle, at }) => {
      const [taskId, sentAt] = [String(handle.data["taskId"]), String(Math.floor(at / 1_000))];
      const signature = createHmac("sha256", WEBHOOK_KEY).update(`${taskId}.${sentAt}`).digest("base64");
      return {
        headers: { "X-Webhook-Timestamp": sentAt, "x-webhook-signature": signature },
        body: callbackBody(stage, taskId),
      };
    },
    signature: { header: "x-webhook-signature", coversBody: false, toleranceMs: 300_000 },
  },
  stemSplit: fromKie(sunoapi.stemSplit as SplitScenarios),
  vocalRemoval: fromKie(sunoapi.vocalRemoval as SplitScenarios),
};

function probeOf(route: typeof CREDIT | typeof KIE_CREDIT): MusicProviderHarness["probe"] {
  return {
    route,
    responses: (fake) => {
      fake.on(route.method, route.path, envelope(73));
      return { amount: 73, unit: "credits" };
    },
    refusesKey: (fake) => void fake.on(route.method, route.path, envelope(null, 401, "no access")),
  };
}

function fromKie(scenarios: SplitScenarios): SplitScenarios {
  return { ...scenarios, source: { reference: { dialect: "kie.ai", taskId: "t77", audioId: "a1" } } };
}

/** As they send it: snake_case, unlike a poll. */
function callbackBody(stage: "running" | "succeeded" | "failed", taskId: string): string {
  const callbackType = { running: "first", succeeded: "complete", failed: "error" }[stage];
  const data = stage === "failed" ? null : [{ id: "a1", audio_url: "https://cdn.example/a1.mp3", model_name: "chirp" }];
  return JSON.stringify({
    code: stage === "failed" ? 501 : 200,
    msg: "",
    data: { callbackType, task_id: taskId, data },
  });
}
