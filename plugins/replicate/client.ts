import { bagOf, ProviderApi, providerFailure, retryAfterMs } from "../../core/ports/music-provider.js";
import type { ApiAnswer, ApiCall, ProviderFailure, ProviderHost } from "../../core/ports/music-provider.js";
import type { Inputs } from "./options.js";
import type { Config } from "./settings.js";

/** The calls of the predictions API; each answers what came, to be read by `map.ts`. */
export class ReplicateClient {
  private readonly api: ProviderApi;

  constructor(
    private readonly config: Config,
    { fetch }: ProviderHost,
  ) {
    const { baseUrl, apiKey, timeoutMs } = config;
    this.api = new ProviderApi({ fetch, baseUrl, timeoutMs, headers: { authorization: `Bearer ${apiKey}` }, judge });
  }

  create(version: string, input: Inputs, callbackUrl: string | null, signal: AbortSignal): Promise<ApiAnswer> {
    const { cancelAfterSeconds } = this.config;
    // Webhooks go to https only; an address that they would refuse is left out, and the work polled. The one of the
    // start shows that a submission whose reply was lost has been accepted.
    const isTaken = callbackUrl?.startsWith("https://") === true;
    const webhook = isTaken ? { webhook: callbackUrl, webhook_events_filter: ["start", "completed"] } : {};
    return this.api.call({
      path: "/predictions",
      json: { version, input, ...webhook },
      headers: cancelAfterSeconds === null ? {} : { "cancel-after": `${cancelAfterSeconds}s` },
      creates: true,
      signal,
    });
  }

  prediction(id: string, signal: AbortSignal): Promise<ApiAnswer> {
    return this.api.call({ path: `/predictions/${encodeURIComponent(id)}`, asksAfter: true, signal });
  }

  cancel(id: string, signal: AbortSignal): Promise<ApiAnswer> {
    return this.api.call({ method: "POST", path: `/predictions/${encodeURIComponent(id)}/cancel`, signal });
  }

  account(signal: AbortSignal): Promise<ApiAnswer> {
    return this.api.call({ path: "/account", signal });
  }

  webhookSecret(signal: AbortSignal): Promise<ApiAnswer> {
    return this.api.call({ path: "/webhooks/default/secret", signal });
  }
}

/** The title of 422 for a version that is not there, or not for this account. */
const NO_VERSION = /^invalid version/i;

/** Statuses mean what they usually mean, but for a version that is not there; the wait may stand in words. */
function judge(answer: ApiAnswer, { creates }: ApiCall): ProviderFailure | undefined {
  const { title, detail } = bagOf(answer.json());
  if (creates === true && answer.status === 422 && typeof title === "string" && NO_VERSION.test(title))
    return providerFailure("model_unavailable", answer, { message: [title, detail].join(": ").slice(0, 300) });
  if (answer.status !== 429) return undefined;
  const [, seconds] = /resets in ~?(\d+)\s*s/i.exec(answer.text()) ?? [];
  const wait = retryAfterMs(answer.headers) ?? (seconds === undefined ? undefined : Number(seconds) * 1_000);
  return providerFailure("rate_limited", answer, wait === undefined ? {} : { retryAfterMs: wait });
}
