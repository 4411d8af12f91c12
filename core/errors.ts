/**
 * The error catalogue: one class for each code that this code throws. Messages say what, where and what is allowed, and
 * are safe to show.
 */

import type { ErrorCode } from "./error-codes.js";

const BRAND = Symbol.for("fermata.error");

/** An error whose code, message and details may be shown to the caller. */
export abstract class FermataError extends Error {
  abstract readonly code: ErrorCode;
  readonly details?: object;
  readonly [BRAND] = true;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }

  /** True for an error of any copy of this class. */
  static is(value: unknown): value is FermataError {
    return typeof value === "object" && value !== null && BRAND in value;
  }
}

export class AuthenticationRequiredError extends FermataError {
  readonly code = "authentication_required";
  constructor(message = "Send an API key: `Authorization: Bearer <API_KEY>`.") {
    super(message);
  }
}

export class InvalidApiKeyError extends FermataError {
  readonly code = "invalid_api_key";
  constructor(message = "The API key is not valid.") {
    super(message);
  }
}

export class RevokedApiKeyError extends FermataError {
  readonly code = "revoked_api_key";
  constructor(message = "The API key was revoked.") {
    super(message);
  }
}

/** The reason is the operator's, and is not shown. */
export class AccountSuspendedError extends FermataError {
  readonly code = "account_suspended";
  constructor() {
    super("The account is suspended. Contact support.");
  }
}

export class ApiTermsNotAcceptedError extends FermataError {
  readonly code = "api_terms_not_accepted";
  constructor() {
    super("The account has not accepted the API terms.");
  }
}

export class InsufficientScopeError extends FermataError {
  readonly code = "insufficient_scope";
  override readonly details: { readonly required_scope: string };
  constructor(requiredScope: string, message = `The API key lacks the scope ${requiredScope}.`) {
    super(message);
    this.details = { required_scope: requiredScope };
  }
}

/** One thing wrong with a request. `path` starts with `body`, `query`, `path` or `header`. */
export interface RequestIssue {
  readonly path: string;
  readonly message: string;
}

export class InvalidRequestError extends FermataError {
  readonly code = "invalid_request";
  override readonly details: { readonly issues: readonly RequestIssue[] };
  constructor(issues: readonly RequestIssue[]) {
    super(`The request is not valid: ${issues.map((issue) => `${issue.path} ${issue.message}`).join("; ")}.`);
    this.details = { issues };
  }
}

export class InvalidModelError extends FermataError {
  readonly code = "invalid_model";
  constructor() {
    super("There is no model with the given model_id. GET /api/v1/models lists them.");
  }
}

export class ModelNotFoundError extends FermataError {
  readonly code = "model_not_found";
  constructor() {
    super("There is no such model. GET /api/v1/models lists them; a slash in an id is sent as %2F.");
  }
}

export class InsufficientCreditsError extends FermataError {
  readonly code = "insufficient_credits";
  constructor(override readonly details: { readonly required: number; readonly available: number }) {
    super(`The job costs ${details.required} credits; ${details.available} are available.`);
  }
}

export class IdempotencyKeyRequiredError extends FermataError {
  readonly code = "idempotency_key_required";
  constructor() {
    super("Send an Idempotency-Key header of 1 to 255 printable ASCII characters.");
  }
}

export class IdempotencyKeyConflictError extends FermataError {
  readonly code = "idempotency_key_conflict";
  constructor() {
    super("The Idempotency-Key was used for a request of another shape. Use a new key.");
  }
}

export class IdempotencyConflictError extends FermataError {
  readonly code = "idempotency_conflict";
  constructor() {
    super("The Idempotency-Key was used with another body. Use a new key, or send the first body again.");
  }
}

export class GenerationConcurrencyExceededError extends FermataError {
  readonly code = "generation_concurrency_exceeded";
  constructor(override readonly details: { readonly limit: number; readonly running: number }) {
    super(`The account has ${details.running} running jobs; its tier allows ${details.limit}.`);
  }
}

export class JobNotFoundError extends FermataError {
  readonly code = "job_not_found";
  constructor() {
    super("There is no such job.");
  }
}

export class TrackNotFoundError extends FermataError {
  readonly code = "track_not_found";
  constructor() {
    super("There is no such track.");
  }
}

export class PlaylistNotFoundError extends FermataError {
  readonly code = "playlist_not_found";
  constructor() {
    super("There is no such playlist.");
  }
}

