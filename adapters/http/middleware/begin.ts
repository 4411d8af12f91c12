import type { RequestHandler } from "express";
import { ServiceUnavailableError } from "../../../core/errors.js";
import { RequestContext } from "../request-context.js";
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
    response.once("close", () => {
      lifecycle.end(response);
      context.end();
    });
    const { stopping } = lifecycle;
    const goOn = (): void =>
      stopping.aborted ? next(new ServiceUnavailableError("The service is shutting down. Try again.")) : next();
    if (deps.tracer === undefined) goOn();
    else context.within(deps.tracer, goOn);
  };
}
