import { asObject, failureOf, providerFailure } from "../sdk/index.js";
import type { ApiResponse, ApiCall, JsonObject, ProviderApi, ProviderFailure } from "../sdk/index.js";
import type { Host } from "./settings.js";

/** The API of beatoven.ai: compose, and poll the task. */
export class BeatovenClient {
  private readonly api: ProviderApi;

  constructor(host: Host) {
    this.api = host.api({ classify });
  }

  /** Starts billed work. @returns its task id */
  async compose(json: JsonObject, signal: AbortSignal): Promise<string> {
    const response = await this.api.call({ path: "/api/v1/tracks/compose", json, creates: true, signal });
    const { task_id: taskId } = asObject(response.json());
    if (typeof taskId !== "string" || taskId === "")
      throw providerFailure("outcome_unknown", response, { message: "The response has no task." });
    return taskId;
  }

  /** The state of a task: `status`, and `meta` when it is composed. */
  async task(taskId: string, signal: AbortSignal): Promise<JsonObject> {
    return asObject(
      (await this.api.call({ path: `/api/v1/tasks/${encodeURIComponent(taskId)}`, isStatusCall: true, signal })).json(),
    );
  }
}

/** Errors are `{ error, detail? }`; statuses mean what they usually mean. */
function classify(response: ApiResponse, call: ApiCall): ProviderFailure | null {
  const usual = failureOf(response, call);
  if (usual === null) return null;
  const { error, detail } = asObject(response.json());
  const isTheirs = typeof error === "string";
  const message = isTheirs
    ? [error, ...(detail === undefined ? [] : [textOf(detail)])].join(": ").slice(0, 300)
    : undefined;
  // Only a 404 with the API's own error says that a task does not exist.
  return providerFailure(
    usual.kind === "gone" && !isTheirs ? "unavailable" : usual.kind,
    response,
    message === undefined ? {} : { message },
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
