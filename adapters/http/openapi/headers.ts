import type { OpenApiDocument, Response } from "./model.js";

export const HEADERS: OpenApiDocument["components"]["headers"] = {
  "X-Request-Id": {
    description: "The request's id, to be quoted when contacting support.",
    schema: { type: "string" },
    example: "req_01m7ysy25cz3ggk0fdms1d8kzd",
  },
  "RateLimit-Policy": {
    description: "The windows that the request counts in: requests (`q`) in so many seconds (`w`).",
    schema: { type: "string" },
    example: '"read-minute";q=600;w=60, "read-day";q=50000;w=86400',
  },
  RateLimit: {
    description: "What is left in each window (`r`), and the seconds until it starts again (`t`).",
    schema: { type: "string" },
    example: '"read-minute";r=599;t=60, "read-day";r=49999;t=86400',
  },
  "Retry-After": { description: "Seconds to wait before the next try.", schema: { type: "integer" }, example: 21 },
  "WWW-Authenticate": { description: "How to authenticate (RFC 6750).", schema: { type: "string" }, example: "Bearer" },
  Location: {
    description: "Where the job is polled: the `status_url`.",
    schema: { type: "string", format: "uri" },
    example: "https://music.example.com/api/v1/generations/job_01m7ysy25j6pcsftb5nnfsysak",
  },
  ETag: {
    description: "Of this response: as `If-None-Match` of the next request it saves the body, while nothing changed.",
    schema: { type: "string" },
    example: '"2jmj7l5rSw0yVb_vlWAYkK_Y"',
  },
  "Idempotent-Replayed": {
    description: "Present when this is the stored response to an earlier request with the same Idempotency-Key.",
    schema: { type: "string", enum: ["true"] },
  },
  "Preference-Applied": {
    description: "Present when the response waited as asked (RFC 7240).",
    schema: { type: "string" },
    example: "wait=30",
  },
};

const BY_STATUS: Readonly<Record<number, readonly string[]>> = {
  401: ["X-Request-Id", "WWW-Authenticate"],
  429: ["X-Request-Id", "RateLimit-Policy", "RateLimit", "Retry-After"],
  500: ["X-Request-Id"],
  503: ["X-Request-Id", "Retry-After"],
};
const OTHERWISE = ["X-Request-Id", "RateLimit-Policy", "RateLimit"];

export function headersOf(status: number, more: readonly string[]): NonNullable<Response["headers"]> {
  const names = [...(BY_STATUS[status] ?? OTHERWISE), ...more];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
