import { isUtf8 } from "node:buffer";
import type { NextFunction, Request, Response } from "express";
import { InvalidRequestError, UnsupportedMediaTypeError } from "../../../core/errors.js";
import { contextOf } from "../request-context.js";
import { readBody } from "./read-body.js";

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
  readBody(request, contextOf(request).deps.settings.bodyLimitBytes)
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
