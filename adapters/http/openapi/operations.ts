import type { ErrorCode } from "../../../core/errors.js";
import * as example from "./examples.js";

/** What the generated description of an operation lacks. */
export interface OperationNotes {
  /** Beside those that every endpoint can answer. */
  readonly errors: readonly ErrorCode[];
  readonly examples: { readonly [name: string]: unknown };
  /** Headers of its success, beside those of every success. */
  readonly headers?: readonly string[];
}

/** Any endpoint can answer these. */
export const COMMON_ERRORS: readonly ErrorCode[] = [
  "authentication_required",
  "invalid_api_key",
  "revoked_api_key",
  "api_terms_not_accepted",
  "rate_limited",
  "internal_error",
  "service_unavailable",
];

/** By operation id. */
export const OPERATIONS: { readonly [operationId: string]: OperationNotes } = {
  getProfile: { errors: [], examples: { profile: { data: example.PROFILE } } },
  getCredits: { errors: [], examples: { credits: { data: example.CREDITS } } },
  listModels: { errors: [], examples: { models: { data: { models: [example.MODEL] } } } },
  getModel: { errors: ["invalid_request", "model_not_found"], examples: { model: { data: example.MODEL } } },
  createGeneration: {
    errors: [
      "invalid_request",
      "invalid_model",
      "idempotency_key_required",
      "insufficient_credits",
      "idempotency_key_conflict",
      "idempotency_conflict",
      "generation_concurrency_exceeded",
      "payload_too_large",
      "unsupported_media_type",
      "provider_unavailable",
      "provider_timeout",
    ],
    examples: {
      accepted: { data: example.ACCEPTED },
      waited: { data: { ...example.ACCEPTED, status: "completed" } },
    },
    headers: ["Location", "Idempotent-Replayed", "Preference-Applied"],
  },
  listGenerations: {
    errors: ["invalid_request"],
    examples: { generations: { data: { generations: [example.RUNNING_GENERATION, example.GENERATION] } } },
  },
  getGeneration: {
    errors: ["invalid_request", "job_not_found"],
    examples: { completed: { data: example.GENERATION }, processing: { data: example.RUNNING_GENERATION } },
  },
  getJob: {
    errors: ["invalid_request", "job_not_found"],
    examples: { completed: { data: example.JOB }, failed: { data: example.FAILED_JOB } },
  },
};
