/**
 * Every code that a response can have.
 *
 * @see API v1, section 7; decisions, "Codes beyond section 7"
 */
export const ERROR_CODES = [
  "authentication_required",
  "invalid_api_key",
  "revoked_api_key",
  "account_suspended",
  "api_terms_not_accepted",
  "insufficient_scope",
  "invalid_request",
  "invalid_model",
  "insufficient_credits",
  "idempotency_key_required",
  "idempotency_key_conflict",
  "idempotency_conflict",
  "generation_concurrency_exceeded",
  "job_not_found",
  "model_not_found",
  "track_not_found",
  "playlist_not_found",
  "webhook_endpoint_not_found",
  "webhook_url_invalid",
  "webhook_https_required",
  "webhook_credentials_forbidden",
  "webhook_host_blocked",
  "not_found",
  "method_not_allowed",
  "payload_too_large",
  "unsupported_media_type",
  "rate_limited",
  "provider_unavailable",
  "provider_timeout",
  "generation_failed",
  "internal_error",
  "service_unavailable",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];
