import type { ErrorCode } from "../../../core/error-codes.js";
import * as error from "../../../core/errors.js";
import { STATUS_BY_CODE, toShownError } from "../errors.js";
import { type ShownError, toErrorEnvelope } from "../presenters/error.js";
import { REQUEST_ID } from "./examples.js";
import type { Response, Schema } from "./model.js";

/** What callers meet on these endpoints, with an instance of each for its words and details. */
const EXAMPLES: Partial<Record<ErrorCode, ShownError>> = {
  authentication_required: new error.AuthenticationRequiredError(),
  invalid_api_key: new error.InvalidApiKeyError(),
  revoked_api_key: new error.RevokedApiKeyError(),
  account_suspended: new error.AccountSuspendedError(),
  api_terms_not_accepted: new error.ApiTermsNotAcceptedError(),
  insufficient_scope: new error.InsufficientScopeError("credits:read"),
  invalid_request: new error.InvalidRequestError([
    { path: "body.prompt", message: "must have 1 to 3000 characters; it has 0" },
  ]),
  invalid_model: new error.InvalidModelError(),
  insufficient_credits: new error.InsufficientCreditsError({ required: 15, available: 4 }),
  idempotency_key_required: new error.IdempotencyKeyRequiredError(),
  idempotency_key_conflict: new error.IdempotencyKeyConflictError(),
  idempotency_conflict: new error.IdempotencyConflictError(),
  generation_concurrency_exceeded: new error.GenerationConcurrencyExceededError({ limit: 3, running: 3 }),
  job_not_found: new error.JobNotFoundError(),
  model_not_found: new error.ModelNotFoundError(),
  webhook_endpoint_not_found: new error.WebhookEndpointNotFoundError(),
  webhook_url_invalid: new error.WebhookUrlInvalidError(),
  webhook_https_required: new error.WebhookHttpsRequiredError(),
  webhook_credentials_forbidden: new error.WebhookCredentialsForbiddenError(),
  webhook_host_blocked: new error.WebhookHostBlockedError(),
  payload_too_large: new error.PayloadTooLargeError(262_144),
  unsupported_media_type: new error.UnsupportedMediaTypeError(),
  rate_limited: new error.RateLimitedError({ limit: 600, window_seconds: 60, retry_after_seconds: 21 }),
  provider_unavailable: new error.ProviderUnavailableError(),
  provider_timeout: new error.ProviderTimeoutError(),
  internal_error: toShownError(null),
  service_unavailable: new error.ServiceUnavailableError(),
};

const INTEGER: Schema = { type: "integer" };

/** The members of `details`, for the codes that have any. */
const DETAILS: Partial<Record<ErrorCode, { readonly [name: string]: Schema }>> = {
  invalid_request: {
    issues: {
      type: "array",
      items: {
        type: "object",
        properties: {
          path: { type: "string", description: "Begins with `body`, `query`, `path` or `header`." },
          message: { type: "string" },
        },
        required: ["path", "message"],
        additionalProperties: false,
      },
    },
  },
  insufficient_scope: { required_scope: { type: "string" } },
  insufficient_credits: { required: INTEGER, available: INTEGER },
  generation_concurrency_exceeded: { limit: INTEGER, running: INTEGER },
  rate_limited: { limit: INTEGER, window_seconds: INTEGER, retry_after_seconds: INTEGER },
};

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: "The request is not valid.",
  401: "The API key is missing, invalid or revoked.",
  402: "The credits do not reach.",
  403: "The API key or its account may not do this.",
  404: "There is no such thing, or it belongs to another account.",
  409: "The request conflicts with an earlier one.",
  413: "The body is too large.",
  415: "The body is of another type than this operation takes.",
  429: "Too many requests; `Retry-After` says how long to wait.",
  500: "Something went wrong at this service.",
  502: "The model's provider is unavailable or timed out. Nothing was charged.",
  503: "The service is temporarily unavailable; `Retry-After` says how long to wait.",
};

/** The refusals of an endpoint by status, each with its codes, their details and an example for every code. */
export function errorResponses(codes: readonly ErrorCode[]): { [status: string]: Response } {
  const statuses = [...new Set(codes.map((code) => STATUS_BY_CODE[code]))].sort((one, other) => one - other);
  return Object.fromEntries(
    statuses.map((status) => [
      String(status),
      errorResponse(
        status,
        codes.filter((code) => STATUS_BY_CODE[code] === status),
      ),
    ]),
  );
}

function errorResponse(status: number, codes: readonly ErrorCode[]): Response {
  return {
    description: DESCRIPTIONS[status] ?? "",
    content: {
      "application/json": {
        schema: {
          type: "object",
          properties: { error: { allOf: [{ $ref: "#/components/schemas/ErrorBody" }, narrowed(codes)] } },
          required: ["error"],
          additionalProperties: false,
        },
        examples: Object.fromEntries(
          codes.map((code) => [code, { value: toErrorEnvelope(exampleOf(code), REQUEST_ID) }]),
        ),
      },
    },
  };
}

function exampleOf(code: ErrorCode): ShownError {
  return EXAMPLES[code] ?? { code, message: code };
}

function narrowed(codes: readonly ErrorCode[]): Schema {
  const properties: Schema["properties"] = { code: { type: "string", enum: [...codes] } };
  const schemas = codes
    .map((code) => DETAILS[code])
    .filter((members) => members !== undefined)
    .map(closedObject);
  if (schemas.length > 0) properties["details"] = schemas.length === 1 ? (schemas[0] as Schema) : { anyOf: schemas };
  return { type: "object", properties };
}

function closedObject(members: { readonly [name: string]: Schema }): Schema {
  return { type: "object", properties: { ...members }, required: Object.keys(members), additionalProperties: false };
}
