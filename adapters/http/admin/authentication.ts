import type { Request, Response } from "express";
import { authorizeOperator, type Operator } from "../../../core/admin/admin-tokens.js";
import { assert } from "../../../core/assert.js";
import { FermataError, InvalidRequestError } from "../../../core/errors.js";
import { withoutControls } from "../../../core/printable.js";
import type { AdminRole } from "../../../core/ports/admin-token.js";
import { STATUS_BY_CODE } from "../errors.js";
import { drawOnNetworkBudget } from "../middleware/network-budget.js";
import { contextOf } from "../request-context.js";
import { adminOf } from "./deps.js";

/** Why an operator does it, for the audit log: percent-encoded UTF-8. */
export const REASON_HEADER = "X-Reason";
const REASON_MAX_LENGTH = 200;

/**
 * What the routes of the admin API do before anything else of a request is looked at.
 *
 * @param roles the role that the endpoint needs
 */
export async function authenticateOperator(
  request: Request,
  roles: readonly string[],
  response: Response,
): Promise<Operator> {
  const { acting, sessions } = adminOf(contextOf(request).deps);
  const { authorization } = request.headers;
  const session = authorization === undefined ? await sessions.find(request) : null;
  const operator = await identifyOperator(request, response, session === null ? authorization : bearer(session.token));
  authorizeOperator(operator, (roles[0] ?? "owner") as AdminRole);
  acting.note({ name: `${operator.name} (admin API)`, why: reasonOf(request) });
  return operator;
}

/**
 * Whose token it is. A wrong one counts as a failed authentication of the client's address.
 *
 * @param authorization the header, as a client sends it
 */
export async function identifyOperator(
  request: Request,
  response: Response,
  authorization: string | undefined,
): Promise<Operator> {
  const { deps } = contextOf(request);
  try {
    return await adminOf(deps).tokens.identify(authorization);
  } catch (error) {
    if (FermataError.is(error) && STATUS_BY_CODE[error.code] === 401) {
      await deps.limits.countAuthFailure(request.ip);
      drawOnNetworkBudget(request, response);
    }
    throw error;
  }
}

/** The header that carries a token. */
export function bearer(token: string): string {
  return `Bearer ${token}`;
}

/** Who sends a request, behind authentication. */
export function operatorOf(request: Request): Operator {
  const { user } = request as Request & { readonly user?: Operator };
  assert(user !== undefined, "a controller runs behind authentication");
  return user;
}

function reasonOf({ headers }: Request): string | null {
  const given = headers[REASON_HEADER.toLowerCase()];
  if (given === undefined) return null;
  const path = `header.${REASON_HEADER}`;
  let reason: string;
  try {
    reason = withoutControls(decodeURIComponent(String(given)));
  } catch {
    throw new InvalidRequestError([{ path, message: "must be percent-encoded UTF-8" }]);
  }
  const length = [...reason].length;
  if (length >= 1 && length <= REASON_MAX_LENGTH) return reason;
  throw new InvalidRequestError([
    { path, message: `must have 1 to ${REASON_MAX_LENGTH} characters; it has ${length}` },
  ]);
}
