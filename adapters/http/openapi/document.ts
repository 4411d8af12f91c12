import { SCOPES } from "../../../core/ports/scopes.js";
import { assert } from "../../../core/assert.js";
import { GENERATIONS_LIMIT } from "../../../core/generations/read-generations.js";
import { CLIENT_MAX_LENGTH, IDEMPOTENCY_KEY_MAX_LENGTH } from "../../../core/generations/request-rules.js";
import { MODEL_LIMITS } from "../../../core/ports/music-provider.js";
import { PLAYLIST_TRACKS_MAX } from "../../../core/library/playlist.js";
import { TITLE_MAX_LENGTH } from "../../../core/library/playlist-rules.js";
import { OPTIONS_MAX } from "../../../core/providers/request-options.js";
import { rateLimitKindOf } from "../rate-limit-kind.js";
import generated from "../generated/openapi.json" with { type: "json" };
import { errorResponses } from "./errors.js";
import { CURSOR } from "./examples.js";
import { HEADERS, headersOf } from "./headers.js";
import type { OpenApiDocument, Operation, Parameter, Schema } from "./model.js";
import { COMMON_ERRORS, OPERATIONS, type OperationNotes, type ParameterNotes } from "./operations.js";
import { toOpenApi31 } from "./openapi-31.js";
import { describeWebhooks } from "./webhooks.js";

/** The version of the interface, which is not that of the software. @see API v1, section 9 */
const API_VERSION = "1.0.0";

const SCHEMA_NOTES: { readonly [schema: string]: { readonly [member: string]: Schema } } = {
  GenerationRequest: {
    prompt: { minLength: 1, maxLength: MODEL_LIMITS.promptLength },
    lyrics: { maxLength: MODEL_LIMITS.lyricsLength },
    client: { minLength: 1, maxLength: CLIENT_MAX_LENGTH },
    metadata: { additionalProperties: true },
    options: { additionalProperties: { type: ["string", "number", "boolean"] }, maxProperties: OPTIONS_MAX },
  },
  SplitRequest: {
    client: { minLength: 1, maxLength: CLIENT_MAX_LENGTH },
    metadata: { additionalProperties: true },
  },
  PlaylistRequest: {
    title: { minLength: 1, maxLength: TITLE_MAX_LENGTH },
    tracks: { maxItems: PLAYLIST_TRACKS_MAX },
  },
  PlaylistChanges: {
    title: { minLength: 1, maxLength: TITLE_MAX_LENGTH },
    tracks: { maxItems: PLAYLIST_TRACKS_MAX },
  },
  PlaylistTrackMove: { to: { minimum: 0 } },
  GenerationReference: {
    from: { minimum: 0 },
    to: { minimum: 0 },
    strength: { minimum: 0, maximum: 1 },
  },
  ErrorBody: {
    details: { additionalProperties: true, description: "What the code has to add; left out where there is nothing." },
  },
};

const PARAMETER_NOTES: { readonly [name: string]: ParameterNotes } = {
  limit: { schema: { default: GENERATIONS_LIMIT.default }, example: 20 },
  cursor: { schema: {}, example: CURSOR },
  "Idempotency-Key": {
    schema: { minLength: 1, maxLength: IDEMPOTENCY_KEY_MAX_LENGTH, pattern: "^[\\x20-\\x7e]+$" },
    example: "5f1c3a52-0d1b-4f7e-9a6e-6d1f0f6f3f0a",
  },
  Prefer: { schema: {}, example: "wait=30" },
  from: { schema: { format: "date-time" }, example: "2026-11-01T00:00:00Z" },
  to: { schema: { format: "date-time" }, example: "2026-12-01T00:00:00Z" },
  client: { schema: {}, example: "docs" },
  endpoint: { schema: {}, example: "/api/v1/generations" },
  status: { schema: {}, example: 202 },
  model_id: { schema: {}, example: "synth/song" },
  id: { schema: {}, example: "job_01m7ysy25j6pcsftb5nnfsysak" },
  job_id: { schema: {}, example: "job_01m7ysy25j6pcsftb5nnfsysak" },
};

const IF_NONE_MATCH: Parameter = {
  in: "header",
  name: "If-None-Match",
  required: false,
  description: "`ETag` of a response that you have: 304 without a body says that it would be the same.",
  schema: { type: "string" },
  example: '"2jmj7l5rSw0yVb_vlWAYkK_Y"',
};
const NOT_MODIFIED = "Nothing changed: the response that the tag came with is still the right one.";

