import { asObject, failureOf, isObject, type ProviderApi, providerFailure } from "../sdk/index.js";
import type { ApiCall, ApiResponse, JsonObject, ProviderFailure, ProviderFailureKind } from "../sdk/index.js";
import { saysRefused } from "./content.js";
import type { Host } from "./settings.js";

export interface StartedTask {
  readonly taskId: string;
  /** When the task is expected to end; null when not reported. */
  readonly etaSeconds: number | null;
}

/** Music AI v2 and the status call of v1, which serves both. */
export class MusicGptClient {
  private readonly api: ProviderApi;

  constructor(host: Host) {
    // The bare key, without a scheme before it.
    this.api = host.api({ headers: { authorization: host.settings.apiKey }, classify });
  }

  /** Starts a billed generation of two tracks. */
  async generate(json: JsonObject, signal: AbortSignal): Promise<StartedTask> {
    const response = await this.api.call({ path: "/v2/MusicAI", json, creates: true, signal });
    const { task_id: taskId, eta } = asObject(response.json());
    if (typeof taskId !== "string" || taskId === "")
      throw providerFailure("outcome_unknown", response, { message: "The response has no task." });
    return { taskId, etaSeconds: typeof eta === "number" && eta > 0 ? eta : null };
  }

  /** The task, its two conversions together. */
  async conversion(taskId: string, signal: AbortSignal): Promise<JsonObject> {
    const query = new URLSearchParams({ conversionType: "MUSIC_AI", task_id: taskId });
    const response = await this.api.call({ path: `/v1/byId?${query.toString()}`, isStatusCall: true, signal });
    const { conversion } = asObject(response.json());
    if (!isObject(conversion) || typeof conversion["status"] !== "string")
      throw providerFailure("unavailable", response, { message: "The response has no status of the task." });
    return conversion;
  }

  /** Checks the key with a page of one voice: the API reports no balance. */
  async check(signal: AbortSignal): Promise<void> {
    await this.api.call({ path: "/v1/getAllVoices?limit=1&page=0", signal });
  }
}

const NO_CREDIT = /credit|balance|payment|insufficient funds/i;

/** A response of status 200 may say `success: false`. */
function classify(response: ApiResponse, call: ApiCall): ProviderFailure | null {
  const body = response.json();
  const usual = failureOf(response, call);
  const isRefused = usual === null && asObject(body)["success"] === false;
  if (usual === null && !isRefused) return null;
  const message = messageOf(body);
  const kind = kindOf(response.status, message ?? "", call) ?? usual?.kind ?? refusalKind(call);
  return providerFailure(kind, response, message === null ? {} : { message });
}

/** The failure in the text of a refused start or probe, beyond its status. */
function kindOf(status: number, message: string, { isStatusCall }: ApiCall): ProviderFailureKind | undefined {
  if (isStatusCall === true || ![200, 400, 403, 422].includes(status)) return undefined;
  if (NO_CREDIT.test(message)) return "out_of_credit";
  return status !== 403 && saysRefused(message) ? "content_rejected" : undefined;
}

/** A refusal in a response of status 200: nothing was created, and the reason is unknown. */
function refusalKind({ creates }: ApiCall): ProviderFailureKind {
  return creates === true ? "failed" : "unavailable";
}

/** Validation errors repeat the request: only the path and the issue are repeated. */
function messageOf(body: unknown): string | null {
  const { detail, message, error, status_msg: statusMessage } = asObject(body);
  const reason = [detail, message, asObject(error)["message"], error, statusMessage].find(
    (text) => typeof text === "string" && text !== "",
  );
  if (typeof reason === "string") return reason.slice(0, 300);
  if (!Array.isArray(detail)) return null;
  const lines = detail.map(asObject).map(({ loc, msg }) => {
    const where = Array.isArray(loc) ? loc.slice(1).join(".") : "";
    return [where, typeof msg === "string" ? msg : ""].filter((text) => text !== "").join(": ");
  });
  return lines.join("; ").slice(0, 300);
}
