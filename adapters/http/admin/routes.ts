import type { NextFunction, Request, Response, Router } from "express";
import {
  FermataError,
  InvalidRequestError,
  NotFoundError,
  OperationRefusedError,
  type RequestIssue,
  UnknownObjectError,
} from "../../../core/errors.js";
import { ImportRefusedError } from "../../../core/library/import-library.js";
import type { ImportIssue } from "../../../core/library/members-reader.js";
import { serveRoutes } from "../api-routes.js";
import { GENERATED } from "../generated/admin/routes.js";
import type { HttpDeps } from "../deps.js";
import { CONSOLE, webPage } from "../pages/web-page.js";
import { consoleSession } from "../sessions/console-session.js";
import { authenticateOperator } from "./authentication.js";
import { adminOf } from "./deps.js";
import { describeAdminApi } from "./openapi.js";

/** Everything under `/admin`. */
export function adminRoutes(router: Router, deps: HttpDeps): void {
  const { acting } = adminOf(deps);
  router.use("/admin", (_request: Request, _response: Response, next: NextFunction) => acting.run(next));
  serveRoutes(router, GENERATED, authenticateOperator, deps.controllers);
  consoleSession(router, deps);
  if (adminOf(deps).hasConsole) webPage(router, deps, CONSOLE);
  router.get("/admin/v1/openapi.json", (_request, response) => {
    response.json(describeAdminApi(deps.publicUrl.current, deps.settings.version));
  });
  router.use("/admin", (error: unknown, _request: Request, _response: Response, next: NextFunction) => {
    next(toOperatorsError(error));
  });
}

/** What an operation refuses, in words that are meant for operators: callers of the public API do not see them. */
class RefusedError extends FermataError {
  readonly code = "invalid_request";
}

function toOperatorsError(error: unknown): unknown {
  if (!(error instanceof OperationRefusedError)) return error;
  if (error instanceof ImportRefusedError) return new InvalidRequestError(error.issues.map(ofBody));
  return error instanceof UnknownObjectError ? new NotFoundError(error.message) : new RefusedError(error.message);
}

function ofBody({ path, message }: ImportIssue): RequestIssue {
  return { path: path === "" ? "body" : `body.${path}`, message };
}
