import definition from "../../plugins/comfyui/index.js";
import type {
  ExpectedTracks,
  LookupScenarios,
  MusicProviderHarness,
  Script,
  SplitScenarios,
  WorkScenarios,
} from "../contract/music-provider.contract.js";
import { type FakeResponse, type FakeApi, json, text, tinyMp3 } from "../support/provider-kit/index.js";
import {
  accepts,
  acceptsOld,
  API_KEY,
  CANCEL,
  ended,
  ERROR,
  INFO,
  INSTALLED,
  INTERRUPT,
  INVALID_ID,
  JOB,
  type Json,
  NO_ROUTE,
  nodesOf,
  PROMPT,
  promptIds,
  QUEUE,
  queueOf,
  refusal,
  says,
  saysOld,
  STATS,
  STEM_OUTPUTS,
  STEM_SETTINGS,
  store,
  succeeded,
  UNKNOWN_JOB,
  UPLOAD,
} from "./comfyui-server.js";

/** Outputs of the default workflow: node 8 saves MP3, node 9 FLAC. */
function tracksIn(fake: FakeApi, marks: readonly string[]): { outputs: Json; expected: ExpectedTracks } {
  const mixes = marks.map((mark) => tinyMp3(mark));
  const masters = marks.map((mark) => new TextEncoder().encode(`fLaC of ${mark}`));
  const files = Object.fromEntries([
    ...mixes.map((file, index) => [`a_0000${index}_.mp3`, file] as const),
    ...masters.map((file, index) => [`a_0000${index}_.flac`, file] as const),
  ]);
  const named = store(fake, files);
  const outputs = { "8": { audio: named.slice(0, marks.length) }, "9": { audio: named.slice(marks.length) } };
  return { outputs, expected: { mixes, tracks: marks.map(() => ({ title: null, bpm: null, mixSeconds: null })) } };
}

const NEW_WORK: WorkScenarios = {
  status: JOB,
  accepts,
  running: says({ status: "in_progress" }),
  succeeds: async (fake) => {
    const { outputs, expected } = tracksIn(fake, ["one", "two"]);
    await says({ status: "completed", outputs })(fake);
    return expected;
  },
  fails: [
    says({ status: "failed", execution_error: ERROR }),
    says({ status: "failed" }),
    says({ status: "failed", execution_status: { messages: [["execution_error", ERROR]] } }),
  ],
  rejectsContent: { notApplicable: "there is no moderation" },
  cancelled: [
    says({ status: "cancelled" }),
    says({ status: "failed", execution_status: { messages: [["execution_interrupted", {}]] } }),
  ],
  timesOut: { notApplicable: "nothing there has a time limit" },
  gone: (fake) => void fake.on(JOB.method, JOB.path, UNKNOWN_JOB),
  expiredLink: { notApplicable: "a file that is gone answers the download, not the poll" },
  // A workflow whose every node was known already.
  succeedsEmpty: says({ status: "completed", outputs: {} }),
  partlyReady: says({ status: "in_progress", outputs: { "8": { audio: [] } } }),
  others: {
    "an unknown status": { kind: "unavailable", script: says({ status: "pondering" }) },
    "files of another node": {
      kind: "failed",
      script: says({ status: "completed", outputs: { "7": { audio: [{ filename: "a.mp3" }] } } }),
    },
  },
};

const OLD_WORK: WorkScenarios = {
  ...NEW_WORK,
  // Asked first; the history says `{}` of what it does not have.
  status: QUEUE,
  accepts: acceptsOld,
  running: saysOld(null),
  succeeds: async (fake) => {
    const { outputs, expected } = tracksIn(fake, ["one", "two"]);
    await saysOld(succeeded(outputs))(fake);
    return expected;
  },
  fails: [saysOld(ended(["execution_error", ERROR])), saysOld(ended())],
  cancelled: saysOld(ended(["execution_start", {}], ["execution_interrupted", { node_id: "6" }])),
  gone: acceptsOld,
  succeedsEmpty: saysOld(succeeded({})),
  partlyReady: saysOld(null),
  others: { "no history": { kind: "failed", script: saysOld({ prompt: [], outputs: {}, status: null }) } },
};

/** From the prompt to the tracks, by a server whose routes of jobs are there or not. */
const completes =
  (marks: readonly string[], isOld = false): Script<ExpectedTracks> =>
  async (fake) => {
    await (isOld ? acceptsOld : accepts)(fake);
    const { outputs, expected } = tracksIn(fake, marks);
    await (isOld ? saysOld(succeeded(outputs)) : says({ status: "completed", outputs }))(fake);
    if (isOld)
      fake.once(
        QUEUE.method,
        QUEUE.path,
        () => queueOf([], promptIds(fake)),
        () => queueOf(promptIds(fake)),
      );
    else fake.once(JOB.method, JOB.path, json({ status: "pending" }), json({ status: "in_progress" }));
    return expected;
  };

const refuses =
  (response: FakeResponse): Script =>
  (fake) =>
    void fake.on(PROMPT.method, PROMPT.path, response);

const prompt400 = (type: string, message: string): FakeResponse =>
  json({ error: { type, message, details: "" }, node_errors: {} }, { status: 400 });

const lookup = (isOld: boolean): LookupScenarios => ({
  route: JOB,
  found: async (fake) => void (await completes(["one"], isOld)(fake)),
  absent: async (fake) => {
    await accepts(fake);
    fake.on(JOB.method, JOB.path, isOld ? NO_ROUTE : UNKNOWN_JOB);
  },
});

