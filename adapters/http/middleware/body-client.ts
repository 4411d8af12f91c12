import type { NextFunction, Request, Response } from "express";
import { clientLabel, contextOf } from "../request-context.js";

/** Notes the label that a body carries, whatever else may be wrong with the request. */
export function bodyClient(request: Request, _response: Response, next: NextFunction): void {
  const { client } = request.body as { readonly client?: unknown };
  if (typeof client === "string") contextOf(request).client = clientLabel(client);
  next();
}
