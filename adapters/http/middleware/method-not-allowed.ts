import type { Router } from "express";
import { MethodNotAllowedError } from "../../../core/errors.js";

/**
 * Responds to OPTIONS with 204 and to every method that a path does not allow with 405; both name the allowed methods.
 */
export function methodNotAllowed(router: Router): void {
  const methodsByPath = new Map<string, Set<string>>();
  for (const { route } of router.stack) {
    if (route === undefined) continue;
    const methods = methodsByPath.get(route.path) ?? new Set(["OPTIONS"]);
    for (const { method } of route.stack) methods.add(method.toUpperCase());
    if (methods.has("GET")) methods.add("HEAD");
    methodsByPath.set(route.path, methods);
  }
  // RFC 9110, section 9.3.7: asks about the server as a whole.
  router.use((request, response, next) => {
    if (request.method === "OPTIONS" && request.url === "*") response.status(204).end();
    else next();
  });
  for (const [path, methods] of methodsByPath) {
    const allow = [...methods].sort().join(", ");
    router.all(path, (request, response, next) => {
      response.setHeader("Allow", allow);
      if (request.method === "OPTIONS") response.status(204).end();
      else next(new MethodNotAllowedError(allow));
    });
  }
}
