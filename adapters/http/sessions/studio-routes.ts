import type { Request, Response, Router } from "express";
import { InvalidRequestError } from "../../../core/errors.js";
import { identifyByKey } from "../authentication.js";
import type { HttpDeps } from "../deps.js";
import { jsonBody } from "../middleware/json-body.js";
import { timestamp } from "../presenters/time.js";
import { checkOwnPage } from "./same-origin.js";
import { accountOfCode, type StudioDeps, type StudioSession } from "./studio-session.js";
import { textMember } from "./text-member.js";

/**
 * `POST /api/v1/session` exchanges a key, or the code of a link to the studio, for a session cookie; `DELETE` ends it.
 * They serve the studio, are called by its page alone, and are in no description of the API.
 */
export function studioSession(router: Router, { studio, publicUrl }: HttpDeps): void {
  if (studio === undefined) return;
  router.post("/api/v1/session", jsonBody, async (request, response) => {
    checkOwnPage(request, publicUrl.current);
    const session = await sessionFor(studio, request, response);
    response.json({ data: { expires_at: timestamp(studio.sessions.begin(response, session)) } });
  });
  router.delete("/api/v1/session", (request, response) => {
    checkOwnPage(request, publicUrl.current);
    studio.sessions.end(response);
    response.json({ data: { ended: true } });
  });
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
