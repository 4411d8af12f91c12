import { asObject, isObject, type ProviderApi, providerFailure } from "../sdk/index.js";
import type { ApiCall, ApiResponse, JsonObject, ProviderFailure, ProviderFailureKind } from "../sdk/index.js";
import { saysRefused } from "./content.js";
import type { Host } from "./settings.js";

/** Their API: FastAPI, so errors have a `detail` that is a text or a list of validation errors. */
export class SonautoClient {
  private readonly api: ProviderApi;

  constructor(host: Host) {
    this.api = host.api({ classify });
  }

  /** Starts a billed generation. @returns its task id */
  generate(version: string, json: JsonObject, signal: AbortSignal): Promise<string> {
    return this.start(`/generations/${version}`, json, signal);
  }

  /** Starts a billed extension of a track. @returns its task id */
  extend(version: string, json: JsonObject, signal: AbortSignal): Promise<string> {
    return this.start(`/generations/${version}${EXTEND}`, json, signal);
  }

  /** The status of a task: a JSON string, or a member of an object. */
  async status(taskId: string, signal: AbortSignal): Promise<string> {
    const response = await this.api.call({
      path: `/generations/status/${encodeURIComponent(taskId)}`,
      isStatusCall: true,
      signal,
    });
    const body = response.json();
    const status = isObject(body) ? body["status"] : body;
    if (typeof status !== "string" || !STATUS.test(status))
      throw providerFailure("unavailable", response, { message: "The response has no status of the task." });
    return status;
  }

  /** All that is known of a task that ended. */
  async generation(taskId: string, signal: AbortSignal): Promise<JsonObject> {
    const path = `/generations/${encodeURIComponent(taskId)}`;
    const response = await this.api.call({ path, isStatusCall: true, signal });
    const generation = response.json();
    if (!isObject(generation))
      throw providerFailure("unavailable", response, { message: "The response is not a generation." });
    return generation;
  }

  /** Credits of the subscription and bought ones, together. */
  async credits(signal: AbortSignal): Promise<number> {
    const response = await this.api.call({ path: "/credits/balance", signal });
    const { num_credits: included, num_credits_payg: bought } = asObject(response.json());
    if (typeof included !== "number" && typeof bought !== "number")
      throw providerFailure("unavailable", response, { message: "The response has no number of credits." });
    return numberOf(included) + numberOf(bought);
  }

  private async start(path: string, json: JsonObject, signal: AbortSignal): Promise<string> {
    const response = await this.api.call({ path, json, creates: true, signal });
    const { task_id: taskId } = asObject(response.json());
    if (typeof taskId !== "string" || taskId === "")
      throw providerFailure("outcome_unknown", response, { message: "The response has no task." });
    return taskId;
  }
}

/** End of the path of an extension. */
const EXTEND = "/extend";

/** `GENERATING_STREAMING_READY`; there are more of them than are documented. */
const STATUS = /^[A-Z][A-Z_]*$/;

/** Which status an empty account gets is not documented: clients have seen 402, and expect 403 and 429. */
const NO_CREDIT = /credit|balance|payment/i;

/** A redirect, as one address of the API may send to the other, says that the setting is wrong. */
function classify(response: ApiResponse, { path, isStatusCall }: ApiCall): ProviderFailure | undefined {
  const { status } = response;
  if (isStatusCall === true || status < 300 || status >= 500) return undefined;
  const { detail } = asObject(response.json());
  const options = { message: messageOf(detail) ?? undefined };
  if (status < 400) return providerFailure("misconfigured", response, { message: "A redirect: check baseUrl." });
  // Validation errors repeat the request, which may contain any word: only a plain text says what was refused.
  const kind = typeof detail === "string" ? kindOf(status, detail) : undefined;
  if (kind !== undefined) return providerFailure(kind, response, options);
  // A version that cannot extend, or a missing track, does not make the model unavailable.
  const isUnextended = path.endsWith(EXTEND) && [404, 405, 410].includes(status);
  return status === 422 || isUnextended ? providerFailure("invalid_input", response, options) : undefined;
}

function kindOf(status: number, detail: string): ProviderFailureKind | undefined {
  if ([400, 403, 429].includes(status) && NO_CREDIT.test(detail)) return "out_of_credit";
  return [400, 422].includes(status) && saysRefused(detail) ? "content_rejected" : undefined;
}

/** `tags: Invalid tags`, without the values that were sent. */
function messageOf(detail: unknown): string | null {
  if (typeof detail === "string") return detail.slice(0, 300);
  if (!Array.isArray(detail)) return null;
  const lines = detail.map(asObject).map(({ loc, msg }) => {
    const where = Array.isArray(loc) ? loc.slice(1).join(".") : "";
    return [where, typeof msg === "string" ? msg : ""].filter((text) => text !== "").join(": ");
  });
  return lines.join("; ").slice(0, 300);
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
