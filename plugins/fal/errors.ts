import { asObject, failureOf, isObject, ProviderFailure } from "../sdk/index.js";
import type { ApiResponse, ApiCall, ProviderFailureKind } from "../sdk/index.js";

/** The type of a model's error that refuses the content. */
export const REJECTED = "content_policy_violation";

/** For work whose status has an error without a type. */
export const ERROR_CODE = "error";

const TIMEOUTS: ReadonlySet<string> = new Set(["request_timeout", "startup_timeout", "generation_timeout"]);

/**
 * Status 499: a client disconnected. For a creating call that client is this plugin, for accepted work a client within
 * fal.
 */
const DISCONNECTED = "client_disconnected";

/** 4xx errors that the request did not cause. */
const NOT_THE_REQUEST: ReadonlySet<string> = new Set(["downstream_service_error", DISCONNECTED, "no_media_generated"]);

/** The text of a 403 for an account without balance: "User is locked. Reason: Exhausted balance.", or "TOP_UP". */
const LOCKED = /user is locked|exhausted balance/i;

/** The content of an error's body: a list of a model's errors, or one error of the platform. */
interface ErrorDetails {
  /** `type` of the model's error, or `error_type` of the platform's; null without one. */
  readonly code: string | null;
  readonly message: string;
  /** Whether the same request may work later; null when nothing says so. */
  readonly isRetryable: boolean | null;
}

/** The failure of a call that was refused; undefined: the call succeeded. */
export function refusalOf(
  response: ApiResponse,
  call: Pick<ApiCall, "creates" | "isStatusCall">,
): ProviderFailure | undefined {
  const usual = failureOf(response, call);
  if (usual === null) return undefined;
  const details = detailsIn(response);
  return failureWith(kindRefused(response, call, usual.kind, details), response, usual, details);
}

/**
 * The failure that a result reports; undefined: the work succeeded.
 *
 * @param hasFailed whether the status reports a failure: then plain text gives the reason. Otherwise plain text may
 *   come from a broken queue, and only an error code belongs to the work
 */
export function finalFailureOf(
  response: ApiResponse,
  call: Pick<ApiCall, "creates" | "isStatusCall">,
  hasFailed: boolean,
): ProviderFailure | undefined {
  const usual = failureOf(response, call);
  if (usual === null) return undefined;
  const details = detailsIn(response);
  const isFinal = details !== null && (hasFailed || details.code !== null);
  if (!isFinal || isLocked(response, details))
    return failureWith(kindRefused(response, call, usual.kind, details), response, usual, details);
  return failureWith(kindOfWork(response, details), response, usual, { ...details, code: details.code ?? ERROR_CODE });
}

/** Why the balance is not reported; null where only this key may not read it, which is 403. A wrong key is 401. */
export function billingRefusalOf(response: ApiResponse): ProviderFailure | null | undefined {
  const failure = refusalOf(response, {});
  return response.status === 403 && failure?.kind === "misconfigured" ? null : failure;
}

/** Why a call was refused. */
function kindRefused(
  response: ApiResponse,
  { creates }: Pick<ApiCall, "creates">,
  usual: ProviderFailureKind,
  details: ErrorDetails | null,
): ProviderFailureKind {
  if (details === null) return usual;
  if (details.code === REJECTED) return "content_rejected";
  if (isLocked(response, details)) return "out_of_credit";
  if (creates !== true) return usual;
  if (usual === "invalid_input" && details.code === DISCONNECTED) return "outcome_unknown";
  if (usual === "invalid_input" && details.isRetryable === true) return "unavailable";
  if (usual === "invalid_input" && isNotTheRequest(details)) return "failed";
  return usual === "unavailable" && details.isRetryable === false ? "failed" : usual;
}

/**
 * Why accepted work failed. Where it may be retried, the request did not cause the failure, and the queue has already
 * retried it.
 */
function kindOfWork(response: ApiResponse, details: ErrorDetails): ProviderFailureKind {
  const known = kindOfCode(details.code);
  if (known !== null) return known;
  if (response.status >= 500 || details.isRetryable === true || isNotTheRequest(details)) return "failed";
  return failureOf(response)?.kind ?? "failed";
}

/** The failure in the status of work; null when only the result has it. */
export function failureOfStatus(error: string, errorType: string | null): ProviderFailure | null {
  const words = [errorType, error].filter((word) => word !== null && word !== "").join(": ");
  const kind = kindOfCode(errorType) ?? (/cancel/i.test(words) ? "cancelled" : null);
  const isRunner = errorType?.startsWith("runner_") === true;
  if (kind === null && !isRunner) return null;
  return new ProviderFailure(kind ?? "failed", words.slice(0, 300), {
    billable: "no",
    providerCode: errorType ?? undefined,
  });
}

/** The types of a model's errors in an error's body. */
export function errorTypesIn(body: unknown): string[] {
  const { detail } = asObject(body);
  if (!Array.isArray(detail)) return [];
  return detail.map(asObject).flatMap(({ type }) => (typeof type === "string" ? [type] : []));
}

function kindOfCode(code: string | null): ProviderFailureKind | null {
  if (code === REJECTED) return "content_rejected";
  return code !== null && TIMEOUTS.has(code) ? "timeout" : null;
}

function isNotTheRequest({ code }: ErrorDetails): boolean {
  return code !== null && NOT_THE_REQUEST.has(code);
}

function isLocked({ status }: ApiResponse, { message }: ErrorDetails): boolean {
  return status === 403 && LOCKED.test(message);
}

function failureWith(
  kind: ProviderFailureKind,
  response: ApiResponse,
  usual: ProviderFailure,
  detail: ErrorDetails | null,
): ProviderFailure {
  const { status, headers } = response;
  // A 422 may be billed although it has no result, and so may accepted work; server errors never are.
  const isOpen = status === 422 || kind === "outcome_unknown" || (kind === "failed" && status < 500);
  return new ProviderFailure(kind, detail === null ? usual.message : `${status}: ${detail.message}`, {
    billable: isOpen ? "unknown" : "no",
    retryAfterMs: usual.retryAfterMs ?? undefined,
    providerCode: detail?.code ?? undefined,
    requestId: headers.get("x-fal-request-id") ?? usual.requestId ?? undefined,
  });
}

/** null: it has none of the documented shapes. */
function detailsIn(response: ApiResponse): ErrorDetails | null {
  const body = response.json();
  if (!isObject(body)) return null;
  const { detail, error_type: platform } = body;
  const types = errorTypesIn(body);
  const type = types.includes(REJECTED) ? REJECTED : types[0];
  const code = type ?? (typeof platform === "string" ? platform : response.headers.get("x-fal-error-type"));
  if (detail === undefined && code === null) return null;
  const retryable = response.headers.get("x-fal-retryable") ?? response.headers.get("x-fal-needs-retry");
  const isRetryable = retryable === null ? null : /^(true|1|yes)$/i.test(retryable.trim());
  const message = typeof detail === "string" ? detail : (JSON.stringify(detail) ?? code ?? "");
  return { code, isRetryable, message: message.slice(0, 300) };
}
