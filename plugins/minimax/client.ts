import { asObject, failureOf, ProviderFailure, retryAfterMs } from "../sdk/index.js";
import type { ApiResponse, ApiCall, JsonObject, ProviderApi, ProviderFailureKind } from "../sdk/index.js";
import type { Host } from "./settings.js";

/** Ten minutes of WAV in hex. */
const RESPONSE_MAX_BYTES = 256 * 1024 * 1024;

/** The failure kinds of the codes of `base_resp`. */
const KINDS: ReadonlyMap<number, ProviderFailureKind> = new Map([
  // Errors during the work, and its time-out: whether music was created is unknown.
  [1000, "outcome_unknown"],
  [1001, "outcome_unknown"],
  [1002, "rate_limited"],
  [1004, "misconfigured"],
  [1008, "out_of_credit"],
  [1024, "outcome_unknown"],
  [1026, "content_rejected"],
  [1027, "content_rejected"],
  // Not on the page of errors; their own command-line tool takes them for a used-up quota.
  [1028, "out_of_credit"],
  [1030, "out_of_credit"],
  [1033, "outcome_unknown"],
  [1039, "unavailable"],
  [1041, "rate_limited"],
  [1042, "invalid_input"],
  [2013, "invalid_input"],
  [2038, "misconfigured"],
  // Requests that grow too fast, and a plan's used-up quota of some hours.
  [2045, "rate_limited"],
  [2049, "misconfigured"],
  [2056, "out_of_credit"],
  [2061, "misconfigured"],
  [2153, "misconfigured"],
]);

/** The page of errors and their own tool contradict each other on these: the text decides. */
const CONTRADICTED: ReadonlySet<number> = new Set([1002, 1039]);

/** The code that refuses the created music, which may have been billed. */
const REFUSED_OUTPUT = 1027;

/** The only call of the API. */
export class MiniMaxClient {
  private readonly api: ProviderApi;

  constructor({ api, clock }: Host) {
    this.api = api({
      maxBytes: RESPONSE_MAX_BYTES,
      classify: (response, call) => classify(response, call, clock.now()),
    });
  }

  generate(json: JsonObject, signal: AbortSignal): Promise<ApiResponse> {
    return this.api.call({ path: "/v1/music_generation", json, creates: true, signal });
  }
}

/** Most errors have status 200; the code takes precedence over the status. */
function classify(response: ApiResponse, call: ApiCall, now: number): ProviderFailure | null {
  const body = asObject(response.json());
  const { status_code: given, status_msg: detail } = asObject(body["base_resp"]);
  const code = typeof given === "number" && given !== 0 ? given : null;
  const usual = failureOf(response, call);
  if (code === null && usual === null) return null;
  const text = typeof detail === "string" ? detail : "";
  const kind = code === null ? kindOfStatus(response, usual?.kind) : kindOfCode(code, text, usual?.kind);
  const message = code === null ? usual?.message : `${response.status}: code ${code}: ${text.slice(0, 300)}`;
  const isOutcomeUnknown = kind === "outcome_unknown" || kind === "failed" || code === REFUSED_OUTPUT;
  const traceId = response.headers.get("trace-id") ?? body["trace_id"];
  return new ProviderFailure(kind, message ?? "", {
    retryAfterMs: retryAfterMs(response.headers) ?? resetsInMs(message ?? "", now),
    billable: isOutcomeUnknown ? "unknown" : "no",
    providerCode: code === null ? undefined : String(code),
    requestId: typeof traceId === "string" ? traceId : undefined,
  });
}

function kindOfCode(code: number, text: string, byStatus: ProviderFailureKind | undefined): ProviderFailureKind {
  if (CONTRADICTED.has(code) && /sensitive/i.test(text)) return "content_rejected";
  return KINDS.get(code) ?? byStatus ?? "failed";
}

/** The text of a usage window: `… resets at 2026-05-15T15:00:00Z`. */
function resetsInMs(text: string, now: number): number | undefined {
  const [, at] = /resets at (\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d))/i.exec(text) ?? [];
  const time = at === undefined ? Number.NaN : Date.parse(at);
  return Number.isFinite(time) ? Math.max(0, time - now) : undefined;
}

/** A plain 429 means too many requests or no credit. */
function kindOfStatus(response: ApiResponse, byStatus: ProviderFailureKind = "failed"): ProviderFailureKind {
  const isAboutMoney = /balance|quota|insufficient|usage limit/i.test(response.text());
  return response.status === 429 && isAboutMoney ? "out_of_credit" : byStatus;
}
