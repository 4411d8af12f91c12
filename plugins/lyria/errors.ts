import { asObject, failureOf, ProviderFailure, retryAfterMs } from "../sdk/index.js";
import type { ApiResponse, ApiCall, JsonObject, ProviderFailureKind } from "../sdk/index.js";

/** The failure kinds of the statuses of Google's error model, for a call that starts work. */
const KINDS: Readonly<Record<string, ProviderFailureKind>> = {
  UNAUTHENTICATED: "misconfigured",
  PERMISSION_DENIED: "misconfigured",
  NOT_FOUND: "model_unavailable",
  // The region, the free tier, billing that is off.
  FAILED_PRECONDITION: "misconfigured",
  RESOURCE_EXHAUSTED: "rate_limited",
  // Music may have been created before the failure.
  INTERNAL: "outcome_unknown",
  UNAVAILABLE: "unavailable",
  DEADLINE_EXCEEDED: "outcome_unknown",
  CANCELLED: "outcome_unknown",
};

/** HTTP status of CANCELLED. */
const CLIENT_CLOSED = 499;

/** With INVALID_ARGUMENT: filters of content have no status of their own. */
const REJECTED = /recitation|safety|blocked|prohibited|copyright|artist/i;

/** With RESOURCE_EXHAUSTED, which otherwise means too many requests. */
const DEPLETED = /credits? (are|is|have been) (depleted|exhausted)/i;

/** The failure that a response reports; null for a success. */
export function classify(response: ApiResponse, call: ApiCall): ProviderFailure | null {
  const usual = failureOf(response, call);
  if (usual === null) return null;
  const error = errorIn(response.json());
  const code = codeOf(error);
  const { message } = error;
  const detail = typeof message === "string" ? message : response.text();
  const kind = kindOf(response.status, code, detail, call) ?? usual.kind;
  const isOutcomeUnknown = kind === "outcome_unknown" || kind === "failed";
  const text = detail.replace(/\s+/gu, " ").slice(0, 300);
  const remedy = refusesBackground(response.status, detail, call) ? " Set geminiApi to generateContent." : "";
  return new ProviderFailure(kind, `${response.status}${code === undefined ? "" : ` ${code}`}: ${text}${remedy}`, {
    retryAfterMs: retryDelayMs(error) ?? retryAfterMs(response.headers),
    billable: isOutcomeUnknown ? "unknown" : "no",
    providerCode: code,
  });
}

/** Words about the parameter `background`, not about music for the background. */
function refusesBackground(status: number, message: string, { path }: ApiCall): boolean {
  const isOfInteraction = status === 400 && path.endsWith("/interactions") && !isRefusal(message);
  return isOfInteraction && /\bbackground\b/i.test(message) && /support|allow|only|unknown|invalid/i.test(message);
}

/** True for words about refused content. */
export function isRefusal(message: string): boolean {
  return REJECTED.test(message);
}

/** The envelope; some services of Google's wrap it in a list. */
function errorIn(body: unknown): JsonObject {
  return asObject(asObject(Array.isArray(body) ? body[0] : body)["error"]);
}

/** Google's error model has a status in capitals; the Interactions API a code in words (`invalid_request`). */
function codeOf({ status, code }: JsonObject): string | undefined {
  return [status, code].find((value): value is string => typeof value === "string" && value !== "");
}

/** undefined: what HTTP means by the status. */
function kindOf(
  status: number,
  code: string | undefined,
  message: string,
  call: ApiCall,
): ProviderFailureKind | undefined {
  if (status === 402 || DEPLETED.test(message)) return "out_of_credit";
  if (status === 400 && /api.?key/i.test(message)) return "misconfigured";
  if (call.creates !== true) return undefined;
  if (status === CLIENT_CLOSED) return "outcome_unknown";
  if (code !== undefined && Object.hasOwn(KINDS, code)) return KINDS[code];
  if (status !== 400) return undefined;
  // A model that cannot run in the background; with geminiApi: generateContent it need not.
  if (refusesBackground(status, message, call)) return "misconfigured";
  return isRefusal(message) ? "content_rejected" : "invalid_input";
}

/** `google.rpc.RetryInfo` among the details: `"12.5s"`. */
function retryDelayMs({ details }: JsonObject): number | undefined {
  const infos = (Array.isArray(details) ? details : []).map(asObject);
  const { retryDelay } = infos.find(({ "@type": type }) => String(type).endsWith("google.rpc.RetryInfo")) ?? {};
  const [, seconds] = /^(\d+(?:\.\d+)?)s$/.exec(typeof retryDelay === "string" ? retryDelay : "") ?? [];
  return seconds === undefined ? undefined : Math.round(Number(seconds) * 1_000);
}