const none = { notApplicable: "there is no such thing on one's own machine" } as const;

/** Of the model, in words that no caller can choose. */
const USUAL: Json = { bpm: 121, key: "of the model", language: "of the model" };

/** A server of 2026, behind a proxy that wants a key. */
export const comfyUi: MusicProviderHarness = {
  definition,
  models: definition.models.map((model) => ({ ...model, options: USUAL })),
  settings: (fake) => ({ apiKey: API_KEY, baseUrl: fake.url }),
  generation: { submit: PROMPT, completes: completes(["one"]), severalTracks: completes(["one", "two"]) },
  options: {
    // What the prompt says without being asked is none of the caller's.
    sent: (requests) => {
      const { seed, bpm, keyscale: key, language } = nodesOf(requests[0])["3"]?.inputs ?? {};
      const chosen = Object.entries({ bpm, key, language }).filter(([name, value]) => value !== USUAL[name]);
      return { ...Object.fromEntries(chosen), seed: Number(seed) > 4_294_967_295 ? undefined : seed };
    },
  },
  work: NEW_WORK,
  refusals: {
    content: { notApplicable: "there is no moderation" },
    rateLimit: {
      script: refuses(text("proxy: slow down", { status: 429, headers: { "retry-after": "7" } })),
      retryAfterMs: 7_000,
    },
    key: refuses(text("proxy: no key", { status: 401 })),
    credit: none,
    unavailable: refuses(text("proxy: away", { status: 503 })),
    input: refuses(refusal("value_not_in_list", "keyscale", "H minor", "TextEncodeAceStepAudio1.5")),
    retiredModel: refuses(refusal("value_not_in_list", "ckpt_name", "ace_step_1.5_turbo_aio.safetensors")),
    errorWith200: { notApplicable: "errors have a status of their own" },
    others: {
      "a node that is not installed": {
        kind: "model_unavailable",
        script: refuses(prompt400("missing_node_type", "Node 'YuE2' not found. The custom node may not be installed.")),
      },
      "a node that is not installed, in older words": {
        kind: "model_unavailable",
        script: refuses(prompt400("invalid_prompt", "Cannot execute because node YuE2 does not exist.")),
      },
      "an id that it does not take": { kind: "invalid_input", script: refuses(INVALID_ID) },
      "an error of the server": { kind: "outcome_unknown", script: refuses(text("500 Internal", { status: 500 })) },
      "another server": { kind: "misconfigured", script: refuses(NO_ROUTE) },
    },
  },
  idempotency: { notApplicable: "the same id twice is queued twice" },
  callbacks: { notApplicable: "it has no callbacks" },
  lookup: lookup(false),
  cancel: {
    route: CANCEL,
    cancels: (fake) => void fake.on(CANCEL.method, CANCEL.path, json({ cancelled: true })),
    tooLate: (fake) => void fake.on(CANCEL.method, CANCEL.path, json({ cancelled: false })),
  },
  probe: {
    route: STATS,
    responses: (fake) => {
      fake.on(STATS.method, STATS.path, json({ system: { comfyui_version: "0.9.1" }, devices: [] }));
      fake.on(INFO.method, INFO.path, json(INSTALLED));
      return null;
    },
    refusesKey: (fake) => void fake.on(STATS.method, STATS.path, text("proxy: no key", { status: 401 })),
  },
  stemSplit: { notApplicable: "the operator names a workflow for it" },
  vocalRemoval: { notApplicable: "the operator names a workflow for it" },
};

function splits(labels: readonly (keyof typeof STEM_OUTPUTS)[]): SplitScenarios {
  return {
    submit: PROMPT,
    completes: async (fake) => {
      await acceptsOld(fake);
      const stems = Object.fromEntries(Object.keys(STEM_OUTPUTS).map((label) => [label, tinyMp3(label)]));
      const files = store(fake, stems);
      const outputs = Object.values(STEM_OUTPUTS).map((node, index) => [node, { audio: [files[index]] }] as const);
      await saysOld(succeeded(Object.fromEntries(outputs)))(fake);
      return { stems: Object.fromEntries(labels.map((label) => [label, stems[label] ?? new Uint8Array()])) };
    },
    receivedSource: (requests) => {
      const content = Buffer.from(tinyMp3("to be split"));
      const isUploaded = requests.some(({ path, body }) => path === UPLOAD.path && body.includes(content));
      const loads = requests.map((request) => nodesOf(request)["1"]?.inputs["audio"]);
      return isUploaded && loads.includes("fermata-1 (1).mp3");
    },
  };
}

/** A server of before 2026, with a workflow that splits tracks. */
export const comfyUiOld: MusicProviderHarness = {
  ...comfyUi,
  settings: (fake) => ({ apiKey: API_KEY, baseUrl: fake.url, ...STEM_SETTINGS }),
  generation: { submit: PROMPT, completes: completes(["one"], true), severalTracks: completes(["one", "two"], true) },
  work: OLD_WORK,
  lookup: lookup(true),
  cancel: {
    route: INTERRUPT,
    cancels: async (fake) => {
      await saysOld(null)(fake);
      fake.on(CANCEL.method, CANCEL.path, text("405: Method Not Allowed", { status: 405 }));
      fake.on(INTERRUPT.method, INTERRUPT.path, text(""));
    },
    tooLate: async (fake) => {
      await acceptsOld(fake);
      fake.on(CANCEL.method, CANCEL.path, NO_ROUTE);
    },
  },
  stemSplit: splits(["vocals", "drums", "instrumental"]),
  vocalRemoval: splits(["vocals", "instrumental"]),
};
