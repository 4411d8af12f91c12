import type { Request } from "express";
import type { Caller } from "../../core/accounts/authenticate.js";
import { FermataError } from "../../core/errors.js";
import { isScope, SCOPES } from "../../core/ports/scopes.js";
import { secretMask } from "../../core/secrets/mask-secrets.js";
import type { HttpDeps } from "./deps.js";
import type { AuthenticateRequest, SignedInCaller } from "./signed-in.js";

const UNSAFE_METHODS = ["POST", "PUT", "PATCH", "DELETE"];
const CAUSES_MAX = 5;

/** Asks the app. @returns null where it does not know who calls, or a page of another site made a browser call */
export async function authenticateByApp(
  { app, publicUrl }: Pick<HttpDeps, "app" | "publicUrl">,
  request: Request,
): Promise<Caller | null> {
  if (app === undefined) return null;
  if (UNSAFE_METHODS.includes(request.method) && isFromAnotherSite(request, publicUrl.current)) return null;
  const signedIn = await askApp(app.authenticate, request);
  if (signedIn === null || signedIn === undefined) return null;
  const { accountId, scopes = SCOPES } = signedIn;
  if (typeof accountId !== "string" || !Array.isArray(scopes) || !scopes.every((scope) => isScope(String(scope)))) {
    throw new Error("The app's authenticate returned something else than { accountId, scopes }, or unknown scopes.");
  }
  const account = await app.findAccount(accountId);
  if (account === undefined) throw new Error("The app's authenticate named an account that does not exist.");
  return { account, scopes };
}

async function askApp(ask: AuthenticateRequest, request: Request): Promise<SignedInCaller | null | undefined> {
  try {
    return await ask(request);
  } catch (error) {
    throw failureOf(error, request);
  }
}

/** Fermata's own unavailability, met by a call that the app makes of it, stays what it is. */
function failureOf(error: unknown, request: Request): Error {
  if (FermataError.is(error) && error.code === "service_unavailable") return error;
  const cause = withoutSecrets(error, secretMask(secretsOf(request)), CAUSES_MAX);
  return new Error("The app's authenticate failed.", { cause });
}

/**
 * A browser sends the app's cookies with a form of another site too. It says so in `Sec-Fetch-Site`; where it does not,
 * as over plain http, the page's own address tells. What no browser sends has neither.
 *
 * @see Fetch Metadata Request Headers, section 2.3
 */
function isFromAnotherSite(request: Request, publicUrl: string): boolean {
  const site = request.get("sec-fetch-site");
  if (site !== undefined) return site === "cross-site";
  const origin = request.get("origin");
  if (origin === undefined) return false;
  const hosts = [request.hostname, hostnameOf(publicUrl)];
  return !hosts.includes(hostnameOf(origin));
}

/** Empty where there is none, as in the origin `null`. */
function hostnameOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : "";
}

/** What the request carries that may open a session. */
function secretsOf({ headers }: Request): string[] {
  return Object.entries(headers).flatMap(([name, value = ""]) => {
    const text = String(value);
    if (name === "cookie") return [text, ...text.split(/;\s*/).flatMap(cookieValues)];
    return name === "authorization" || name.startsWith("x-") ? [text, ...text.split(/\s+/)] : [];
  });
}

function cookieValues(pair: string): string[] {
  const value = pair.slice(pair.indexOf("=") + 1).replace(/^"|"$/g, "");
  try {
    return [value, decodeURIComponent(value)];
  } catch {
    return [value];
  }
}

/** Message and stack of an error and its causes; not its other members, among which may be the request. */
function withoutSecrets(error: unknown, mask: (text: string) => string, left: number): unknown {
  if (!(error instanceof Error)) return typeof error === "string" ? mask(error) : typeof error;
  const copy = new Error(mask(error.message));
  copy.name = mask(error.name);
  if (error.stack !== undefined) copy.stack = mask(error.stack);
  if (error.cause !== undefined && left > 0) copy.cause = withoutSecrets(error.cause, mask, left - 1);
  return copy;
}
