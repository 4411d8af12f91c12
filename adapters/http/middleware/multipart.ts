import type { NextFunction, Request, Response } from "express";
import { InvalidRequestError, PayloadTooLargeError, UnsupportedMediaTypeError } from "../../../core/errors.js";
import { contextOf } from "../request-context.js";

/** Bytes that a form may need in addition to the file. */
const FORM_OVERHEAD_BYTES = 64 * 1024;

/** Checks media type and announced size of a form with a file, before any of it is read. */
export function multipart(request: Request, _response: Response, next: NextFunction): void {
  const { headers } = request;
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    throw new UnsupportedMediaTypeError("Send the body as it is, without a Content-Encoding.");
  }
  const [essence = "", ...parameters] = (headers["content-type"] ?? "").split(";");
  if (essence.trim().toLowerCase() !== "multipart/form-data") {
    throw new UnsupportedMediaTypeError("Send `Content-Type: multipart/form-data`, with the file as the part `audio`.");
  }
  if (!parameters.some((parameter) => /^\s*boundary="?[^"]/i.test(parameter))) {
    throw new InvalidRequestError([{ path: "header.Content-Type", message: "must name the boundary of the parts" }]);
  }
  const { maxBytes } = contextOf(request).deps.settings.uploads;
  if (Number(headers["content-length"] ?? 0) > maxBytes + FORM_OVERHEAD_BYTES) throw new PayloadTooLargeError(maxBytes);
  next();
}
