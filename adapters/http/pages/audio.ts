import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Response, Router } from "express";
import { InvalidRequestError, NotFoundError } from "../../../core/errors.js";
import type { StoredAudio } from "../../../core/ports/audio-store.js";
import { exchangeOf } from "../exchange.js";
import { refuse } from "../middleware/handle-error.js";
import type { HttpParts } from "../parts.js";
import { type ByteRange, requestedRange } from "./byte-range.js";

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  mp3: "audio/mpeg",
  wav: "audio/wav",
  flac: "audio/flac",
  ogg: "audio/ogg",
  m4a: "audio/mp4",
  png: "image/png",
  jpg: "image/jpeg",
};

/** Stored audio and images behind signed links, which need no API key: whoever has the link may listen until it expires. */
export function audioFiles(router: Router, parts: HttpParts): void {
  router.get("/audio/*key", async (request, response) => {
    // Players on other pages may read what a link gives them.
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.setHeader("Access-Control-Expose-Headers", "Accept-Ranges, Content-Length, Content-Range, ETag");
    const key = request.params.key.join("/");
    const { expires, signature } = request.query;
    const link = parts.audioUrls.check(key, expires, signature);
    if (link.state !== "valid") {
      const isExpired = link.state === "expired";
      const error = new NotFoundError(isExpired ? "The link has expired." : "The link is not valid.");
      return refuse(request, response, error, isExpired ? 410 : 403);
    }
    const stored = await parts.audioStore.stat(link.audioKey);
    if (stored === null) throw new NotFoundError();
    setFileHeaders(response, key, stored, Number(expires) * 1000 - parts.clock.now());
    await sendFile(request, response, parts, key, stored);
  });
}

function setFileHeaders(response: Response, key: string, stored: StoredAudio, leftMs: number): void {
  response.removeHeader("Content-Security-Policy"); // browsers apply it to the player they show for a file opened by itself
  response.setHeader("Cross-Origin-Resource-Policy", "cross-origin");
  response.setHeader("Accept-Ranges", "bytes");
  response.setHeader("Cache-Control", `private, max-age=${Math.max(0, Math.floor(leftMs / 1000))}`);
  response.setHeader("Content-Type", CONTENT_TYPES[key.slice(key.lastIndexOf(".") + 1)] ?? "application/octet-stream");
  response.setHeader("ETag", `"${stored.etag}"`);
  response.setHeader("Last-Modified", new Date(stored.modifiedAt).toUTCString());
}

async function sendFile(request: IncomingMessage, response: Response, parts: HttpParts, key: string, stored: StoredAudio): Promise<void> {
  if (isKnownToClient(request, stored)) {
    response.removeHeader("Content-Type");
    response.status(304).end();
    return;
  }
  // A Range counts for GET only (RFC 9110, section 14.2), and only while the file is the one that the client has a part of.
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
  else await stream(request, response, parts.audioStore.read(key, bytes));
}

async function stream(request: IncomingMessage, response: Response, source: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    // The pipeline ends the source, and so closes its file, whichever side breaks off.
    await pipeline(Readable.from(source, { objectMode: false }), response);
  } catch (error) {
    if (!exchangeOf(request).clientIsGone) throw error;
  }
}

function isKnownToClient({ headers }: IncomingMessage, stored: StoredAudio): boolean {
  const known = headers["if-none-match"];
  if (known !== undefined) {
    return known.split(",").some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === `"${stored.etag}"`);
  }
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
