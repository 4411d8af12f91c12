import type { Request, Response } from "express";
import { authorize, type Caller } from "../../core/accounts/authenticate.js";
import type { Scope } from "../../core/ports/scopes.js";
import { FermataError } from "../../core/errors.js";
import { authenticateByApp } from "./app-authentication.js";
import type { HttpDeps } from "./deps.js";
import { STATUS_BY_CODE } from "./errors.js";
import { clientLabel, type RequestContext, contextOf } from "./request-context.js";
import { drawOnNetworkBudget } from "./middleware/network-budget.js";
import { rateLimitKindOf } from "./rate-limit-kind.js";
import { showAllowance } from "./rate-limits.js";
import { authenticateBySession } from "./sessions/studio-session.js";

const CARRIES_KEY = /^\s*Bearer(\s|$)/i;

/**
 * What the routes of the API do before anything else of a request is looked at: caller, terms, scope, rate limit, in
 * this order.
 *
 * @param scopes the scope that the endpoint needs; none where config says which, or any caller will do
 * @see decisions, "Order of checks"
 */
export async function authenticateCaller(
  request: Request,
  scopes: readonly string[],
  response: Response,
): Promise<Caller> {
  const context = contextOf(request);
  const { limits } = context.deps;
  const caller = await identify(context, request, response);
  context.caller = caller;
  const scope = neededScope(request, scopes, context.deps.settings.webhookScope);
  // Nothing is counted: a key that was accepted is no failed authentication when it ends.
  context.authorizeAgain = async () => authorize(await callerOf(context.deps, request), scope);
  context.path = request.path;
  const kind = rateLimitKindOf(request.method, routePathOf(request));
  // A generation and a split carry their label in their body.
  if (kind !== "generation") context.client = clientLabel(String(request.headers["x-client"] ?? ""));

  try {
    authorize(caller, scope);
  } catch (error) {
    showAllowance(context, response, await limits.peek(caller.account, kind));
    throw error;
  }
  const allowance = await limits.consume(caller.account, kind);
  showAllowance(context, response, allowance);
  // A generation may be the retry of one that was accepted: its record is looked up before the response can be 429.
  if (allowance.exceeded !== null && kind !== "generation") throw allowance.exceeded;
  return caller;
}

function neededScope(request: Request, scopes: readonly string[], webhookScope: Scope | null): Scope | null {
  const named = scopes[0] as Scope | undefined;
  if (named !== undefined) return named;
  return routePathOf(request).startsWith("/api/v1/webhook-endpoints") ? webhookScope : null;
}

function routePathOf(request: Request): string {
  return (request.route as { readonly path: string }).path;
}

/** A wrong key counts as a failed authentication of the client's address. */
async function identify({ deps }: RequestContext, request: Request, response: Response): Promise<Caller> {
  return (await signedInCaller(deps, request)) ?? identifyByKey(request, response, request.headers.authorization);
}

async function callerOf(deps: HttpDeps, request: Request): Promise<Caller> {
  return (await signedInCaller(deps, request)) ?? callerOfKey(deps, request.headers.authorization);
}

/** null for a request with an API key too: it is its key's, whomever the app knows. */
async function signedInCaller(deps: HttpDeps, request: Request): Promise<Caller | null> {
  const knowsOthers = deps.app !== undefined || deps.studio !== undefined;
  if (!knowsOthers || CARRIES_KEY.test(request.headers.authorization ?? "")) return null;
  return (await authenticateByApp(deps, request)) ?? authenticateBySession(deps, request);
}

async function callerOfKey(deps: HttpDeps, authorization: string | undefined): Promise<Caller> {
  const { account, key } = await deps.authenticate.identify(authorization);
  return { account, scopes: key.scopes };
}

/**
 * Whose key it is. A wrong one counts as a failed authentication of the client's address.
 *
 * @param authorization the header, as a client sends it
 */
export async function identifyByKey(
  request: Request,
  response: Response,
  authorization: string | undefined,
): Promise<Caller> {
  const { deps } = contextOf(request);
  try {
    return await callerOfKey(deps, authorization);
  } catch (error) {
    if (FermataError.is(error) && STATUS_BY_CODE[error.code] === 401) {
      await deps.limits.countAuthFailure(request.ip);
      drawOnNetworkBudget(request, response);
    }
    throw error;
  }
}
