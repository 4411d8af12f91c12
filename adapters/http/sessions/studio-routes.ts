import type { Request, Response, Router } from "express";
import { FermataError, InvalidRequestError } from "../../../core/errors.js";
import { identifyByKey } from "../authentication.js";
import type { HttpDeps } from "../deps.js";
import { STATUS_BY_CODE } from "../errors.js";
import { jsonBody } from "../middleware/json-body.js";
import { networkBudget } from "../middleware/network-budget.js";
import { timestamp } from "../presenters/time.js";
import { checkOwnPage } from "./same-origin.js";
import { accountOfCode, authenticateBySession, type StudioDeps, type StudioSession } from "./studio-session.js";
import { textMember } from "./text-member.js";

/**
 * `POST /api/v1/session` exchanges a key, or the code of a link to the studio, for a session cookie; `GET` says whether
 * there is one, and `DELETE` ends it. They serve the studio, are called by its page alone, and are in no description of
 * the API.
 */
export function studioSession(router: Router, { studio, publicUrl }: HttpDeps): void {
  if (studio === undefined) return;
  router.post("/api/v1/session", jsonBody, async (request, response) => {
    checkOwnPage(request, publicUrl.current);
    const session = await sessionFor(studio, request, response);
    response.json({ data: { expires_at: timestamp(studio.sessions.begin(response, session)) } });
  });
  router.get("/api/v1/session", networkBudget, async (request, response) => {
    response.json({ data: { is_open: await isOpen(studio, request) } });
  });
  router.delete("/api/v1/session", (request, response) => {
    checkOwnPage(request, publicUrl.current);
    studio.sessions.end(response);
    response.json({ data: { ended: true } });
  });
}

/** The page asks before it calls anything: a call without a session would count as a failed authentication. */
async function isOpen(studio: StudioDeps, request: Request): Promise<boolean> {
  try {
    return (await authenticateBySession({ studio }, request)) !== null;
  } catch (error) {
    if (FermataError.is(error) && STATUS_BY_CODE[error.code] === 401) return false;
    throw error;
  }
}

async function sessionFor(studio: StudioDeps, request: Request, response: Response): Promise<StudioSession> {
  const { api_key: key, code } = request.body as Readonly<Record<string, unknown>>;
  if (key !== undefined && code !== undefined)
    throw new InvalidRequestError([{ path: "body.code", message: "cannot be given with api_key" }]);
  if (code !== undefined) return { account: await accountOfCode(studio, textMember(request, "code")) };
  const token = textMember(request, "api_key");
  await identifyByKey(request, response, `Bearer ${token}`);
  return { key: token };
}
