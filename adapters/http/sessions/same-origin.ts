import type { IncomingMessage } from "node:http";
import { AuthenticationRequiredError } from "../../../core/errors.js";

/**
 * Whether a page of this server sent a request. A browser says so in `Sec-Fetch-Site`; over plain http from another
 * machine it does not, and `Origin` tells, which it sends with every method but GET and HEAD.
 *
 * @see Fetch Metadata Request Headers, section 2.3; RFC 6454, section 7
 */
export function isFromOwnPage({ headers, method }: IncomingMessage, publicUrl: string): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin";
  const { origin, host } = headers;
  if (origin === undefined) return method === "GET" || method === "HEAD";
  return [host, hostOf(publicUrl)].includes(hostOf(origin));
}

/** @throws {AuthenticationRequiredError} a page of another site made a browser send it */
export function checkOwnPage(request: IncomingMessage, publicUrl: string): void {
  if (!isFromOwnPage(request, publicUrl)) throw new AuthenticationRequiredError();
}

/** With its port; undefined where there is none, as in the origin `null`. */
function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host : undefined;
}
