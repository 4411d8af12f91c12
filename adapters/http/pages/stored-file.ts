import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Response } from "express";
import { InvalidRequestError } from "../../../core/errors.js";
import type { StoredAudio } from "../../../core/ports/audio-store.js";
import { hasTag } from "../entity-tag.js";
import { contextOf } from "../request-context.js";
import { refuse } from "../middleware/handle-error.js";
import type { HttpDeps } from "../deps.js";
import { type ByteRange, requestedRange } from "./byte-range.js";

/**
 * Sends a file of the AudioStore, or the part of it that the request asks for: Range, If-Range, If-None-Match,
 * If-Modified-Since and HEAD as RFC 9110 has them. `Content-Type` and `Cache-Control` are the caller's.
 */
export async function sendStoredFile(
  request: IncomingMessage,
  response: Response,
  deps: Pick<HttpDeps, "audioStore">,
  key: string,
  stored: StoredAudio,
): Promise<void> {
  // Browsers apply it to the player that they show for a file opened by itself.
  response.removeHeader("Content-Security-Policy");
  response.setHeader("Cross-Origin-Resource-Policy", "cross-origin");
  response.setHeader("Accept-Ranges", "bytes");
  response.setHeader("ETag", `"${stored.etag}"`);
  response.setHeader("Last-Modified", new Date(stored.modifiedAt).toUTCString());
  if (isKnownToClient(request, stored)) {
    response.removeHeader("Content-Type");
    response.status(304).end();
    return;
  }
  // A Range counts for GET only (RFC 9110, section 14.2), and only while the file is the one that the client has a part
  // of.
  const ranged = request.method === "GET" && isStillTheSame(request, stored);
  const range = ranged ? requestedRange(request.headers.range, stored.sizeBytes) : "whole";
  if (range === "unsatisfiable") {
    response.setHeader("Content-Range", `bytes */${stored.sizeBytes}`);
    response.setHeader("Cache-Control", "no-store");
    const issue = { path: "header.Range", message: "must lie within the file" };
    return refuse(request, response, new InvalidRequestError([issue]), 416);
  }
  const bytes: ByteRange = range === "whole" ? { start: 0, end: stored.sizeBytes - 1 } : range;
  response.status(range === "whole" ? 200 : 206);
  response.setHeader("Content-Length", bytes.end - bytes.start + 1);
  if (range !== "whole") response.setHeader("Content-Range", `bytes ${bytes.start}-${bytes.end}/${stored.sizeBytes}`);
  if (request.method === "HEAD" || stored.sizeBytes === 0) response.end();
  else await stream(request, response, deps.audioStore.read(key, bytes));
}

async function stream(request: IncomingMessage, response: Response, source: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    // The pipeline ends the source, and so closes its file, whichever side aborts.
    await pipeline(Readable.from(source, { objectMode: false }), response);
  } catch (error) {
    if (!contextOf(request).clientIsGone) throw error;
  }
}

function isKnownToClient({ headers }: IncomingMessage, stored: StoredAudio): boolean {
  const known = headers["if-none-match"];
  if (known !== undefined) return hasTag(known, `"${stored.etag}"`);
  const since = Date.parse(headers["if-modified-since"] ?? "");
  return since >= wholeSeconds(stored.modifiedAt);
}

function isStillTheSame({ headers }: IncomingMessage, stored: StoredAudio): boolean {
  const condition = headers["if-range"] as string | undefined;
  if (condition === undefined || condition === `"${stored.etag}"`) return true;
  return Date.parse(condition) === wholeSeconds(stored.modifiedAt);
}

function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}
