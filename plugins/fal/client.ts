import { ProviderApi } from "../../core/ports/music-provider.js";
import type { ApiAnswer, ProviderHost } from "../../core/ports/music-provider.js";
import { billingRefusalOf, finalFailureOf, refusalOf } from "./errors.js";
import type { Inputs } from "./options.js";
import type { Config } from "./settings.js";

/** The calls of the queue; each answers what came, to be read by `map.ts`. URLs are those of the submission's answer. */
export class FalClient {
  private readonly api: ProviderApi;
  /** For results: the answer to work that failed is its error. */
  private readonly results: ProviderApi;
  /** For results of work whose status says that it failed. */
  private readonly errors: ProviderApi;
  private readonly keys: ProviderApi;
  private readonly platform: ProviderApi;

  constructor(
    private readonly config: Config,
    { fetch }: ProviderHost,
  ) {
    const { baseUrl, apiKey, timeoutMs, jwksUrl, platformUrl } = config;
    const options = { fetch, baseUrl, timeoutMs, headers: { authorization: `Key ${apiKey}` } };
    this.api = new ProviderApi({ ...options, judge: refusalOf });
    this.results = new ProviderApi({ ...options, judge: (answer, call) => finalFailureOf(answer, call, false) });
    this.errors = new ProviderApi({ ...options, judge: (answer, call) => finalFailureOf(answer, call, true) });
    this.platform = new ProviderApi({ ...options, baseUrl: platformUrl, judge: billingRefusalOf });
    // Another host, which needs no key.
    this.keys = new ProviderApi({ fetch, baseUrl: jwksUrl, timeoutMs });
  }

  submit(endpoint: string, input: Inputs, callbackUrl: string | null, signal: AbortSignal): Promise<ApiAnswer> {
    const { keepFilesSeconds, startTimeoutSeconds } = this.config;
    const query = callbackUrl === null ? "" : `?fal_webhook=${encodeURIComponent(callbackUrl)}`;
    return this.api.call({
      path: `/${endpoint}${query}`,
      json: input,
      headers: {
        "x-fal-object-lifecycle-preference": JSON.stringify({ expiration_duration_seconds: keepFilesSeconds }),
        ...(startTimeoutSeconds === null ? {} : { "x-fal-request-timeout": String(startTimeoutSeconds) }),
      },
      creates: true,
      signal,
    });
  }

  status(url: string, signal: AbortSignal): Promise<ApiAnswer> {
    return this.api.call({ path: url, asksAfter: true, signal });
  }

  result(url: string, hasFailed: boolean, signal: AbortSignal): Promise<ApiAnswer> {
    return (hasFailed ? this.errors : this.results).call({ path: url, asksAfter: true, signal });
  }

  cancel(url: string, signal: AbortSignal): Promise<ApiAnswer> {
    return this.api.call({ method: "PUT", path: url, signal });
  }

  /** The account's balance; 403 where the key may not read it. */
  billing(signal: AbortSignal): Promise<ApiAnswer> {
    return this.platform.call({ path: "/account/billing?expand=credits", signal });
  }

  webhookKeys(signal: AbortSignal): Promise<ApiAnswer> {
    return this.keys.call({ path: "", signal });
  }
}
