import { bagOf, failureOf, ProviderApi, ProviderFailure, retryAfterMs } from "../../core/ports/music-provider.js";
import type { ApiAnswer, ApiCall, Bag, ProviderFailureKind, ProviderHost } from "../../core/ports/music-provider.js";
import type { Config } from "./settings.js";
import { AccessTokens } from "./token.js";

/** A song as WAV in base64, and several of them. */
const ANSWER_MAX_BYTES = 256 * 1024 * 1024;

/** What the statuses of Google's error model stand for. */
const KINDS: Readonly<Record<string, ProviderFailureKind>> = {
  UNAUTHENTICATED: "misconfigured",
  PERMISSION_DENIED: "misconfigured",
  NOT_FOUND: "misconfigured",
  RESOURCE_EXHAUSTED: "rate_limited",
  // Music may have been made before it stumbled.
  INTERNAL: "outcome_unknown",
  UNAVAILABLE: "unavailable",
  DEADLINE_EXCEEDED: "outcome_unknown",
};

/** With INVALID_ARGUMENT: filters of content have no status of their own. */
const REJECTED = /recitation|safety|blocked|prohibited|copyright|artist/i;

/** The Gemini API, by key. */
export class GeminiClient {
  private readonly api: ProviderApi;

  constructor({ apiKey, baseUrl }: NonNullable<Config["gemini"]>, timeoutMs: number, { fetch }: ProviderHost) {
    const headers = { "x-goog-api-key": apiKey };
    this.api = new ProviderApi({ fetch, baseUrl, headers, timeoutMs, maxBytes: ANSWER_MAX_BYTES, judge });
  }

  generate(model: string, json: Bag, signal: AbortSignal): Promise<ApiAnswer> {
    return this.api.call({ path: `/models/${encodeURIComponent(model)}:generateContent`, json, creates: true, signal });
  }
}

/** Vertex AI, by an access token that lives for an hour. */
export class VertexClient {
  private readonly tokens: AccessTokens;

  constructor(
    private readonly config: NonNullable<Config["vertex"]>,
    private readonly timeoutMs: number,
    private readonly host: ProviderHost,
  ) {
    this.tokens = new AccessTokens(config.account, host);
  }

  async predict(model: string, json: Bag, signal: AbortSignal): Promise<ApiAnswer> {
    const { baseUrl, parent } = this.config;
    const headers = { authorization: `Bearer ${await this.tokens.token(signal)}` };
    const { fetch } = this.host;
    // A client of its own for each token: a client keeps the secrets of its headers out of what it says.
    const api = new ProviderApi({ fetch, baseUrl, headers, timeoutMs: this.timeoutMs, maxBytes: ANSWER_MAX_BYTES, judge });
    const path = `/${parent}/publishers/google/models/${encodeURIComponent(model)}:predict`;
    try {
      return await api.call({ path, json, creates: true, signal });
    } catch (error) {
      if (ProviderFailure.is(error) && error.kind === "misconfigured") this.tokens.forget();
      throw error;
    }
  }
}

function judge(answer: ApiAnswer, call: ApiCall): ProviderFailure | null {
  const usual = failureOf(answer, call);
  if (usual === null) return null;
  const { status, message } = bagOf(bagOf(answer.json())["error"]);
  const code = typeof status === "string" ? status : undefined;
  const said = typeof message === "string" ? message : answer.text();
  const kind = kindOf(code, said) ?? (usual.kind === "invalid_input" ? invalidKind(said) : usual.kind);
  const isUnsure = kind === "outcome_unknown" || kind === "failed";
  const text = said.replace(/\s+/gu, " ").slice(0, 300);
  return new ProviderFailure(kind, `${answer.status}${code === undefined ? "" : ` ${code}`}: ${text}`, {
    retryAfterMs: retryAfterMs(answer.headers),
    billable: isUnsure ? "unknown" : "no",
    providerCode: code,
  });
}

function kindOf(code: string | undefined, said: string): ProviderFailureKind | undefined {
  if (code === "INVALID_ARGUMENT") return invalidKind(said);
  return code !== undefined && Object.hasOwn(KINDS, code) ? KINDS[code] : undefined;
}

/** The same status for what is wrong with the request, with its content, and with the key. */
function invalidKind(said: string): ProviderFailureKind {
  if (/api.?key/i.test(said)) return "misconfigured";
  return REJECTED.test(said) ? "content_rejected" : "invalid_input";
}
