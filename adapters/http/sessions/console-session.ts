import type { Router } from "express";
import { bearer, identifyOperator } from "../admin/authentication.js";
import type { HttpDeps } from "../deps.js";
import { jsonBody } from "../middleware/json-body.js";
import { moment } from "../admin/presenters.js";
import { checkOwnPage } from "./same-origin.js";
import { textMember } from "./text-member.js";

/**
 * `POST /admin/v1/session` exchanges a token for a session cookie, `DELETE` ends it. They serve the console, are called
 * by its page alone, and are in no description of the API.
 */
export function consoleSession(router: Router, { admin, publicUrl }: HttpDeps): void {
  if (admin === undefined || !admin.hasConsole) return;
  router.post("/admin/v1/session", jsonBody, async (request, response) => {
    checkOwnPage(request, publicUrl.current);
    const token = textMember(request, "token");
    const { name, role } = await identifyOperator(request, response, bearer(token));
    const expiresAt = admin.sessions.begin(response, { token });
    response.json({ data: { name, role, expires_at: moment(expiresAt) } });
  });
  router.delete("/admin/v1/session", (request, response) => {
    checkOwnPage(request, publicUrl.current);
    admin.sessions.end(response);
    response.json({ data: { ended: true } });
  });
}
