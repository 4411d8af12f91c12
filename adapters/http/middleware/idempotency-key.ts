import type { NextFunction, Request, Response } from "express";
import { checkIdempotencyKey } from "../../../core/generations/request-rules.js";

/** Checks the Idempotency-Key before the generated route looks at the body's fields: headers come first. */
export function idempotencyKey(request: Request, _response: Response, next: NextFunction): void {
  checkIdempotencyKey(request.headers["idempotency-key"] as string | undefined);
  next();
}
