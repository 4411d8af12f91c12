import type { Script } from "../contract/music-provider.contract.js";
import { bytes, type FakeResponse, type FakeApi, type FakeRequest, json, text } from "../support/provider-kit/index.js";

export const API_KEY = "key-of-the-proxy";
export const PROMPT = { method: "POST", path: "/prompt" } as const;
export const JOB = { method: "GET", path: "/api/jobs/:id" } as const;
export const CANCEL = { method: "POST", path: "/api/jobs/:id/cancel" } as const;
export const HISTORY = { method: "GET", path: "/history/:id" } as const;
export const QUEUE = { method: "GET", path: "/queue" } as const;
export const INTERRUPT = { method: "POST", path: "/interrupt" } as const;
export const UPLOAD = { method: "POST", path: "/upload/image" } as const;
export const VIEW = { method: "GET", path: "/view" } as const;
export const STATS = { method: "GET", path: "/system_stats" } as const;
export const INFO = { method: "GET", path: "/object_info" } as const;

export type Json = Readonly<Record<string, unknown>>;
export const bodyOf = (request: FakeRequest | undefined): Json => (request?.json ?? {}) as Json;

/** The nodes of a prompt. */
export function nodesOf(request: FakeRequest | undefined): Readonly<Record<string, { readonly inputs: Json }>> {
  return (bodyOf(request)["prompt"] ?? {}) as Readonly<Record<string, { readonly inputs: Json }>>;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** A prompt that it cannot run; `received` is the value of one of its inputs. */
export const refusal = (
  type: string,
  name: string,
  received: unknown,
  node = "CheckpointLoaderSimple",
): FakeResponse => {
  const details = `${name}: '${String(received)}' not in []`;
  const extra = { input_name: name, received_value: received };
  const error = { type, message: "Value not in list", details, extra_info: extra };
  return json(
    {
      error: { type: "prompt_outputs_failed_validation", message: "Prompt outputs failed validation", details: "" },
      node_errors: { "1": { errors: [error], dependent_outputs: ["8"], class_type: node } },
    },
    { status: 400 },
  );
};

export const INVALID_ID = json(
  { error: { type: "invalid_prompt_id", message: "The prompt_id is no UUID", details: "" }, node_errors: {} },
  { status: 400 },
);

/** Takes every prompt under the id that it is given, twice the same twice. */
function acceptsPrompts(fake: FakeApi): void {
  let number = 11;
  fake.on(PROMPT.method, PROMPT.path, (request) => {
    const { prompt_id: id } = bodyOf(request);
    if (typeof id !== "string" || !UUID.test(id)) return INVALID_ID;
    return json({ prompt_id: id, number: (number += 1), node_errors: {} });
  });
  fake.on(UPLOAD.method, UPLOAD.path, json({ name: "fermata-1 (1).mp3", subfolder: "", type: "input" }));
}

/** What an older server says to a route that it does not have. */
export const NO_ROUTE = text("404: Not Found", { status: 404 });
export const UNKNOWN_JOB = json({ error: "Job not found" }, { status: 404 });

export const queueOf = (running: readonly string[], pending: readonly string[] = []): FakeResponse => {
  const item = (id: string): unknown[] => [12, id, {}, { client_id: "fermata" }, ["8"]];
  return json({ queue_running: running.map(item), queue_pending: pending.map(item) });
};

/** A server of 2026. */
export const accepts: Script = (fake) => {
  acceptsPrompts(fake);
  fake.on(QUEUE.method, QUEUE.path, queueOf([]));
  fake.on(HISTORY.method, HISTORY.path, json({}));
};

/** A server without the routes of jobs. */
export const acceptsOld: Script = async (fake) => {
  await accepts(fake);
  fake.on(JOB.method, JOB.path, NO_ROUTE);
};

export const says =
  (job: Json): Script =>
  (fake) =>
    void fake.on(JOB.method, JOB.path, ({ params }) => json({ id: params["id"], ...job }));

/** @param item of the history; null: it is in the queue */
export const saysOld =
  (item: Json | null): Script =>
  async (fake) => {
    await acceptsOld(fake);
    if (item !== null) fake.on(HISTORY.method, HISTORY.path, ({ params }) => json({ [params["id"] ?? ""]: item }));
    else fake.on(QUEUE.method, QUEUE.path, () => queueOf(promptIds(fake)));
  };

/** Of all prompts that it was sent. */
export const promptIds = (fake: FakeApi): string[] =>
  fake.calls(PROMPT).map((request) => String(bodyOf(request)["prompt_id"]));

/** Puts files into the output folder. @returns what the server calls them */
export function store(fake: FakeApi, files: Readonly<Record<string, Uint8Array>>): Json[] {
  fake.on(VIEW.method, VIEW.path, ({ query, headers }) => {
    if (headers["authorization"] !== `Bearer ${API_KEY}`) return text("proxy: no key", { status: 401 });
    const file = files[query["filename"] ?? ""];
    const isThere = file !== undefined && query["subfolder"] === "fermata" && query["type"] === "output";
    return isThere ? bytes(file, "application/octet-stream") : text("404: Not Found", { status: 404 });
  });
  return Object.keys(files).map((filename) => ({ filename, subfolder: "fermata", type: "output" }));
}

export const ERROR = {
  prompt_id: "0f9d",
  node_id: "6",
  node_type: "KSampler",
  exception_type: "torch.OutOfMemoryError",
  exception_message: "Allocation on device 0 would exceed allowed memory.",
  traceback: ["  File ..."],
};

export const ended = (...messages: readonly unknown[]): Json => ({
  prompt: [12, "id", {}, { client_id: "fermata" }, ["8"]],
  outputs: {},
  status: { status_str: "error", completed: false, messages },
});

export const succeeded = (outputs: Json): Json => ({
  prompt: [12, "id", {}, {}, ["8"]],
  outputs,
  status: { status_str: "success", completed: true, messages: [["execution_success", {}]] },
});

export const INSTALLED = {
  CheckpointLoaderSimple: { input: { required: { ckpt_name: [["ace_step_1.5_turbo_aio.safetensors"], {}] } } },
  ModelSamplingAuraFlow: {},
  "TextEncodeAceStepAudio1.5": {},
  ConditioningZeroOut: {},
  "EmptyAceStep1.5LatentAudio": {},
  KSampler: {},
  VAEDecodeAudio: {},
  SaveAudioMP3: {},
  SaveAudio: {},
};

export const STEM_WORKFLOW = {
  "1": { class_type: "LoadAudio", inputs: { audio: "{{source}}" } },
  "2": { class_type: "Separator", inputs: { audio: ["1", 0] } },
  "3": { class_type: "SaveAudioMP3", inputs: { audio: ["2", 0], filename_prefix: "{{attempt_id}}/vocals" } },
  "4": { class_type: "SaveAudioMP3", inputs: { audio: ["2", 1], filename_prefix: "{{attempt_id}}/drums" } },
  "5": { class_type: "SaveAudioMP3", inputs: { audio: ["2", 2], filename_prefix: "{{attempt_id}}/rest" } },
};
export const STEM_OUTPUTS = { vocals: "3", drums: "4", instrumental: "5" };
export const STEM_SETTINGS = { stemWorkflow: JSON.stringify(STEM_WORKFLOW), stemOutputs: JSON.stringify(STEM_OUTPUTS) };
