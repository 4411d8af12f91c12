import { asObject, type ProviderApi, providerFailure } from "../sdk/index.js";
import type { ApiResponse, JsonObject, ProviderFailure } from "../sdk/index.js";
import type { Host } from "./settings.js";

/** A task as their API returns it. */
export interface Task {
  readonly id: string;
  readonly status: string;
  readonly files?: readonly TaskFile[];
  readonly error?: { readonly code?: string; readonly message?: string };
}

export interface TaskFile {
  readonly url: string;
  readonly title?: string;
  readonly seconds?: number;
}

/** Their API. The SDK's client turns every failure into a ProviderFailure; `classify` adds their own error codes. */
export class Client {
  private readonly api: ProviderApi;

  constructor(host: Host) {
    // By the settings `baseUrl`, `apiKey` (sent as a bearer token) and `timeoutMs`.
    this.api = host.api({ classify });
  }

  /** @returns the new task's id */
  async create(json: JsonObject, signal: AbortSignal): Promise<string> {
    // `creates`: after a lost reply the outcome is unknown, since the work may run there.
    const response = await this.api.call({ path: "/v1/music", json, creates: true, signal });
    const { id } = asObject(response.json());
    if (typeof id !== "string")
      throw providerFailure("outcome_unknown", response, { message: "The response has no task." });
    return id;
  }

  async task(id: string, signal: AbortSignal): Promise<Task> {
    // `isStatusCall`: a response that does not say that the work ended is `unavailable`, and the work is polled again.
    const path = `/v1/tasks/${encodeURIComponent(id)}`;
    const response = await this.api.call({ path, isStatusCall: true, signal });
    const task = asObject(response.json());
    if (typeof task["status"] !== "string")
      throw providerFailure("unavailable", response, { message: "The response has no task." });
    return { ...task, id, status: task["status"] };
  }
}

/** The failure that their error means; undefined: the default for its status. Some APIs send errors with status 200. */
function classify(response: ApiResponse): ProviderFailure | undefined {
  const { code } = asObject(asObject(response.json())["error"]);
  return code === "content_policy" ? providerFailure("content_rejected", response, { code }) : undefined;
}
