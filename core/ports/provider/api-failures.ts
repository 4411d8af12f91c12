import type { ApiAnswer, ApiCall } from "./api-call.js";
import { ProviderFailure, type ProviderFailureKind } from "./failure.js";
import { isObject } from "./json.js";

/** The failure that a status stands for where a provider follows common usage; null for 2xx. */
export function failureOf(answer: ApiAnswer, call: Pick<ApiCall, "creates" | "asksAfter"> = {}): ProviderFailure | null {
  const { status } = answer;
  if (status >= 200 && status < 300) return null;
  const kind = kindOf(status, call.creates === true);
  return providerFailure(call.asksAfter === true ? kindAskedAfter(kind, answer) : kind, answer);
}

/** A failure with all that an answer tells: status, an excerpt of the body, the wait it asks for, its request id. */
export function providerFailure(
  kind: ProviderFailureKind,
  answer: ApiAnswer,
  options: { readonly message?: string; readonly code?: string; readonly retryAfterMs?: number } = {},
): ProviderFailure {
  const { status, headers } = answer;
  const said = options.message ?? answer.text().replace(/\s+/gu, " ").slice(0, 300);
  const isUnknown = kind === "outcome_unknown" || kind === "failed";
  return new ProviderFailure(kind, `${status}${said === "" ? "" : `: ${said}`}`, {
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

/** That work is there no more is believed of the provider alone, which says it in JSON; operators' troubles pass, and end nothing. */
function kindAskedAfter(kind: ProviderFailureKind, answer: ApiAnswer): ProviderFailureKind {
  if (kind === "gone") return isObject(answer.json()) ? "gone" : "unavailable";
  return kind === "invalid_input" || kind === "failed" ? "unavailable" : kind;
}
