import { asObject, failureOf, isObject, ProviderFailure, providerFailure } from "../sdk/index.js";
import type { ApiCall, ApiResponse, JsonObject, ProviderApi } from "../sdk/index.js";
import type { Host } from "./settings.js";

/** A poll that times out is repeated: it need not wait as long as a submission. */
const POLL_TIMEOUT_MAX_MS = 30_000;

/** When the queue is full, the wait is as long as this many jobs take. */
const JOBS_WAITED_FOR = 3;
const WAIT_MIN_MS = 5_000;
const WAIT_MAX_MS = 300_000;
const WAIT_MS = 30_000;

const INVENTORY_PATH = "/v1/model_inventory";

/** The server's load. */
export interface Stats {
  readonly isIdle: boolean;
  readonly averageJobMs: number | null;
}

/** JSON, or a form where the task has a file. */
export type TaskBody = { readonly json: JsonObject } | { readonly body: FormData };

/** The native task API. Successful responses wrap their `data` in an envelope; errors have a `detail`. */
export class AceStepClient {
  private readonly api: ProviderApi;
  private readonly pollTimeoutMs: number;

  constructor(host: Host) {
    this.api = host.api({ classify });
    this.pollTimeoutMs = Math.min(host.settings.timeoutMs, POLL_TIMEOUT_MAX_MS);
  }

  /** Queues a task. @returns its id */
  async release(task: TaskBody, signal: AbortSignal): Promise<string> {
    const response = await this.queued(task, signal);
    const { task_id: id } = dataOf(response);
    if (typeof id !== "string" || id === "")
      throw providerFailure("outcome_unknown", response, { message: "The response has no task_id." });
    return id;
  }

  /** The tasks by their ids, in whatever order the server lists them. */
  async query(ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, JsonObject>> {
    const response = await this.api.call({
      path: "/query_result",
      json: { task_id_list: ids },
      isStatusCall: true,
      timeoutMs: this.pollTimeoutMs,
      signal,
    });
    const { data } = asObject(response.json());
    if (!Array.isArray(data))
      throw providerFailure("unavailable", response, { message: "The response has no list of tasks." });
    return new Map(data.map(asObject).map((task) => [String(task["task_id"]), task]));
  }

  async stats(signal: AbortSignal): Promise<Stats> {
    const path = "/v1/stats";
    const response = await this.api.call({ path, isStatusCall: true, timeoutMs: this.pollTimeoutMs, signal });
    const { jobs, queue_size: size, avg_job_seconds: seconds } = dataOf(response);
    return {
      // `jobs.queued` counts refused submissions as well, and never goes down.
      isIdle: asObject(jobs)["running"] === 0 && size === 0,
      averageJobMs: typeof seconds === "number" && seconds > 0 ? seconds * 1_000 : null,
    };
  }

  /** Needs no key. */
  async health(signal: AbortSignal): Promise<JsonObject> {
    return dataOf(await this.api.call({ path: "/health", signal }));
  }

  /** The models on disk and in memory; needs the key. Null at a version without the route. */
  async inventory(signal: AbortSignal): Promise<JsonObject | null> {
    try {
      return dataOf(await this.api.call({ path: INVENTORY_PATH, signal }));
    } catch (error) {
      if (!ProviderFailure.is(error) || error.kind !== "gone") throw error;
      await this.api.call({ path: "/v1/stats", signal });
      return null;
    }
  }

  private async queued(task: TaskBody, signal: AbortSignal): Promise<ApiResponse> {
    try {
      return await this.api.call({ path: "/release_task", ...task, creates: true, signal });
    } catch (error) {
      if (!ProviderFailure.is(error) || error.kind !== "rate_limited" || error.retryAfterMs !== null) throw error;
      const retryAfterMs = await this.waitOfFullQueue(signal);
      throw new ProviderFailure("rate_limited", error.message, { retryAfterMs, cause: error });
    }
  }

  /** The server sends no Retry-After, but reports how long its jobs take on average. */
  private async waitOfFullQueue(signal: AbortSignal): Promise<number> {
    try {
      const { averageJobMs } = await this.stats(signal);
      if (averageJobMs === null) return WAIT_MS;
      return Math.min(WAIT_MAX_MS, Math.max(WAIT_MIN_MS, JOBS_WAITED_FOR * averageJobMs));
    } catch (error) {
      if (!ProviderFailure.is(error)) throw error;
      return WAIT_MS;
    }
  }
}

function dataOf(response: ApiResponse): JsonObject {
  return asObject(asObject(response.json())["data"]);
}

function classify(response: ApiResponse, call: ApiCall): ProviderFailure | undefined {
  const { status } = response;
  if (call.isStatusCall === true) {
    // A poll covers many tasks, and an unknown task has an entry of its own: the HTTP status is never about one task.
    return failureOf(response, call)?.kind === "gone" ? providerFailure("unavailable", response) : undefined;
  }
  // Another server or version. Only the inventory may be missing.
  if (status === 405 || (status === 404 && call.path !== INVENTORY_PATH))
    return providerFailure("misconfigured", response);
  // The server's request model rejects a value before the task is queued. A proxy sends another text.
  if (call.creates === true && status === 500 && isPlainError(response))
    return providerFailure("invalid_input", response);
  return undefined;
}

function isPlainError(response: ApiResponse): boolean {
  const isPlainText = /^text\/plain\b/i.test(response.headers.get("content-type") ?? "");
  return isPlainText && response.text().trim() === "Internal Server Error" && !isObject(response.json());
}
