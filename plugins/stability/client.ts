import { asObject, bearer, failureOf, ProviderFailure, retryAfterMs } from "../sdk/index.js";
import type { ApiResponse, ApiCall, JsonObject, ProviderApi, ProviderFailureKind } from "../sdk/index.js";
import type { Host } from "./settings.js";

/** Six minutes of WAV, and some reserve. */
const SOUND_MAX_BYTES = 256 * 1024 * 1024;

/** Stability blocks a client that exceeds the rate limit for a minute. */
const KEPT_OUT_MS = 60_000;

/** The calls of the audio API; each returns the response, which `map.ts` reads. */
export class StabilityClient {
  private readonly api: ProviderApi;

  constructor({ settings, api }: Host) {
    const { apiKey, clientUserId = "" } = settings;
    const user: Record<string, string> = clientUserId === "" ? {} : { "stability-client-user-id": clientUserId };
    this.api = api({ headers: { ...bearer(apiKey), ...user }, maxBytes: SOUND_MAX_BYTES, classify });
  }

  /** @param accept `audio/*` for the audio itself; `application/json` where the response is an id */
  generate(
    call: Pick<ApiCall, "path" | "body" | "headers">,
    accept: string,
    signal: AbortSignal,
  ): Promise<ApiResponse> {
    return this.api.call({ ...call, headers: { ...call.headers, accept }, creates: true, signal });
  }

  /** 202 while it runs, then the audio. */
  result(id: string, signal: AbortSignal): Promise<ApiResponse> {
    const path = `/v2beta/audio/results/${encodeURIComponent(id)}`;
    return this.api.call({ path, headers: { accept: "audio/*" }, isStatusCall: true, signal });
  }
}

function classify(response: ApiResponse, call: ApiCall): ProviderFailure | null {
  const usual = failureOf(response, call);
  const { headers, status } = response;
  const isJson = headers.get("content-type")?.startsWith("application/json") === true;
  const {
    id,
    name,
    errors,
    finish_reason: reason,
  } = usual === null && !isJson ? ({} as JsonObject) : asObject(response.json());
  if (usual === null) {
    const isFiltered = (headers.get("finish-reason") ?? reason) === "CONTENT_FILTERED";
    const message = "It made music and filtered it (CONTENT_FILTERED).";
    return isFiltered ? new ProviderFailure("content_rejected", message, { providerCode: "CONTENT_FILTERED" }) : null;
  }
  const code = typeof name === "string" ? name : undefined;
  const kind = kindOf(status, code, call) ?? usual.kind;
  const detail = Array.isArray(errors) ? errors.map(String).join("; ").slice(0, 300) : null;
  const requestId = headers.get("x-request-id") ?? id;
  return new ProviderFailure(kind, detail === null ? usual.message : `${status}: ${code ?? ""}: ${detail}`, {
    retryAfterMs: kind === "rate_limited" ? Math.max(KEPT_OUT_MS, retryAfterMs(headers) ?? 0) : retryAfterMs(headers),
    // Stability does not charge failed work; a response without its envelope proves nothing.
    billable: code !== undefined || usual.billable === "no" ? "no" : "unknown",
    providerCode: code,
    requestId: typeof requestId === "string" ? requestId : undefined,
  });
}

/** The meaning of their errors, by their envelope; undefined: what HTTP means by the status. */
function kindOf(status: number, code: string | undefined, { isStatusCall }: ApiCall): ProviderFailureKind | undefined {
  // A 403 usually refuses permission; in Stability's envelope it refuses the content.
  if (code === undefined) return isStatusCall === true && status === 404 ? "unavailable" : undefined;
  if (code === "content_moderation" || status === 403) return "content_rejected";
  if (status === 500) return "unavailable";
  // Work that was accepted, and turned out to be impossible.
  return isStatusCall === true && [400, 413, 422].includes(status) ? "failed" : undefined;
}
