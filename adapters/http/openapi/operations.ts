import type { ErrorCode } from "../../../core/error-codes.js";
import { PLAYLISTS_LIMIT } from "../../../core/library/read-library.js";
import { SEARCH_LIMIT, SEARCH_TEXT_MAX_LENGTH } from "../../../core/library/search-rules.js";
import { REFERENCE_MODES } from "../../../core/ports/music-provider.js";
import { MODEL_STATUSES } from "../../../core/providers/find-models.js";
import { LOGS_LIMIT, USAGE_LIMIT } from "../../../core/usage/read-usage.js";
import { AUDIO_FORM } from "./audio-form.js";
import { ENDPOINTS_MAX } from "../../../core/webhooks/manage-endpoints.js";
import { EVENTS_LIMIT } from "../../../core/webhooks/read-events.js";
import * as example from "./examples.js";
import type { Operation, Schema } from "./model.js";

/** What the generated description of an operation lacks. */
export interface OperationNotes {
  /** In addition to those of every endpoint. */
  readonly errors: readonly ErrorCode[];
  readonly examples: { readonly [name: string]: unknown };
  /** Headers of its success, in addition to those of every success. */
  readonly headers?: readonly string[];
  /** Whether its success has an ETag, and is 304 where If-None-Match has it. */
  readonly isConditional?: true;
  /** Where tsoa generates none. */
  readonly requestBody?: NonNullable<Operation["requestBody"]>;
  /** An example of its JSON body, where it has one. */
  readonly body?: unknown;
  /** Of parameters that mean something else at other operations. */
  readonly parameters?: { readonly [name: string]: ParameterNotes };
}

export interface ParameterNotes {
  readonly schema: Schema;
  readonly example: unknown;
}

/** Error responses of every endpoint. */
export const COMMON_ERRORS: readonly ErrorCode[] = [
  "authentication_required",
  "invalid_api_key",
  "revoked_api_key",
  "account_suspended",
  "api_terms_not_accepted",
  "rate_limited",
  "internal_error",
  "service_unavailable",
];

const WEBHOOK_URL_ERRORS: readonly ErrorCode[] = [
  "webhook_url_invalid",
  "webhook_https_required",
  "webhook_credentials_forbidden",
  "webhook_host_blocked",
];

const SPLIT_ERRORS: readonly ErrorCode[] = [
  "invalid_request",
  "track_not_found",
  "idempotency_key_required",
  "insufficient_credits",
  "idempotency_key_conflict",
  "idempotency_conflict",
  "generation_concurrency_exceeded",
  "payload_too_large",
  "unsupported_media_type",
  "provider_unavailable",
];

