import type { NextFunction, Request, Response } from "express";
import { clientLabel, contextOf } from "../request-context.js";

/** Records the client label of a body, also when the request is invalid for another reason. */
export function bodyClient(request: Request, _response: Response, next: NextFunction): void {
  const { client } = request.body as { readonly client?: unknown };
  if (typeof client === "string") contextOf(request).client = clientLabel(client);
  next();
}
