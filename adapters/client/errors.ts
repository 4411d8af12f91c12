/** What a response says, or why there was none. */
export interface ErrorContext {
  readonly code?: string;
  /** Of the response; 0: none came. */
  readonly status?: number;
  readonly requestId?: string | null;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly idempotencyKey?: string | null;
  readonly cause?: unknown;
}

/** Every error that a client throws because of a response, or the lack of one. */
export class FermataError extends Error {
  /** One of the API's codes, `network_error`, `aborted`, `http_error` (no response of Fermata), or a newer code. */
  readonly code: string;
  /** Of the response; 0: none came. Of a failed job 200. */
  readonly status: number;
  /** To be quoted when support is asked; null without a response of Fermata. */
  readonly requestId: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  /** Of the request: the same call with this key creates and charges nothing twice. Null where it had none. */
  idempotencyKey: string | null;
  /** Of the job that was waited for; null where none is known. */
  jobId: string | null = null;

  constructor(message: string, context: ErrorContext = {}) {
    super(message, context.cause === undefined ? {} : { cause: context.cause });
    this.code = context.code ?? "http_error";
    this.status = context.status ?? 0;
    this.requestId = context.requestId ?? null;
    this.details = context.details ?? {};
    this.idempotencyKey = context.idempotencyKey ?? null;
    this.name = nameOf(this.code);
  }
}

/** No whole response came: no connection, or one that was lost. Whether the request was carried out is unknown. */
export class NetworkError extends FermataError {
  constructor(message: string, context: ErrorContext = {}) {
    super(message, { ...context, code: "network_error" });
  }
}

/** The caller's signal. Its `name` is `AbortError`, as that of `fetch`; its `cause` is the signal's reason. */
export class AbortedError extends FermataError {
  constructor(context: ErrorContext = {}) {
    super("The call was aborted.", { ...context, code: "aborted" });
    this.name = "AbortError";
  }
}

/** A webhook is not from whom it claims to be, or too old. */
export class WebhookVerificationError extends FermataError {
  constructor(message: string) {
    super(message, { code: "webhook_verification" });
  }
}

export class AuthenticationRequiredError extends FermataError {}
export class InvalidApiKeyError extends FermataError {}
export class RevokedApiKeyError extends FermataError {}
export class AccountSuspendedError extends FermataError {}
export class ApiTermsNotAcceptedError extends FermataError {}
export class InsufficientScopeError extends FermataError {
  declare readonly details: { readonly required_scope: string };
}
export class InvalidRequestError extends FermataError {
  declare readonly details: { readonly issues: readonly { readonly path: string; readonly message: string }[] };
}
export class InvalidModelError extends FermataError {}
export class InsufficientCreditsError extends FermataError {
  declare readonly details: { readonly required: number; readonly available: number };
}
export class IdempotencyKeyRequiredError extends FermataError {}
export class IdempotencyKeyConflictError extends FermataError {}
export class IdempotencyConflictError extends FermataError {}
export class GenerationConcurrencyExceededError extends FermataError {
  declare readonly details: { readonly limit: number; readonly running: number };
}
export class JobNotFoundError extends FermataError {}
export class ModelNotFoundError extends FermataError {}
export class TrackNotFoundError extends FermataError {}
export class PlaylistNotFoundError extends FermataError {}
export class WebhookEndpointNotFoundError extends FermataError {}
export class WebhookUrlInvalidError extends FermataError {}
export class WebhookHttpsRequiredError extends FermataError {}
export class WebhookCredentialsForbiddenError extends FermataError {}
export class WebhookHostBlockedError extends FermataError {}
export class NotFoundError extends FermataError {}
export class MethodNotAllowedError extends FermataError {}
export class PayloadTooLargeError extends FermataError {}
export class UnsupportedMediaTypeError extends FermataError {}
export class RateLimitedError extends FermataError {
  declare readonly details: {
    readonly limit: number;
    readonly window_seconds: number;
    readonly retry_after_seconds: number;
  };
}
export class ProviderUnavailableError extends FermataError {}
export class ProviderTimeoutError extends FermataError {}
export class GenerationFailedError extends FermataError {}
export class InternalError extends FermataError {}
export class ServiceUnavailableError extends FermataError {}

/** The class of each code of the API. */
export const ERRORS: Readonly<Record<string, typeof FermataError>> = {
  authentication_required: AuthenticationRequiredError,
  invalid_api_key: InvalidApiKeyError,
  revoked_api_key: RevokedApiKeyError,
  account_suspended: AccountSuspendedError,
  api_terms_not_accepted: ApiTermsNotAcceptedError,
  insufficient_scope: InsufficientScopeError,
  invalid_request: InvalidRequestError,
  invalid_model: InvalidModelError,
  insufficient_credits: InsufficientCreditsError,
  idempotency_key_required: IdempotencyKeyRequiredError,
  idempotency_key_conflict: IdempotencyKeyConflictError,
  idempotency_conflict: IdempotencyConflictError,
  generation_concurrency_exceeded: GenerationConcurrencyExceededError,
  job_not_found: JobNotFoundError,
  model_not_found: ModelNotFoundError,
  track_not_found: TrackNotFoundError,
  playlist_not_found: PlaylistNotFoundError,
  webhook_endpoint_not_found: WebhookEndpointNotFoundError,
  webhook_url_invalid: WebhookUrlInvalidError,
  webhook_https_required: WebhookHttpsRequiredError,
  webhook_credentials_forbidden: WebhookCredentialsForbiddenError,
  webhook_host_blocked: WebhookHostBlockedError,
  not_found: NotFoundError,
  method_not_allowed: MethodNotAllowedError,
  payload_too_large: PayloadTooLargeError,
  unsupported_media_type: UnsupportedMediaTypeError,
  rate_limited: RateLimitedError,
  provider_unavailable: ProviderUnavailableError,
  provider_timeout: ProviderTimeoutError,
  generation_failed: GenerationFailedError,
  internal_error: InternalError,
  service_unavailable: ServiceUnavailableError,
};

/** The `error` of a response or of a failed job (API v1, section 2). */
export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly request_id?: string;
  readonly details?: object;
}

/** The error of a body, by its code; codes that this client does not know are a plain {@link FermataError}. */
export function toError({ code, message, request_id, details }: ErrorBody, context: ErrorContext): FermataError {
  const Class = ERRORS[code] ?? FermataError;
  const given = { requestId: request_id ?? null, ...(details && { details: details as Record<string, unknown> }) };
  return new Class(message, { ...context, ...given, code });
}

/** A minified class has lost its name: `insufficient_credits` is `InsufficientCreditsError`, as it is exported. */
function nameOf(code: string): string {
  const words = code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return words.endsWith("Error") ? words : `${words}Error`;
}
