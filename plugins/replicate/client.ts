import { asObject, isLink, providerFailure, retryAfterMs, sourceFile } from "../sdk/index.js";
import type { ApiCall, ApiResponse, ModelInputs, ProviderApi, ProviderFailure, SourceAudio } from "../sdk/index.js";
import type { Host } from "./settings.js";

/** The calls of the predictions API; each returns the response, which `map.ts` reads. */
export class ReplicateClient {
  private readonly api: ProviderApi;

  constructor(private readonly host: Host) {
    this.api = host.api({ classify });
  }

  create(version: string, input: ModelInputs, callbackUrl: string | null, signal: AbortSignal): Promise<ApiResponse> {
    const { cancelAfterSeconds } = this.host.settings;
    // Replicate sends webhooks to https only; a URL that it would refuse is left out, and the host polls. The webhook
    // of the start shows that a submission whose reply was lost has been accepted.
    const isTaken = callbackUrl?.startsWith("https://") === true;
    const webhook = isTaken ? { webhook: callbackUrl, webhook_events_filter: ["start", "completed"] } : {};
    return this.api.call({
      path: "/predictions",
      json: { version, input, ...webhook },
      headers: cancelAfterSeconds === undefined ? {} : { "cancel-after": `${cancelAfterSeconds}s` },
      creates: true,
      signal,
    });
  }

  /** Stores a track there, for a day. @returns the URL that inputs of models take */
  async upload(source: SourceAudio, signal: AbortSignal): Promise<string> {
    const body = new FormData();
    body.set("content", await sourceFile(source));
    const timeoutMs = this.host.settings.uploadTimeoutMs;
    const response = await this.api.call({ path: FILES_PATH, body, timeoutMs, signal });
    const { get: url } = asObject(asObject(response.json())["urls"]);
    if (!isLink(url))
      throw providerFailure("unavailable", response, { message: "The response has no URL of the uploaded file." });
    return url;
  }

  prediction(id: string, signal: AbortSignal): Promise<ApiResponse> {
    return this.api.call({ path: `/predictions/${encodeURIComponent(id)}`, isStatusCall: true, signal });
  }

  cancel(id: string, signal: AbortSignal): Promise<ApiResponse> {
    return this.api.call({ method: "POST", path: `/predictions/${encodeURIComponent(id)}/cancel`, signal });
  }

  account(signal: AbortSignal): Promise<ApiResponse> {
    return this.api.call({ path: "/account", signal });
  }

  webhookSecret(signal: AbortSignal): Promise<ApiResponse> {
    return this.api.call({ path: "/webhooks/default/secret", signal });
  }
}

const FILES_PATH = "/files";

/** The title of 422 for a version that does not exist, or not for this account. */
const NO_VERSION = /^invalid version/i;

/** Statuses have their usual meaning, except for a missing version; the wait may be given as text. */
function classify(response: ApiResponse, { creates, path }: ApiCall): ProviderFailure | undefined {
  // An upload refers to no work, so a 404 does not mean `gone`.
  if (path === FILES_PATH && response.status === 404) return providerFailure("misconfigured", response);
  const { title, detail } = asObject(response.json());
  if (creates === true && response.status === 422 && typeof title === "string" && NO_VERSION.test(title))
    return providerFailure("model_unavailable", response, { message: [title, detail].join(": ").slice(0, 300) });
  if (response.status !== 429) return undefined;
  const [, seconds] = /resets in ~?(\d+)\s*s/i.exec(response.text()) ?? [];
  const wait = retryAfterMs(response.headers) ?? (seconds === undefined ? undefined : Number(seconds) * 1_000);
  return providerFailure("rate_limited", response, wait === undefined ? {} : { retryAfterMs: wait });
}
