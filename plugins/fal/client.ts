import { type ApiResponse, httpUrl, type ModelInputs, type ProviderApi } from "../sdk/index.js";
import { billingRefusalOf, finalFailureOf, refusalOf } from "./errors.js";
import type { Host } from "./settings.js";

export interface QueuedRequest {
  readonly endpoint: string;
  readonly input: ModelInputs;
  /** Whether a track is part of the input. */
  readonly isInline: boolean;
}

/** The calls of the queue; `map.ts` reads the responses. URLs are those of the response to the submission. */
export class FalClient {
  private readonly api: ProviderApi;
  /** For results: the response for failed work is the work's error. */
  private readonly results: ProviderApi;
  /** For results of work whose status says that it failed. */
  private readonly errors: ProviderApi;
  private readonly keys: ProviderApi;
  private readonly platform: ProviderApi;

  constructor(private readonly host: Host) {
    const { settings, api } = host;
    const headers = { authorization: `Key ${settings.apiKey}` };
    this.api = api({ headers, classify: refusalOf });
    this.results = api({ headers, classify: (response, call) => finalFailureOf(response, call, false) });
    this.errors = api({ headers, classify: (response, call) => finalFailureOf(response, call, true) });
    const platformUrl = httpUrl("platformUrl", settings.platformUrl);
    this.platform = api({ baseUrl: platformUrl, headers, classify: billingRefusalOf });
    // Another host, which needs no key.
    this.keys = api({ baseUrl: httpUrl("jwksUrl", settings.jwksUrl) });
  }

  submit(
    { endpoint, input, isInline }: QueuedRequest,
    callbackUrl: string | null,
    signal: AbortSignal,
  ): Promise<ApiResponse> {
    const { keepFilesSeconds, startTimeoutSeconds, timeoutMs, uploadTimeoutMs } = this.host.settings;
    const query = callbackUrl === null ? "" : `?fal_webhook=${encodeURIComponent(callbackUrl)}`;
    return this.api.call({
      path: `/${endpoint}${query}`,
      json: input,
      headers: {
        "x-fal-object-lifecycle-preference": JSON.stringify({ expiration_duration_seconds: keepFilesSeconds }),
        ...(startTimeoutSeconds === undefined ? {} : { "x-fal-request-timeout": String(startTimeoutSeconds) }),
      },
      creates: true,
      timeoutMs: isInline ? uploadTimeoutMs : timeoutMs,
      signal,
    });
  }

  status(url: string, signal: AbortSignal): Promise<ApiResponse> {
    return this.api.call({ path: url, isStatusCall: true, signal });
  }

  result(url: string, hasFailed: boolean, signal: AbortSignal): Promise<ApiResponse> {
    return (hasFailed ? this.errors : this.results).call({ path: url, isStatusCall: true, signal });
  }

  cancel(url: string, signal: AbortSignal): Promise<ApiResponse> {
    return this.api.call({ method: "PUT", path: url, signal });
  }

  /** The account's balance; 403 where the key may not read it. */
  billing(signal: AbortSignal): Promise<ApiResponse> {
    return this.platform.call({ path: "/account/billing?expand=credits", signal });
  }

  webhookKeys(signal: AbortSignal): Promise<ApiResponse> {
    return this.keys.call({ path: "", signal });
  }
}
