import { defineSettings, type ProviderHost } from "../sdk/index.js";

/** What is sent where the operator gives no template: the documented shape. */
const REQUEST =
  '{"job_id":"{{job_id}}","attempt_id":"{{attempt_id}}","model":"{{model}}","prompt":"{{prompt}}",' +
  '"lyrics":"{{lyrics}}","duration":"{{duration}}","instrumental":"{{instrumental}}",' +
  '"options":"{{options}}","callback_url":"{{callback_url}}"}';

const STATUS_WORDS =
  '{"queued":"running","running":"running","succeeded":"completed","failed":"failed",' +
  '"cancelled":"cancelled","canceled":"cancelled","timeout":"timeout"}';

function pointer(value: string, description: string) {
  return { type: "string", default: value, canBeEmpty: true, description: `JSON pointer: ${description}` } as const;
}

/** Every setting; the defaults are the documented protocol. */
export const SETTINGS = defineSettings({
  baseUrl: {
    type: "string",
    required: true,
    description: "Where the server is: http://gpu-box:8000, without a slash at its end",
  },
  apiKey: { type: "string", secret: true, description: "Key of the server, where it wants one" },
  authHeader: { type: "string", default: "Authorization", description: "Header that carries the key" },
  authScheme: {
    type: "string",
    default: "Bearer",
    canBeEmpty: true,
    description: "Word before the key in that header; empty for none",
  },
  submitPath: { type: "string", default: "/v1/generations", description: "Path that takes a request, by POST" },
  statusPath: {
    type: "string",
    default: "/v1/generations/{{id}}",
    description: "Path that returns the status of accepted work, by GET",
  },
  cancelPath: { type: "string", description: "Path that stops accepted work, by POST; left out where it cannot" },
  request: { type: "string", default: REQUEST, description: "Body of a request, as JSON text with {{placeholders}}" },
  idPointer: pointer("/id", "id of accepted work"),
  statusPointer: pointer("/status", "status word"),
  statusWords: { type: "string", default: STATUS_WORDS, description: "Their status words and ours, as JSON text" },
  tracksPointer: pointer("/tracks", "the tracks: a list, or the only one"),
  audioUrlPointer: pointer("/audio_url", "in a track, the URL of its file; relative ones count from baseUrl"),
  audioBase64Pointer: pointer("/audio_base64", "in a track, its file in base64"),
  titlePointer: pointer("/title", "in a track, its title"),
  durationPointer: pointer("/duration", "in a track, its length in seconds"),
  errorPointer: pointer("/error/message", "words about what went wrong"),
  errorCodePointer: pointer("/error/code", "code of what went wrong"),
  rejectionCodes: {
    type: "string",
    default: "content_rejected",
    description: "Codes that refuse the content, with commas between them",
  },
  callbacks: {
    type: "boolean",
    default: false,
    description: "The server calls {{callback_url}} when something happened",
  },
  idempotent: {
    type: "boolean",
    default: false,
    description: "The server creates nothing twice for one Idempotency-Key",
  },
  pollSeconds: {
    type: "integer",
    default: 5,
    minimum: 1,
    maximum: 3_600,
    description: "How often accepted work is polled",
  },
  timeoutSeconds: {
    type: "integer",
    default: 300,
    minimum: 1,
    maximum: 3_600,
    description: "How long one call may take",
  },
  concurrency: {
    type: "integer",
    default: 1,
    minimum: 1,
    maximum: 1_000,
    description: "Concurrent calls that create work",
  },
});

export type Host = ProviderHost<typeof SETTINGS>;
