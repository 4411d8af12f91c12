import { type RequestHandler, Router } from "express";
import { NotFoundError } from "../../core/errors.js";
import { adminRoutes } from "./admin/routes.js";
import { serveRoutes } from "./api-routes.js";
import { authenticateCaller } from "./authentication.js";
import { GENERATED } from "./generated/routes.js";
import type { Lifecycle } from "./lifecycle.js";
import { begin } from "./middleware/begin.js";
import { handleError } from "./middleware/handle-error.js";
import { methodNotAllowed } from "./middleware/method-not-allowed.js";
import { networkBudget } from "./middleware/network-budget.js";
import { audioFiles } from "./pages/audio.js";
import { callbackPages } from "./pages/callbacks.js";
import { apiDescription } from "./pages/api-description.js";
import { mcpPage } from "./pages/mcp.js";
import { sharePages } from "./pages/share/share-pages.js";
import { statusPages } from "./pages/status.js";
import { DOCS, STUDIO, webPage } from "./pages/web-page.js";
import { studioSession } from "./sessions/studio-routes.js";
import type { HttpDeps } from "./deps.js";
import type { Surface } from "./surface.js";

/** Pages without authentication, except the two that report whether the process is up and ready. */
const OPEN_PATHS = ["/metrics", "/openapi.json", "/audio", "/share", "/callbacks"];

/** A whole HTTP surface, to be mounted in any Express app under any path. It responds to every request. */
export function createRouter(deps: HttpDeps, lifecycle: Lifecycle, surface: Surface): Router {
  const router = Router({ caseSensitive: true });
  router.use(begin(deps, lifecycle));
  if (surface !== "public") adminRoutes(router, deps);
  if (surface !== "admin") publicRoutes(router, deps);
  methodNotAllowed(router);
  router.use((_request, _response, next) => next(new NotFoundError()));
  router.use(handleError);
  return router;
}

/**
 * Proxies decode the `%2F` of a model id: its two segments are the one that the route takes. The router puts the path
 * before `request.url` back together.
 */
const joinModelId: RequestHandler = (request, _response, next) => {
  request.url = request.url.replace(/^\/([^/?]+)\/([^/?]+)(?=\/?(?:\?|$))/, "/$1%2F$2");
  next();
};

function publicRoutes(router: Router, deps: HttpDeps): void {
  router.use("/api/v1/models", joinModelId);
  serveRoutes(router, GENERATED, authenticateCaller, deps.controllers);
  studioSession(router, deps);
  router.use(OPEN_PATHS, networkBudget);
  statusPages(router, deps);
  apiDescription(router, deps);
  audioFiles(router, deps);
  sharePages(router, deps);
  callbackPages(router, deps);
  webPage(router, deps, DOCS);
  if (deps.mcp !== undefined) mcpPage(router, deps, deps.mcp);
  if (deps.studio !== undefined) webPage(router, deps, STUDIO);
}
