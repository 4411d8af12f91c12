import { ProviderFailure, type ProviderFailureKind } from "../../core/ports/music-provider.js";
import type { ApiCall, ApiResponse } from "./api-call.js";
import { isObject } from "./json.js";

/** The failure that a status usually means; null for 2xx. */
export function failureOf(
  response: ApiResponse,
  call: Pick<ApiCall, "creates" | "isStatusCall"> = {},
): ProviderFailure | null {
  const { status } = response;
  if (status >= 200 && status < 300) return null;
  const kind = kindOf(status, call.creates === true);
  return providerFailure(call.isStatusCall === true ? kindOfStatusCall(kind, response) : kind, response);
}

/** A failure with what the response says: status, an excerpt of the body, `Retry-After`, the request id. */
export function providerFailure(
  kind: ProviderFailureKind,
  response: ApiResponse,
  options: { readonly message?: string; readonly code?: string; readonly retryAfterMs?: number } = {},
): ProviderFailure {
  const { status, headers } = response;
  const text = options.message ?? response.text().replace(/\s+/gu, " ").slice(0, 300);
  const isUnknown = kind === "outcome_unknown" || kind === "failed";
  return new ProviderFailure(kind, `${status}${text === "" ? "" : `: ${text}`}`, {
    retryAfterMs: options.retryAfterMs ?? retryAfterMs(headers),
    billable: isUnknown ? "unknown" : "no",
    providerCode: options.code,
    requestId: headers.get("x-request-id") ?? headers.get("request-id") ?? undefined,
  });
}

/** `Retry-After` in milliseconds (RFC 9110, section 10.2.3); undefined without one. */
export function retryAfterMs(headers: Headers): number | undefined {
  const value = headers.get("retry-after")?.trim();
  if (value === undefined || value === "") return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  const [at, from] = [Date.parse(value), Date.parse(headers.get("date") ?? "")];
  return Number.isFinite(at) && Number.isFinite(from) ? Math.max(0, at - from) : undefined;
}

function kindOf(status: number, creates: boolean): ProviderFailureKind {
  if (status === 401 || status === 403) return "misconfigured";
  if (status === 402) return "out_of_credit";
  if (status === 404 || status === 410) return creates ? "model_unavailable" : "gone";
  if (status === 408 || status === 425) return creates ? "outcome_unknown" : "unavailable";
  if (status === 429) return "rate_limited";
  if (status === 503) return "unavailable";
  if (status >= 500) return creates ? "outcome_unknown" : "unavailable";
  return status >= 400 ? "invalid_input" : "failed";
}

/** Only a JSON response of the provider proves that work is gone; a refused poll does not end the work. */
function kindOfStatusCall(kind: ProviderFailureKind, response: ApiResponse): ProviderFailureKind {
  if (kind === "gone") return isObject(response.json()) ? "gone" : "unavailable";
  return kind === "invalid_input" || kind === "failed" ? "unavailable" : kind;
}
