import type { ErrorCode } from "../../../core/error-codes.js";
import type { AdminRole } from "../../../core/ports/admin-token.js";
import publicApi from "../generated/openapi.json" with { type: "json" };
import { errorResponses } from "../openapi/errors.js";
import type { OpenApiDocument, Operation, Schema } from "../openapi/model.js";
import { OPERATIONS } from "../openapi/operations.js";

/** What every operation may be refused with; `invalid_request` for the reason that goes with it. */
const COMMON: readonly ErrorCode[] = [
  "authentication_required",
  "invalid_api_key",
  "revoked_api_key",
  "invalid_request",
  "rate_limited",
  "internal_error",
  "service_unavailable",
];

/** Operations that start jobs are refused as those of the public API are, also for the account that is to pay. */
const STARTS: Readonly<Record<string, string>> = {
  createGeneration: "createGeneration",
  retryJob: "createGeneration",
  splitTrack: "splitTrack",
  removeVocals: "removeVocals",
};
const OF_ACCOUNTS: readonly ErrorCode[] = ["account_suspended", "api_terms_not_accepted"];

/** The schemas that errors have in both descriptions. */
export const ERROR_SCHEMAS: Readonly<Record<string, Schema>> = {
  ErrorBody: publicApi.components.schemas.ErrorBody,
  ErrorCode: publicApi.components.schemas.ErrorCode,
};

/** Adds the refusals of an operation to its description. */
export function describeRefusals(path: string, operation: Operation): void {
  const { operationId, security, requestBody } = operation;
  const role: AdminRole = (security[0]?.["admin"]?.[0] ?? "owner") as AdminRole;
  const started = STARTS[operationId];
  const codes: readonly ErrorCode[] = [
    ...COMMON,
    ...(role === "read" ? [] : (["insufficient_scope"] as const)),
    ...notFoundAt(path, operation),
    ...(requestBody === undefined ? [] : (["payload_too_large", "unsupported_media_type"] as const)),
    ...(started === undefined ? [] : [...OF_ACCOUNTS, ...(OPERATIONS[started]?.errors ?? [])]),
  ];
  Object.assign(operation.responses, withoutExamples(errorResponses([...new Set(codes)])));
}

/** A path, a query or a body may name what is not there. */
function notFoundAt(path: string, { parameters, requestBody }: Operation): ErrorCode[] {
  const names = parameters.some((parameter) => parameter.in !== "header") || requestBody !== undefined;
  return [
    ...(names ? (["not_found"] as const) : []),
    ...(path.includes("/tracks/{id}") ? (["track_not_found"] as const) : []),
    ...(path.includes("/playlists") ? (["playlist_not_found"] as const) : []),
  ];
}

/** Those of the public API speak of API keys. */
function withoutExamples(responses: OpenApiDocument["paths"][string][string]["responses"]): Operation["responses"] {
  for (const { content = {} } of Object.values(responses)) {
    for (const media of Object.values(content)) delete media.examples;
  }
  return responses;
}
