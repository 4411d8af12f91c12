import type { Response } from "express";
import type { StoredAnswer } from "../../core/idempotency/replay.js";
import { exchangeOf } from "./exchange.js";

/** An answer that goes out as it is, to the byte. */
export class PreparedAnswer implements StoredAnswer {
  constructor(
    readonly status: number,
    readonly body: string,
  ) {}
}

/**
 * Takes the place of Express's `response.json`, which the generated routes call: that one computes an ETag for every answer and turns
 * some into 304, though nothing under /api is ever to be cached.
 */
export function json(this: Response, body: unknown): Response {
  if (body instanceof PreparedAnswer) sendJson(this, body.status, body.body);
  else sendJson(this, this.statusCode, JSON.stringify(body));
  return this;
}

export function sendJson(response: Response, status: number, text: string): void {
  const bytes = Buffer.byteLength(text);
  if (response.req.method !== "HEAD") exchangeOf(response.req).bytesSent = bytes;
  response.statusCode = status;
  response.setHeader("Content-Type", "application/json; charset=utf-8");
  response.setHeader("Content-Length", bytes);
  response.end(text);
}
