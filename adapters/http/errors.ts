import { ValidateError } from "@tsoa/runtime";
import type { ErrorCode } from "../../core/error-codes.js";
import {
  FermataError,
  InputRefusedError,
  InvalidRequestError,
  OperationRefusedError,
  RateLimitedError,
  ServiceUnavailableError,
} from "../../core/errors.js";
import type { ShownError } from "./presenters/error.js";
import { toIssues } from "./request-issues.js";

/** @see API v1, section 7; decisions, "Codes beyond section 7" */
export const STATUS_BY_CODE: Readonly<Record<ErrorCode, number>> = {
  authentication_required: 401,
  invalid_api_key: 401,
  revoked_api_key: 401,
  account_suspended: 403,
  api_terms_not_accepted: 403,
  insufficient_scope: 403,
  invalid_request: 400,
  invalid_model: 400,
  insufficient_credits: 402,
  idempotency_key_required: 400,
  idempotency_key_conflict: 409,
  idempotency_conflict: 409,
  generation_concurrency_exceeded: 409,
  job_not_found: 404,
  model_not_found: 404,
  track_not_found: 404,
  playlist_not_found: 404,
  webhook_endpoint_not_found: 404,
  webhook_url_invalid: 400,
  webhook_https_required: 400,
  webhook_credentials_forbidden: 400,
  webhook_host_blocked: 400,
  not_found: 404,
  method_not_allowed: 405,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  provider_unavailable: 502,
  provider_timeout: 502,
  generation_failed: 500,
  internal_error: 500,
  service_unavailable: 503,
};

const INTERNAL_ERROR: ShownError = {
  code: "internal_error",
  message: "Something went wrong here. Quote the request_id when you contact support.",
};

/** The catalogue error that the response to `error` shows; null when it is a fault of this server. */
export function toFermataError(error: unknown): FermataError | null {
  if (error instanceof ValidateError) return new InvalidRequestError(toIssues(error.fields));
  // Express's word for a path that cannot be decoded.
  if (error instanceof URIError)
    return new InvalidRequestError([{ path: "path", message: "has a malformed percent-encoding" }]);
  if (error instanceof InputRefusedError) return new InvalidRequestError(error.issues);
  return FermataError.is(error) && !(error instanceof OperationRefusedError) ? error : null;
}

/** What callers see of `error`. */
export function toShownError(error: FermataError | null): ShownError {
  return error ?? INTERNAL_ERROR;
}

/** Headers of an error's response. */
export function errorHeaders(error: ShownError): Readonly<Record<string, string>> {
  if (error instanceof RateLimitedError) return { "Retry-After": String(error.details.retry_after_seconds) };
  if (error instanceof ServiceUnavailableError) return { "Retry-After": String(error.retryAfterSeconds) };
  switch (error.code) {
    case "authentication_required":
      return { "WWW-Authenticate": "Bearer" };
    case "invalid_api_key":
    case "revoked_api_key":
      return { "WWW-Authenticate": 'Bearer error="invalid_token"' }; // RFC 6750, section 3.1
    default:
      return {};
  }
}
