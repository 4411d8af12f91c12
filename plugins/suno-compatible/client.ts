import { asObject, bearer, failureOf, providerFailure } from "../sdk/index.js";
import type { ApiResponse, ApiCall, JsonObject, ProviderApi, ProviderFailure } from "../sdk/index.js";
import type { Dialect } from "./dialects.js";
import type { Host } from "./settings.js";

/** The vendor's API. Every response is `{ code, msg, data }`, whose code may be an error while HTTP says 200. */
export class SunoClient {
  private readonly api: ProviderApi;

  constructor(
    { settings, api }: Host,
    private readonly dialect: Dialect,
  ) {
    this.api = api({
      baseUrl: settings.baseUrl ?? dialect.baseUrl,
      headers: bearer(settings.apiKey),
      classify: (response, call) => classify(response, call, dialect),
    });
  }

  /** Starts billed work. @returns its task id */
  async create(path: string, json: JsonObject, signal: AbortSignal): Promise<string> {
    const response = await this.api.call({ path, json, creates: true, signal });
    const { taskId } = asObject(dataOf(response));
    if (typeof taskId !== "string" || taskId === "")
      throw providerFailure("outcome_unknown", response, { message: "The response has no task." });
    return taskId;
  }

  /** The state of a task. */
  async record(path: string, taskId: string, signal: AbortSignal): Promise<JsonObject> {
    const response = await this.api.call({
      path: `${path}?taskId=${encodeURIComponent(taskId)}`,
      isStatusCall: true,
      signal,
    });
    const record = asObject(dataOf(response));
    if (Object.keys(record).length === 0)
      throw providerFailure("unavailable", response, { message: "The response says nothing about the task." });
    return record;
  }

  async credit(signal: AbortSignal): Promise<number> {
    const response = await this.api.call({ path: this.dialect.creditPath, signal });
    const credit = dataOf(response);
    if (typeof credit !== "number")
      throw providerFailure("unavailable", response, { message: "The response has no number of credits." });
    return credit;
  }
}

function classify(response: ApiResponse, call: ApiCall, { codes }: Dialect): ProviderFailure | null | undefined {
  const isGoodStatus = response.status >= 200 && response.status < 300;
  const { code, msg } = asObject(response.json());
  const unclear = call.creates === true ? "outcome_unknown" : "unavailable";
  if (typeof code !== "number") {
    const usual = failureOf(response, call);
    // Only a 404 in the vendor's envelope says that the task does not exist.
    return usual === null || usual.kind === "gone"
      ? providerFailure(unclear, response, { message: "The response has no code." })
      : usual;
  }
  if (code === 200) return isGoodStatus ? null : undefined;
  const message = `code ${code}: ${typeof msg === "string" ? msg.slice(0, 300) : ""}`;
  const kind = codes[code] ?? failureOf({ ...response, status: code }, call)?.kind ?? unclear;
  // A refused poll does not end accepted work.
  const isPassing = kind === "invalid_input" && call.isStatusCall === true;
  return providerFailure(isPassing ? "unavailable" : kind, response, { message, code: String(code) });
}

function dataOf(response: ApiResponse): unknown {
  return asObject(response.json())["data"];
}
