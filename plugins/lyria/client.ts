import { bearer, ProviderFailure } from "../sdk/index.js";
import type { ApiResponse, JsonObject, ProviderApi } from "../sdk/index.js";
import { classify } from "./errors.js";
import type { Config, Host } from "./settings.js";
import { AccessTokens } from "./token.js";

/** Several songs as WAV in base64. */
const RESPONSE_MAX_BYTES = 256 * 1024 * 1024;

/** The revision of the Interactions API that has steps; earlier ones are refused. */
const API_REVISION = { "api-revision": "2026-05-20" };

/** The Gemini API, by key. */
export class GeminiClient {
  private readonly api: ProviderApi;

  constructor({ apiKey, baseUrl }: NonNullable<Config["gemini"]>, host: Host) {
    const headers = { "x-goog-api-key": apiKey };
    this.api = host.api({ baseUrl, headers, maxBytes: RESPONSE_MAX_BYTES, classify });
  }

  generate(model: string, json: JsonObject, signal: AbortSignal): Promise<ApiResponse> {
    return this.api.call({ path: `/models/${encodeURIComponent(model)}:generateContent`, json, creates: true, signal });
  }

  createInteraction(json: JsonObject, signal: AbortSignal): Promise<ApiResponse> {
    return this.api.call({ path: "/interactions", json, headers: API_REVISION, creates: true, signal });
  }

  /** The state of an interaction, with its music once it is done. */
  interaction(id: string, signal: AbortSignal): Promise<ApiResponse> {
    return this.api.call({ path: pathOf(id), headers: API_REVISION, isStatusCall: true, signal });
  }

  cancelInteraction(id: string, signal: AbortSignal): Promise<ApiResponse> {
    return this.api.call({ method: "POST", path: `${pathOf(id)}/cancel`, headers: API_REVISION, signal });
  }
}

function pathOf(id: string): string {
  return `/interactions/${encodeURIComponent(id)}`;
}

/** Vertex AI, by an access token that lives for an hour. */
export class VertexClient {
  private readonly tokens: AccessTokens;

  constructor(
    private readonly config: NonNullable<Config["vertex"]>,
    private readonly host: Host,
  ) {
    this.tokens = new AccessTokens(config.account, host);
  }

  async predict(model: string, json: JsonObject, signal: AbortSignal): Promise<ApiResponse> {
    const { baseUrl, parent } = this.config;
    const headers = bearer(await this.tokens.token(signal));
    // A client of its own for each token: a client keeps the secrets of its headers out of what it says.
    const api = this.host.api({ baseUrl, headers, maxBytes: RESPONSE_MAX_BYTES, classify });
    const path = `/${parent}/publishers/google/models/${encodeURIComponent(model)}:predict`;
    try {
      return await api.call({ path, json, creates: true, signal });
    } catch (error) {
      if (ProviderFailure.is(error) && error.kind === "misconfigured") this.tokens.forget();
      throw error;
    }
  }
}
