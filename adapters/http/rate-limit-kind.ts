import type { RateLimitKind } from "../../core/accounts/tiers.js";
import { CREDITS_ROUTES } from "../../core/ports/request-log.js";

/** A POST to one of these gives a provider work: as OpenAPI writes the routes, and as Express does. */
const ROUTES_OF_WORK: ReadonlySet<string> = new Set(
  Object.keys(CREDITS_ROUTES).flatMap((route) => [route, route.replace(/\{(\w+)\}/g, ":$1")]),
);

/** The limit that a request counts in. @param method in upper case */
export function rateLimitKindOf(method: string, route: string): RateLimitKind {
  if (method === "GET" || method === "HEAD") return "read";
  return method === "POST" && ROUTES_OF_WORK.has(route) ? "generation" : "write";
}