export class WebhookEndpointNotFoundError extends FermataError {
  readonly code = "webhook_endpoint_not_found";
  constructor() {
    super("There is no such webhook endpoint.");
  }
}

export class WebhookUrlInvalidError extends FermataError {
  readonly code = "webhook_url_invalid";
  /** @param endpointId the account's endpoint that has this URL already; left out for what is no URL */
  constructor(endpointId?: string) {
    super(
      endpointId === undefined
        ? "The webhook URL is not a valid URL of at most 2,048 characters."
        : `The webhook URL is already that of the endpoint ${endpointId}; an account registers each URL once.`,
    );
  }
}

export class WebhookHttpsRequiredError extends FermataError {
  readonly code = "webhook_https_required";
  constructor() {
    super("The webhook URL must begin with https://.");
  }
}

export class WebhookCredentialsForbiddenError extends FermataError {
  readonly code = "webhook_credentials_forbidden";
  constructor() {
    super("The webhook URL must not hold credentials.");
  }
}

export class WebhookHostBlockedError extends FermataError {
  readonly code = "webhook_host_blocked";
  constructor() {
    super("The webhook URL must point to a public host.");
  }
}

export class NotFoundError extends FermataError {
  readonly code = "not_found";
  constructor(what = "There is nothing at this address.") {
    super(what);
  }
}

export class MethodNotAllowedError extends FermataError {
  readonly code = "method_not_allowed";
  /** @param allow the methods this address takes, as the Allow header says them */
  constructor(readonly allow: string) {
    super(`This address takes ${allow}.`);
  }
}

export class PayloadTooLargeError extends FermataError {
  readonly code = "payload_too_large";
  constructor(limitBytes: number) {
    super(`The body is larger than ${limitBytes} bytes.`);
  }
}

export class UnsupportedMediaTypeError extends FermataError {
  readonly code = "unsupported_media_type";
  constructor(reason = "Send `Content-Type: application/json`, in UTF-8.") {
    super(reason);
  }
}

export class RateLimitedError extends FermataError {
  readonly code = "rate_limited";
  /** @param details `window_seconds` is 0 where the limit is of what is under way at once */
  constructor(
    override readonly details: {
      readonly limit: number;
      readonly window_seconds: number;
      readonly retry_after_seconds: number;
    },
    message = `More than ${details.limit} requests in ${details.window_seconds} s.` +
      ` Try again in ${details.retry_after_seconds} s.`,
  ) {
    super(message);
  }
}

export class ProviderUnavailableError extends FermataError {
  readonly code = "provider_unavailable";
  constructor() {
    super("The model's provider is temporarily unavailable. Nothing was charged.");
  }
}

export class ProviderTimeoutError extends FermataError {
  readonly code = "provider_timeout";
  constructor() {
    super("The model's provider did not answer in time. Nothing was charged.");
  }
}

/** The request cannot be served right now and may be sent again: overload, shutting down, storage unavailable. */
export class ServiceUnavailableError extends FermataError {
  readonly code = "service_unavailable";
  constructor(
    message = "The service is temporarily unavailable. Try again.",
    readonly retryAfterSeconds = 1,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Other transactions hold rows that are needed, and go on doing so. Nothing was written. */
export class RowsLockedError extends ServiceUnavailableError {
  constructor(options?: ErrorOptions) {
    super("Another change of the same account takes too long. Try again.", undefined, options);
  }
}

/**
 * A transaction of the embedding app lost a race against another one (deadlock, lock wait, duplicate key). Roll it
 * back and run it again from its start.
 */
export class TransactionLostError extends ServiceUnavailableError {
  constructor(options?: ErrorOptions) {
    super("The transaction met another one. Roll it back, and run it again from its start.", undefined, options);
  }
}

/** An operation of an operator or an embedding app that makes no sense as given; the public API never returns it. */
export class OperationRefusedError extends FermataError {
  readonly code = "invalid_request";
}

/**
 * The same of what accounts can do themselves: its message is for operators, and callers of the public API get an
 * {@link InvalidRequestError} of its issues.
 */
export class InputRefusedError extends OperationRefusedError {
  constructor(
    message: string,
    readonly issues: readonly RequestIssue[],
  ) {
    super(message);
  }
}

/** What an operation names is not there. */
export class UnknownObjectError extends OperationRefusedError {}
