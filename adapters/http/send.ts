import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Response } from "express";
import { endTogether } from "./end-together.js";
import { contextOf } from "./request-context.js";

/** Larger responses leave in chunks of this size. */
const CHUNK_BYTES = 64 * 1024;

/** A response in JSON that is sent as it is, byte for byte. */
export class PreparedResponse {
  constructor(
    readonly status: number,
    readonly body: string | Buffer,
  ) {}
}

/**
 * Takes the place of Express's `response.json`, which the generated routes call: that one computes an ETag for every
 * response and turns some into 304. Here the operations that use `conditional` do so, and no others.
 */
export function json(this: Response, body: unknown): Response {
  if (body instanceof PreparedResponse) sendJson(this, body.status, body.body, endTogether);
  else sendJson(this, this.statusCode, JSON.stringify(body), endTogether);
  return this;
}

/** @param end {@link endTogether} where nothing that comes after it can fail, or change the response */
export function sendJson(
  response: Response,
  status: number,
  content: string | Buffer,
  end: (response: Response, content: string | Buffer) => void = endNow,
): void {
  const length = Buffer.byteLength(content);
  if (response.req.method !== "HEAD") contextOf(response.req).bytesSent = length;
  response.statusCode = status;
  response.setHeader("Content-Type", "application/json; charset=utf-8");
  response.setHeader("Content-Length", length);
  if (length <= CHUNK_BYTES) end(response, content);
  else void sendInChunks(response, typeof content === "string" ? Buffer.from(content) : content);
}

function endNow(response: Response, content: string | Buffer): void {
  response.end(content);
}

/** Sends bytes whose type is set. The same bytes may be sent to many at once: no response holds a copy. */
export function sendBytes(response: Response, bytes: Buffer): void {
  response.setHeader("Content-Length", bytes.byteLength);
  if (bytes.byteLength <= CHUNK_BYTES) response.end(bytes);
  else void sendInChunks(response, bytes);
}

/**
 * Sends each chunk when the client has taken the one before. A response that the client does not read is then closed
 * after a while, and one that it reads slowly is not: the chunks that it takes show which it is.
 */
async function sendInChunks(response: Response, bytes: Buffer): Promise<void> {
  if (response.req.method === "HEAD") {
    response.end();
    return;
  }
  const { deps, requestId } = contextOf(response.req);
  try {
    await pipeline(Readable.from(chunksOf(bytes), { objectMode: false }), response);
  } catch (error) {
    if (response.destroyed) return;
    deps.logger.error("A response was interrupted", { request_id: requestId, error });
    response.destroy();
  }
}

function* chunksOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.byteLength; start += CHUNK_BYTES) yield bytes.subarray(start, start + CHUNK_BYTES);
}