/** By operation id. */
export const OPERATIONS: { readonly [operationId: string]: OperationNotes } = {
  getProfile: { errors: [], examples: { profile: { data: example.PROFILE } } },
  getUsage: {
    errors: ["invalid_request"],
    examples: { usage: { data: example.USAGE } },
    parameters: { limit: { schema: { default: USAGE_LIMIT.default }, example: 100 } },
  },
  listLogs: {
    errors: ["invalid_request"],
    examples: { logs: { data: { logs: example.LOGS, next_cursor: example.CURSOR } } },
    parameters: { limit: { schema: { default: LOGS_LIMIT.default }, example: 50 } },
  },
  getCredits: { errors: [], examples: { credits: { data: example.CREDITS } } },
  listModels: {
    errors: ["invalid_request"],
    examples: { models: { data: { models: [example.MODEL], next_cursor: null } } },
    parameters: {
      provider: { schema: {}, example: "synth" },
      status: { schema: { enum: MODEL_STATUSES }, example: "available" },
      supports_lyrics: { schema: {}, example: true },
      supports_instrumental: { schema: {}, example: true },
      duration: { schema: {}, example: 60 },
      reference: { schema: { enum: REFERENCE_MODES }, example: "extend" },
      max_credits: { schema: {}, example: 20 },
      limit: { schema: {}, example: 20 },
    },
    isConditional: true,
  },
  getModel: {
    errors: ["invalid_request", "model_not_found"],
    examples: { model: { data: example.MODEL } },
    isConditional: true,
  },
  createGeneration: {
    body: example.GENERATION_REQUEST,
    errors: [
      "invalid_request",
      "invalid_model",
      "track_not_found",
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
      waited: { data: { ...example.ACCEPTED, status: "completed", tracks: [example.TRACK] } },
    },
    headers: ["Location", "Idempotent-Replayed", "Preference-Applied"],
  },
  listGenerations: {
    errors: ["invalid_request"],
    examples: {
      generations: {
        data: { generations: [example.RUNNING_GENERATION, example.GENERATION], next_cursor: example.CURSOR },
      },
    },
  },
  getGeneration: {
    errors: ["invalid_request", "job_not_found"],
    examples: {
      completed: { data: example.GENERATION },
      processing: { data: example.RUNNING_GENERATION },
      failed: {
        data: {
          ...example.GENERATION,
          status: "failed",
          credits_charged: 0,
          error: example.FAILED_JOB.error,
          tracks: [],
        },
      },
    },
  },
  searchLibrary: {
    errors: ["invalid_request"],
    examples: { found: { data: { tracks: [example.TRACK], playlists: [example.PLAYLIST], next_cursor: null } } },
    isConditional: true,
    parameters: {
      q: { schema: { maxLength: SEARCH_TEXT_MAX_LENGTH }, example: "rain piano" },
      mood: { schema: { maxLength: SEARCH_TEXT_MAX_LENGTH }, example: "calm" },
      activity: { schema: { maxLength: SEARCH_TEXT_MAX_LENGTH }, example: "focus" },
      limit: { schema: { default: SEARCH_LIMIT.default }, example: 10 },
    },
  },
  uploadTrack: {
    errors: ["invalid_request", "payload_too_large", "unsupported_media_type"],
    examples: { uploaded: { data: example.UPLOADED_TRACK } },
    requestBody: AUDIO_FORM,
  },
  getTrack: {
    errors: ["invalid_request", "track_not_found"],
    examples: { track: { data: example.TRACK }, sung: { data: example.SUNG_TRACK } },
    isConditional: true,
    parameters: { id: { schema: {}, example: example.TRACK.id } },
  },
  getTrackDetails: {
    errors: ["invalid_request", "track_not_found"],
    examples: { details: { data: example.TRACK_DETAILS } },
    isConditional: true,
    parameters: { id: { schema: {}, example: example.TRACK.id } },
  },
  splitTrack: {
    errors: SPLIT_ERRORS,
    examples: { accepted: { data: example.ACCEPTED_SPLIT } },
    headers: ["Location", "Idempotent-Replayed"],
    parameters: { id: { schema: {}, example: example.TRACK.id } },
    body: example.SPLIT_REQUEST,
  },
  removeVocals: {
    errors: SPLIT_ERRORS,
    examples: { accepted: { data: { ...example.ACCEPTED_SPLIT, operation: "vocal_removal", credits_reserved: 5 } } },
    headers: ["Location", "Idempotent-Replayed"],
    parameters: { id: { schema: {}, example: example.TRACK.id } },
    body: example.SPLIT_REQUEST,
  },
  deleteTrack: {
    errors: ["invalid_request", "track_not_found"],
    examples: {},
    parameters: { id: { schema: {}, example: example.TRACK.id } },
  },
  shareTrack: {
    errors: ["invalid_request", "track_not_found"],
    examples: { shared: { data: example.SHARED_TRACK } },
    parameters: { id: { schema: {}, example: example.TRACK.id } },
  },
  unshareTrack: {
    errors: ["invalid_request", "track_not_found"],
    examples: { unshared: { data: example.TRACK } },
    parameters: { id: { schema: {}, example: example.TRACK.id } },
  },
  listPlaylists: {
    errors: ["invalid_request"],
    examples: { playlists: { data: { playlists: [example.PLAYLIST], next_cursor: null } } },
    parameters: { limit: { schema: { default: PLAYLISTS_LIMIT.default }, example: 20 } },
    isConditional: true,
  },
  createPlaylist: {
    errors: ["invalid_request", "payload_too_large", "unsupported_media_type"],
    examples: { created: { data: example.PLAYLIST } },
    body: example.PLAYLIST_REQUEST,
  },
  changePlaylist: {
    errors: ["invalid_request", "playlist_not_found", "payload_too_large", "unsupported_media_type"],
    examples: { changed: { data: example.PLAYLIST } },
    parameters: { id: { schema: {}, example: example.PLAYLIST.id } },
    body: example.PLAYLIST_CHANGES,
  },
  deletePlaylist: {
    errors: ["invalid_request", "playlist_not_found"],
    examples: {},
    parameters: { id: { schema: {}, example: example.PLAYLIST.id } },
  },
  getPlaylist: {
    errors: ["invalid_request", "playlist_not_found"],
    examples: { playlist: { data: example.PLAYLIST } },
    isConditional: true,
    parameters: { id: { schema: {}, example: example.PLAYLIST.id } },
  },
  listWebhookEndpoints: {
    errors: ["invalid_request"],
    examples: { endpoints: { data: { webhook_endpoints: [example.WEBHOOK_ENDPOINT], next_cursor: null } } },
    parameters: {
      status: { schema: { default: "active" }, example: "all" },
      limit: { schema: { default: ENDPOINTS_MAX }, example: 20 },
    },
  },
  createWebhookEndpoint: {
    errors: ["invalid_request", ...WEBHOOK_URL_ERRORS, "payload_too_large", "unsupported_media_type"],
    examples: { endpoint: { data: { ...example.WEBHOOK_ENDPOINT, signing_secret: example.SIGNING_SECRET } } },
    body: example.WEBHOOK_ENDPOINT_REQUEST,
  },
  updateWebhookEndpoint: {
    errors: [
      "invalid_request",
      ...WEBHOOK_URL_ERRORS,
      "webhook_endpoint_not_found",
      "payload_too_large",
      "unsupported_media_type",
    ],
    examples: {
      disabled: { data: { ...example.WEBHOOK_ENDPOINT, status: "disabled", disabled_at: "2026-11-21T07:00:00.000Z" } },
    },
    body: example.WEBHOOK_ENDPOINT_CHANGES,
  },
  deleteWebhookEndpoint: {
    errors: ["webhook_endpoint_not_found"],
    examples: { deleted: { data: { id: example.WEBHOOK_ENDPOINT.id, deleted: true } } },
  },
  cancelJob: {
    errors: ["invalid_request", "job_not_found"],
    examples: {
      cancelled: { data: { outcome: "cancelled", job: example.CANCELLED_JOB } },
      running: {
        data: {
          outcome: "running",
          job: { ...example.JOB, status: "processing", cancel_requested: true, outputs: [], completed_at: null },
        },
      },
    },
  },
  listEvents: {
    errors: ["invalid_request"],
    examples: {
      events: { data: { events: [example.WEBHOOK_EVENT], next_cursor: example.WEBHOOK_EVENT.id, has_more: false } },
    },
    parameters: {
      after: { schema: {}, example: example.WEBHOOK_EVENT.id },
      limit: { schema: { default: EVENTS_LIMIT.default }, example: 50 },
    },
  },
  followJob: {
    errors: ["invalid_request", "job_not_found"],
    examples: { followed: example.JOB_EVENTS },
    parameters: { "Last-Event-ID": { schema: {}, example: "attempt.1.accepted" } },
  },
  getJob: {
    errors: ["invalid_request", "job_not_found"],
    examples: { completed: { data: example.JOB }, failed: { data: example.FAILED_JOB } },
  },
};
