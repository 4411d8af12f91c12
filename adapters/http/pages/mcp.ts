import { pipeline } from "node:stream/promises";
import express, { type Request as ExpressRequest, type Response as ExpressResponse, type Router } from "express";
import { authorize } from "../../../core/accounts/authenticate.js";
import { InvalidRequestError } from "../../../core/errors.js";
import { identifyByKey } from "../authentication.js";
import type { HttpDeps } from "../deps.js";
import { InProcessCalls } from "../in-process.js";
import type { McpDeps } from "../mcp-endpoint.js";
import { refuse } from "../middleware/handle-error.js";
import { jsonBody } from "../middleware/json-body.js";
import { showAllowance } from "../rate-limits.js";
import { clientLabel, contextOf } from "../request-context.js";

const FORBIDDEN = 403;

/**
 * `POST /mcp`: streamable HTTP without sessions. A message draws on the reads of its key's account; the calls of the
 * API that it leads to are made with the same key, and draw on what they would draw on otherwise.
 *
 * @see Model Context Protocol, 2026-07-28, "Transports"
 */
export function mcpPage(router: Router, deps: HttpDeps, { endpoint, calls: open }: McpDeps): void {
  const app = express();
  app.disable("x-powered-by");
  app.use(router);
  const calls = new InProcessCalls(app);
  // A call that waits for a job holds a connection, and follows the job, for minutes.
  const countCall = (request: ExpressRequest, response: ExpressResponse, next: () => void): void => {
    const context = contextOf(request);
    const end = open.enter(context.account.id);
    response.once("close", end);
    if (context.clientIsGone) end();
    next();
  };
  router.post("/mcp", checkOrigin, authenticate, countCall, jsonBody, async (request, response) => {
    const fetch = calls.from(request.ip);
    const authorization = request.headers.authorization ?? "";
    const message = {
      request: toWebRequest(request, response, deps),
      body: request.body as unknown,
      authorization,
      fetch,
    };
    await send(response, await endpoint.respond(message));
  });
}

/**
 * A page of another site may have been given this server's address by its own name (DNS rebinding), so that `Host` says
 * nothing: only pages below `http.publicUrl` may call from a browser.
 */
function checkOrigin(request: ExpressRequest, response: ExpressResponse, next: () => void): void {
  const { origin } = request.headers;
  const allowed = new URL(contextOf(request).deps.publicUrl.current).origin;
  if (origin === undefined || origin === allowed) return next();
  const issue = { path: "header.Origin", message: `must be ${allowed}, or left out` };
  refuse(request, response, new InvalidRequestError([issue]), FORBIDDEN);
}

async function authenticate(request: ExpressRequest, response: ExpressResponse, next: () => void): Promise<void> {
  const context = contextOf(request);
  const { limits } = context.deps;
  const caller = await identifyByKey(request, response, request.headers.authorization);
  context.caller = caller;
  context.path = request.path;
  context.client = clientLabel(String(request.headers["x-client"] ?? "mcp"));
  authorize(caller, null);
  const allowance = await limits.consume(caller.account, "read");
  showAllowance(context, response, allowance);
  if (allowance.exceeded !== null) throw allowance.exceeded;
  next();
}

/** It aborts when the client is gone; while the server stops, calls end by themselves, and their jobs go on. */
function toWebRequest(request: ExpressRequest, response: ExpressResponse, { publicUrl }: HttpDeps): Request {
  const { stopping } = contextOf(request).lifecycle;
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished && !stopping.aborted) gone.abort();
  });
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined && name !== "authorization") headers.set(name, String(value));
  }
  return new Request(`${publicUrl.current}/mcp`, { method: "POST", headers, signal: gone.signal });
}

async function send(response: ExpressResponse, { status, headers, body }: Response): Promise<void> {
  const context = contextOf(response.req);
  response.status(status);
  for (const [name, value] of headers) response.setHeader(name, value);
  // nginx would keep events back until its buffer is full.
  response.setHeader("X-Accel-Buffering", "no");
  response.setHeader("Cache-Control", "no-store");
  if (body === null) {
    response.end();
    return;
  }
  response.flushHeaders();
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
      context.bytesSent += chunk.byteLength;
      yield chunk;
    }
  };
  await pipeline(counted, response).catch((error: unknown) => {
    if (response.destroyed) return;
    context.deps.logger.error("A response was interrupted", { error, request_id: context.requestId });
    response.destroy();
  });
}
