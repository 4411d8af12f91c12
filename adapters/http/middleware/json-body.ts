import { isUtf8 } from "node:buffer";
import type { NextFunction, Request, Response } from "express";
import { InvalidRequestError, PayloadTooLargeError, UnsupportedMediaTypeError } from "../../../core/errors.js";
import { exchangeOf } from "../exchange.js";

const JSON_TYPE = "application/json";
const BYTE_ORDER_MARK = 0xfeff;

/** Reads the body into `request.body`: media type first, then size, then JSON. It is always an object. */
export function jsonBody(request: Request, _response: Response, next: NextFunction): void {
  checkMediaType(request);
  if (request.readableEnded) {
    // A foreign app has read the body already: its JSON parser's result is taken.
    checkIsObject(request.body);
    next();
    return;
  }
  readBody(request)
    .then((bytes) => {
      if (bytes === null) return;
      request.body = parseJson(bytes);
      checkIsObject(request.body);
      next();
    })
    .catch(next);
}

function checkIsObject(body: unknown): void {
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw notValid("must be a JSON object");
}

function checkMediaType({ headers }: Request): void {
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    throw new UnsupportedMediaTypeError("Send the body as it is, without a Content-Encoding.");
  }
  const type = headers["content-type"];
  if (type === JSON_TYPE) return;
  const [essence = "", ...parameters] = (type ?? "").split(";");
  if (essence.trim().toLowerCase() !== JSON_TYPE) throw new UnsupportedMediaTypeError();
  for (const parameter of parameters) {
    const [name = "", value = ""] = parameter.split("=", 2);
    const isCharset = name.trim().toLowerCase() === "charset";
    if (isCharset && !/^"?utf-8"?$/i.test(value.trim())) throw new UnsupportedMediaTypeError();
  }
}

/** The whole body; null when the client went away before its end. */
function readBody(request: Request): Promise<Buffer | null> {
  const exchange = exchangeOf(request);
  const { bodyLimitBytes } = exchange.parts.settings;
  return new Promise((resolve, reject) => {
    const announced = Number(request.headers["content-length"] ?? 0);
    if (announced > bodyLimitBytes) reject(new PayloadTooLargeError(bodyLimitBytes));
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.byteLength;
      if (size <= bodyLimitBytes) chunks.push(chunk);
      else reject(new PayloadTooLargeError(bodyLimitBytes)); // what still comes is read and dropped, so that the client sees the answer
    });
    request.on("end", () => {
      exchange.bytesRead = size;
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    });
    request.on("error", () => resolve(null));
    request.on("close", () => resolve(null));
  });
}

function parseJson(bytes: Buffer): unknown {
  if (bytes.byteLength === 0) throw notValid("is required");
  if (!isUtf8(bytes)) throw notValid("must be UTF-8");
  const text = bytes.toString("utf8");
  try {
    return JSON.parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
  } catch {
    throw notValid("must be valid JSON");
  }
}

function notValid(message: string): InvalidRequestError {
  return new InvalidRequestError([{ path: "body", message }]);
}
