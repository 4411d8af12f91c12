import type { NextFunction, RequestHandler, Response } from "express";
import { ServiceUnavailableError } from "../../../core/errors.js";
import { contextOf, RequestContext } from "../request-context.js";
import type { Lifecycle } from "../lifecycle.js";
import type { HttpDeps } from "../deps.js";
import { json } from "../send.js";

/** Runs first: gives the request its id, and its response the headers that all responses have. */
export function begin(deps: HttpDeps, lifecycle: Lifecycle): RequestHandler {
  return (request, response, next) => {
    const context = new RequestContext(deps, lifecycle, request, response);
    response.setHeader("X-Request-Id", context.requestId);
    response.setHeader("Cache-Control", "no-store");
    response.setHeader("X-Content-Type-Options", "nosniff");
    response.setHeader("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    response.removeHeader("X-Powered-By");
    response.json = json;
    lifecycle.begin(response);
    response.once("close", endResponse);
    if (deps.tracer === undefined) goOn(lifecycle, next);
    else context.within(deps.tracer, () => goOn(lifecycle, next));
  };
}

/** Of every response; a listener of its own for each would cost each request a closure. */
function endResponse(this: Response): void {
  const context = contextOf(this.req);
  context.lifecycle.end(this);
  context.end();
}

function goOn({ stopping }: Lifecycle, next: NextFunction): void {
  if (stopping.aborted) next(new ServiceUnavailableError("The service is shutting down. Try again."));
  else next();
}
