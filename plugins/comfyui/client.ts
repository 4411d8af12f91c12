import { asObject, failureOf, isObject, providerFailure } from "../sdk/index.js";
import type {
  ApiCall,
  ApiResponse,
  CancelOutcome,
  JsonObject,
  ProviderApi,
  ProviderFailure,
  SourceAudio,
} from "../sdk/index.js";
import { type Job, jobIn, jobInHistory, jobInQueue } from "./jobs.js";
import { refusedPrompt } from "./refusals.js";
import type { Host } from "./settings.js";
import type { Workflow } from "./workflow.js";

const CLIENT_ID = "fermata";
const JOBS = "/api/jobs/";

/** The routes of ComfyUI. Those of jobs came in 2026; before, a job is in the queue or in the history. */
export class ComfyUiClient {
  private readonly api: ProviderApi;
  private readonly uploadTimeoutMs: number;

  constructor(host: Host) {
    this.api = host.api({ classify });
    this.uploadTimeoutMs = host.settings.uploadTimeoutMs;
  }

  /**
   * Queues a workflow under our own id. The server does not deduplicate ids.
   *
   * @returns the job's id: old servers ignore ours
   */
  async prompt(id: string, prompt: Workflow, extraData: JsonObject, signal: AbortSignal): Promise<string> {
    const json = { prompt, prompt_id: id, client_id: CLIENT_ID, extra_data: extraData };
    const response = await this.api.call({ path: "/prompt", json, creates: true, signal });
    const { prompt_id: queued } = asObject(response.json());
    if (typeof queued !== "string" || queued === "")
      throw providerFailure("outcome_unknown", response, { message: "The response has no prompt_id." });
    return queued;
  }

  /** null: the job is neither queued nor running nor in the history, which is lost in a restart. */
  async find(id: string, signal: AbortSignal): Promise<Job | null> {
    const response = await this.api.call({ path: JOBS + encodeURIComponent(id), isStatusCall: true, signal });
    if (response.status !== 404) return jobIn(response);
    // A job that ends meanwhile moves from the queue to the history: this order cannot miss it.
    const queued = await this.inQueue(id, signal);
    if (queued !== null) return queued;
    const path = `/history/${encodeURIComponent(id)}`;
    return jobInHistory(await this.api.call({ path, isStatusCall: true, signal }), id);
  }

  async cancel(id: string, signal: AbortSignal): Promise<CancelOutcome> {
    const response = await this.api.call({ method: "POST", path: `${JOBS}${encodeURIComponent(id)}/cancel`, signal });
    const body = response.json();
    if (isObject(body) && response.status !== 404) return body["cancelled"] === true ? "requested" : "too_late";
    const job = await this.inQueue(id, signal);
    // Older servers interrupt any running job.
    if (job?.state === "running") await this.api.call({ path: "/interrupt", json: { prompt_id: id }, signal });
    if (job?.state === "pending") await this.api.call({ path: "/queue", json: { delete: [id] }, signal });
    return job === null ? "too_late" : "requested";
  }

  /** @returns the name of the file for nodes that load audio */
  async upload(source: SourceAudio, filename: string, signal: AbortSignal): Promise<string> {
    const parts: Uint8Array<ArrayBuffer>[] = [];
    for await (const part of source.open()) parts.push(Uint8Array.from(part));
    const body = new FormData();
    body.set("image", new Blob(parts, { type: source.contentType }), filename);
    body.set("type", "input");
    const response = await this.api.call({ path: "/upload/image", body, timeoutMs: this.uploadTimeoutMs, signal });
    const { name, subfolder } = asObject(response.json());
    if (typeof name !== "string" || name === "")
      throw providerFailure("unavailable", response, { message: "The response has no name of the uploaded file." });
    return typeof subfolder === "string" && subfolder !== "" ? `${subfolder}/${name}` : name;
  }

  async systemStats(signal: AbortSignal): Promise<JsonObject> {
    return asObject((await this.api.call({ path: "/system_stats", signal })).json());
  }

  /** The classes of nodes that are installed, each with its inputs. */
  async objectInfo(signal: AbortSignal): Promise<JsonObject> {
    return asObject((await this.api.call({ path: "/object_info", signal })).json());
  }

  private async inQueue(id: string, signal: AbortSignal): Promise<Job | null> {
    return jobInQueue(await this.api.call({ path: "/queue", isStatusCall: true, signal }), id);
  }
}

/** Whether the job, or the route of jobs, does not exist. A proxy's HTML page does not count. */
function saysUnknown({ status, headers }: ApiResponse, { isStatusCall }: ApiCall): boolean {
  const isPage = /^text\/html\b/i.test(headers.get("content-type") ?? "");
  return !isPage && (status === 404 || (status === 405 && isStatusCall !== true));
}

function classify(response: ApiResponse, call: ApiCall): ProviderFailure | null | undefined {
  if (call.path.startsWith(JOBS) && saysUnknown(response, call)) return null;
  if (call.creates === true) return refusedPrompt(response);
  const failure = failureOf(response, call);
  if (failure?.kind !== "gone") return undefined;
  return providerFailure(call.isStatusCall === true ? "unavailable" : "misconfigured", response);
}
