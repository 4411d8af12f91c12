import { asObject, failureOf, httpUrl, isObject, ProviderFailure, providerFailure } from "../sdk/index.js";
import type { ApiResponse, ApiCall, JsonObject, ProviderApi, ProviderFailureKind, SourceAudio } from "../sdk/index.js";
import type { Host } from "./settings.js";

/** Every call but the upload takes and returns JSON; all are POST, a slash at the end of their path. */
export class LalalClient {
  private readonly api: ProviderApi;
  private readonly uploadTimeoutMs: number;

  constructor({ settings, api }: Host) {
    const base = `${httpUrl("baseUrl", settings.baseUrl)}/api/v1`;
    this.api = api({ baseUrl: base, headers: { "x-license-key": settings.apiKey }, classify });
    this.uploadTimeoutMs = settings.uploadTimeoutMs;
  }

  /** Uploads a file; nothing is billed. @returns its source id */
  async upload(source: SourceAudio, filename: string, signal: AbortSignal): Promise<string> {
    const headers = {
      "content-disposition": `attachment; filename=${filename}`,
      "content-length": String(source.sizeBytes),
    };
    const body = ReadableStream.from<Uint8Array>(source.open());
    const response = await this.api.call({ path: "/upload/", body, headers, timeoutMs: this.uploadTimeoutMs, signal });
    const { id } = asObject(response.json());
    if (typeof id !== "string" || id === "")
      throw providerFailure("unavailable", response, { message: "The response has no id of the upload." });
    return id;
  }

  /** Starts a split, which is billed. @returns its task id */
  async split(path: string, json: JsonObject, signal: AbortSignal): Promise<string> {
    const response = await this.api.call({ path, json, creates: true, signal });
    const { task_id: id } = asObject(response.json());
    if (typeof id !== "string" || id === "")
      throw providerFailure("outcome_unknown", response, { message: "The response has no task." });
    return id;
  }

  /** States by task id. */
  async check(taskIds: readonly string[], signal: AbortSignal): Promise<JsonObject> {
    const response = await this.api.call({ path: "/check/", json: { task_ids: taskIds }, isStatusCall: true, signal });
    const { result } = asObject(response.json());
    if (!isObject(result)) throw providerFailure("unavailable", response, { message: "The response has no states." });
    return result;
  }

  /** @returns the response for the task: its `status`, `success` or `server_error`, and then an `error` */
  async cancel(taskId: string, signal: AbortSignal): Promise<JsonObject> {
    const body = asObject((await this.api.call({ path: "/cancel/", json: { task_ids: [taskId] }, signal })).json());
    return asObject(asObject(body["result"])[taskId]);
  }

  async minutesLeft(signal: AbortSignal): Promise<number> {
    const response = await this.api.call({ method: "POST", path: "/limits/minutes_left/", signal });
    const { minutes_left: minutes } = asObject(response.json());
    if (typeof minutes !== "number")
      throw providerFailure("unavailable", response, { message: "The response has no number of minutes." });
    return minutes;
  }
}

/** Codes of a refusal. */
const CODES: Readonly<Record<string, ProviderFailureKind>> = {
  exceeded_duration: "out_of_credit",
  exceeded_size: "invalid_input",
  max_duration: "invalid_input",
  batch_not_avaliable: "misconfigured",
};

function classify(response: ApiResponse, call: ApiCall): ProviderFailure | null | undefined {
  // Many tasks are polled together, and an unknown one is left out of the response: a refusal concerns none of them.
  if (call.isStatusCall === true && failureOf(response, call)?.kind === "gone")
    return providerFailure("unavailable", response);
  if (response.status !== 400 && response.status !== 422) return undefined;
  const { code: given, detail } = asObject(response.json());
  const code = typeof given === "string" ? given : undefined;
  if (code === "idempotency_key_used") {
    const message = "The work was begun by an attempt before, whose reply was lost: its task id is not known.";
    return new ProviderFailure("failed", message, { billable: "yes", providerCode: code });
  }
  const kind = refusalKind(code, detail, call);
  return kind === undefined ? undefined : providerFailure(kind, response, code === undefined ? {} : { code });
}

/** undefined: what HTTP means by the status. */
function refusalKind(code: string | undefined, detail: unknown, call: ApiCall): ProviderFailureKind | undefined {
  if (code === "internal_error") return call.creates === true ? "outcome_unknown" : "unavailable";
  if (code !== undefined && Object.hasOwn(CODES, code) && call.isStatusCall !== true) return CODES[code];
  // The status for a wrong key is not documented. A call without a body can be refused for no other reason.
  const namesKey = typeof detail === "string" && /licen[cs]e|api.?key/i.test(detail);
  return namesKey || call.path.startsWith("/limits/") ? "misconfigured" : undefined;
}
