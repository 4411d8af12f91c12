import type { Request } from "express";
import { AuthenticationRequiredError } from "../../../core/errors.js";

/**
 * Whether a page of this server sent a request. A browser says so in `Sec-Fetch-Site`; over plain http from another
 * machine it does not, and `Origin` tells, which it sends with every method but GET and HEAD.
 *
 * @see Fetch Metadata Request Headers, section 2.3; RFC 6454, section 7
 */
export function isFromOwnPage(request: Request, publicUrl: string): boolean {
  const site = request.get("sec-fetch-site");
  if (site !== undefined) return site === "same-origin";
  const origin = request.get("origin");
  if (origin === undefined) return request.method === "GET" || request.method === "HEAD";
  return [request.get("host"), hostOf(publicUrl)].includes(hostOf(origin));
}

/** @throws {AuthenticationRequiredError} a page of another site made a browser send it */
export function checkOwnPage(request: Request, publicUrl: string): void {
  if (!isFromOwnPage(request, publicUrl)) throw new AuthenticationRequiredError();
}

/** With its port; undefined where there is none, as in the origin `null`. */
function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host : undefined;
}
