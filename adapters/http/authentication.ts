import type { Request, Response } from "express";
import { authorize } from "../../core/accounts/authenticate.js";
import type { Scope } from "../../core/accounts/scopes.js";
import type { RateLimitKind } from "../../core/accounts/tiers.js";
import { FermataError } from "../../core/errors.js";
import type { KeyHolder } from "../../core/ports/account-store.js";
import { STATUS_BY_CODE } from "./errors.js";
import { clientLabel, type Exchange, exchangeOf } from "./exchange.js";
import { showAllowance } from "./rate-limits.js";

/**
 * What the generated routes do before anything else of a request is looked at: key, terms, scope, rate limit, in this order.
 *
 * @param scopes the scope that the endpoint needs; none where any key will do
 * @see decisions, "Order of checks"
 */
export async function expressAuthentication(
  request: Request,
  _scheme: string,
  scopes: readonly string[] | undefined,
  response: Response,
): Promise<KeyHolder> {
  const exchange = exchangeOf(request);
  const { limits } = exchange.parts;
  const holder = await identify(exchange, request);
  exchange.holder = holder;
  exchange.path = request.path;
  const client = request.headers["x-client"];
  if (client !== undefined) exchange.client = clientLabel(String(client));

  const kind = kindOf(request);
  try {
    authorize(holder, (scopes?.[0] as Scope | undefined) ?? null);
  } catch (error) {
    showAllowance(exchange, response, limits.peek(holder.account, kind));
    throw error;
  }
  const allowance = limits.consume(holder.account, kind);
  showAllowance(exchange, response, allowance);
  // A generation may be the retry of one that was accepted: its record is looked up before 429 is answered.
  if (allowance.exceeded !== null && kind !== "generation") throw allowance.exceeded;
  return holder;
}

async function identify({ parts }: Exchange, request: Request): Promise<KeyHolder> {
  try {
    return await parts.authenticate.identify(request.headers.authorization);
  } catch (error) {
    if (FermataError.is(error) && STATUS_BY_CODE[error.code] === 401) parts.limits.countAuthFailure(request.ip ?? "unknown");
    throw error;
  }
}

function kindOf(request: Request): RateLimitKind {
  if (request.method === "GET" || request.method === "HEAD") return "read";
  return (request.route as { readonly path: string }).path === "/api/v1/generations" ? "generation" : "write";
}