/**
 * The description of the public API: what tsoa generates from the controllers, completed with what only this code knows
 * (errors, headers, lengths, examples).
 *
 * @param serverVersion the version of the software that serves it
 */
export function describeApi(publicUrl: string, serverVersion: string): OpenApiDocument {
  const document = toOpenApi31(structuredClone(generated) as unknown as OpenApiDocument);
  document.info = {
    title: "Fermata",
    version: API_VERSION,
    "x-fermata-version": serverVersion,
    description:
      `AI music over HTTP: accounts, exact credits, asynchronous generations. Served by ` + `Fermata ${serverVersion}.`,
  };
  document.servers = [{ url: publicUrl }];
  document.tags = [
    { name: "Generations", description: "Music in the making. Only creating one costs credits." },
    { name: "Models", description: "What can be asked for." },
    { name: "Jobs", description: "Asynchronous work of every kind." },
    {
      name: "Library",
      description: "Tracks and playlists: the account's own and public ones. Only splitting a track costs credits.",
    },
    { name: "Webhooks", description: "Where events are posted when jobs end." },
    { name: "Account", description: "Who the API key speaks for, and what it can spend." },
  ];
  document.webhooks = describeWebhooks();
  document.components.headers = HEADERS;
  document.components.securitySchemes = {
    bearer: {
      type: "http",
      scheme: "bearer",
      description:
        `An API key. It carries scopes; those named at an operation are needed there. All of them: ` +
        `${SCOPES.join(", ")}.`,
    },
  };
  for (const [name, members] of Object.entries(SCHEMA_NOTES)) completeSchema(document, name, members);
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      completeOperation(operation);
      operation["x-rate-limit"] = rateLimitKindOf(method.toUpperCase(), path);
    }
  }
  return document;
}

function completeSchema(document: OpenApiDocument, name: string, members: { readonly [member: string]: Schema }): void {
  const properties = document.components.schemas[name]?.properties;
  assert(properties !== undefined, `the generated description has the schema ${name}`);
  for (const [member, note] of Object.entries(members)) properties[member] = { ...properties[member], ...note };
}

function completeOperation(operation: Operation): void {
  const notes = OPERATIONS[operation.operationId];
  assert(notes !== undefined, `openapi/operations.ts has the operation ${operation.operationId}`);
  operation.parameters = operation.parameters.map((parameter) => completeParameter(parameter, notes.parameters ?? {}));
  if (notes.isConditional === true) operation.parameters.push(IF_NONE_MATCH);
  if (notes.requestBody !== undefined) operation.requestBody = notes.requestBody;
  const body = operation.requestBody?.content["application/json"];
  if (body !== undefined) {
    assert(notes.body !== undefined, `openapi/operations.ts has a body for ${operation.operationId}`);
    body.examples = { request: { value: notes.body } };
  }

  const [success] = Object.entries(operation.responses);
  assert(success !== undefined, "an operation has a success");
  const [status, response] = success;
  const [content] = Object.values(response.content ?? {});
  if (content !== undefined) {
    content.examples = Object.fromEntries(Object.entries(notes.examples).map(([name, value]) => [name, { value }]));
  }
  const needsScope = operation.security.some((scheme) => Object.values(scheme).some((scopes) => scopes.length > 0));
  const refusals = errorResponses([
    ...COMMON_ERRORS,
    ...(needsScope ? (["insufficient_scope"] as const) : []),
    ...notes.errors,
  ]);
  const successes = Object.entries(operation.responses).filter(([each]) => Number(each) < 300);
  operation.responses = { ...Object.fromEntries(successes), ...refusals };
  for (const [each, result] of Object.entries(operation.responses)) {
    result.headers = headersOf(Number(each), each === status ? (notes.headers ?? []) : []);
  }
  if (notes.isConditional === true) {
    response.headers = headersOf(Number(status), ["ETag"]);
    operation.responses["304"] = { description: NOT_MODIFIED, headers: headersOf(304, ["ETag"]) };
  }
}

function completeParameter(parameter: Parameter, ofOperation: NonNullable<OperationNotes["parameters"]>): Parameter {
  const note = ofOperation[parameter.name] ?? PARAMETER_NOTES[parameter.name];
  if (note === undefined) return parameter;
  return { ...parameter, schema: { ...parameter.schema, ...note.schema }, example: note.example };
}
