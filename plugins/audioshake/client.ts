import { asObject, failureOf, isObject, type ProviderApi, providerFailure, streamedForm } from "../sdk/index.js";
import type { ApiCall, ApiResponse, JsonObject, ProviderFailure, SourceAudio } from "../sdk/index.js";
import type { Host } from "./settings.js";

/** Assets and tasks of their API. */
export class AudioShakeClient {
  private readonly api: ProviderApi;
  private readonly uploadTimeoutMs: number;

  constructor(host: Host) {
    const { apiKey, uploadTimeoutMs } = host.settings;
    this.api = host.api({ headers: { "x-api-key": apiKey }, classify });
    this.uploadTimeoutMs = uploadTimeoutMs;
  }

  /** Uploads a track; nothing is billed, and it is deleted there after 72 hours. @returns its asset id */
  async upload(source: SourceAudio, name: string, signal: AbortSignal): Promise<string> {
    const form = streamedForm(source, { name });
    const response = await this.api.call({ path: "/assets", ...form, timeoutMs: this.uploadTimeoutMs, signal });
    const { id } = asObject(response.json());
    if (typeof id !== "string" || id === "")
      throw providerFailure("unavailable", response, { message: "The response has no asset." });
    return id;
  }

  /** Starts a split, which is billed. @returns its task id */
  async create(json: JsonObject, signal: AbortSignal): Promise<string> {
    const response = await this.api.call({ path: "/tasks", json, creates: true, signal });
    const { id } = asObject(response.json());
    if (typeof id !== "string" || id === "")
      throw providerFailure("outcome_unknown", response, { message: "The response has no task." });
    return id;
  }

  async task(id: string, signal: AbortSignal): Promise<JsonObject> {
    const response = await this.api.call({ path: `/tasks/${encodeURIComponent(id)}`, isStatusCall: true, signal });
    const task = asObject(response.json());
    if (!Array.isArray(task["targets"]))
      throw providerFailure("unavailable", response, { message: "The response has no targets of the task." });
    return task;
  }

  /** A page of all tasks of the account; an empty one is the last. */
  async tasks(skip: number, take: number, signal: AbortSignal): Promise<readonly JsonObject[]> {
    const response = await this.api.call({ path: `/tasks?skip=${skip}&take=${take}`, isStatusCall: true, signal });
    const tasks = response.json();
    if (!Array.isArray(tasks) || !tasks.every(isObject))
      throw providerFailure("unavailable", response, { message: "The response is no list of tasks." });
    return tasks;
  }

  /** Checks the key: the API reports no balance. */
  async check(signal: AbortSignal): Promise<void> {
    await this.api.call({ path: "/tasks?skip=0&take=1", signal });
  }
}

/** Which status an empty account gets is not documented; an upload needs a positive balance as well. */
const NO_CREDIT = /credit|balance|payment|billing/i;

function classify(response: ApiResponse, call: ApiCall): ProviderFailure | null {
  const usual = failureOf(response, call);
  if (usual === null) return null;
  const message = messageOf(response.json());
  const saysNoCredit = [400, 403, 429].includes(response.status) && NO_CREDIT.test(message ?? "");
  const kind = saysNoCredit && call.isStatusCall !== true ? "out_of_credit" : usual.kind;
  return providerFailure(kind, response, message === null ? {} : { message });
}

/** A text, or a list of them. */
function messageOf(body: unknown): string | null {
  const { message, error } = asObject(body);
  const words = [message ?? error].flat().filter((word) => typeof word === "string" && word !== "");
  return words.length === 0 ? null : words.join("; ").slice(0, 300);
}
