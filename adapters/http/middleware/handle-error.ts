import type { IncomingMessage } from "node:http";
import type { NextFunction, Request, Response } from "express";
import type { LogFields } from "../../../core/ports/logger.js";
import { endTogether } from "../end-together.js";
import { errorHeaders, STATUS_BY_CODE, toFermataError, toShownError } from "../errors.js";
import { type ShownError, toErrorEnvelope } from "../presenters/error.js";
import { contextOf, shownPathOf } from "../request-context.js";
import { limitedInstead } from "../rate-limits.js";
import { sendJson } from "../send.js";

/**
 * Responds to every error in one envelope. An error outside the catalogue is a fault of this server: it is logged, and
 * the response does not describe it.
 */
export async function handleError(
  thrown: unknown,
  request: Request,
  response: Response,
  _next: NextFunction,
): Promise<void> {
  const context = contextOf(request);
  const { logger } = context.deps;
  const about = (): LogFields => ({
    request_id: context.requestId,
    method: request.method,
    path: shownPathOf(request),
  });
  if (response.headersSent) {
    logger.error("A response was interrupted", { ...about(), error: thrown });
    response.destroy();
    return;
  }
  const known = toFermataError(thrown);
  if (known === null) logger.error("A request failed unexpectedly", { ...about(), error: thrown });
  else if (known.cause !== undefined) logger.warn("A request could not be served", { ...about(), error: known });

  refuse(request, response, toShownError(await limitedInstead(context, response, known)));
}

/** Responds with the envelope of an error. Outside /api a `status` may say more than the code's own. */
export function refuse(
  request: IncomingMessage,
  response: Response,
  error: ShownError,
  status = STATUS_BY_CODE[error.code],
): void {
  const context = contextOf(request);
  context.errorCode = error.code;
  const headers = errorHeaders(error);
  for (const name in headers) response.setHeader(name, headers[name] as string);
  sendJson(response, status, JSON.stringify(toErrorEnvelope(error, context.requestId)), endTogether);
}
