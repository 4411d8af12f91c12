import type { NextFunction, Request, Response } from "express";
import { jsonBody } from "./json-body.js";

/** As {@link jsonBody}; a request without a body has an empty object. */
export function optionalJsonBody(request: Request, response: Response, next: NextFunction): void {
  const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
  const isAbsent = encoding === undefined && Number(length) === 0 && request.body === undefined;
  if (!isAbsent) return jsonBody(request, response, next);
  request.body = {};
  next();
}
