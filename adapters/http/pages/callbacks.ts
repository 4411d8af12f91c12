import type { Request, Router } from "express";
import { NotFoundError } from "../../../core/errors.js";
import type { HttpDeps } from "../deps.js";
import { readBody } from "../middleware/read-body.js";
import { sendJson } from "../send.js";

/** Larger than what any provider reports: results are links, not files. */
const BODY_LIMIT_BYTES = 1024 * 1024;

/**
 * What providers report about their work, at addresses that only they were given. The response is sent as soon as the
 * report is stored, before a worker reads it. A body parser of an app around this one would take away the raw bytes
 * that signatures are made over: mount the router before it.
 */
export function callbackPages(router: Router, deps: HttpDeps): void {
  const received = JSON.stringify({ received: true });
  router.post("/callbacks/:provider/:job/:token", async (request, response) => {
    const { provider, job, token } = request.params;
    if (!(await deps.receiveCallback.isAddress(provider, job, token))) {
      // Without a valid address the body is not read: the connection ends with the response.
      response.setHeader("Connection", "close");
      throw new NotFoundError();
    }
    const body = await rawBody(request);
    if (body === null) return;
    await deps.receiveCallback.receive({
      providerId: provider,
      jobId: job,
      token,
      headers: single(request.headers),
      query: single(request.query),
      body,
    });
    sendJson(response, 200, received);
  });
}

async function rawBody(request: Request): Promise<Uint8Array | null> {
  if (request.readableEnded)
    return Buffer.from(typeof request.body === "string" ? request.body : JSON.stringify(request.body ?? null));
  return readBody(request, BODY_LIMIT_BYTES);
}

/** One text for each name; of several the first. */
function single(values: Readonly<Record<string, unknown>>): Record<string, string> {
  const texts = Object.entries(values).flatMap(([name, value]): [string, string][] => {
    const first: unknown = Array.isArray(value) ? value[0] : value;
    return typeof first === "string" ? [[name, first]] : [];
  });
  return Object.fromEntries(texts);
}
