import type { Server } from "node:http";
import { setTimeout } from "node:timers/promises";
import type { Request, Response } from "express";
import { Lifecycle } from "./lifecycle.js";
import type { HttpDeps } from "./deps.js";
import { listen } from "./listen.js";
import type { RequestHandler } from "./request-handler.js";
import { createRouter } from "./router.js";
import { createServer } from "./server.js";
import type { Surface } from "./surface.js";

export { type ConnectionLimits, DEFAULT_CONNECTION_LIMITS } from "./connections/limits.js";

export { ActingOperator } from "./admin/acting.js";
export { ADMIN_CONTROLLERS } from "./admin/controllers/index.js";
export type { AdminDeps } from "./admin/deps.js";
export { CONTROLLERS } from "./controllers/index.js";
export type {
  CompletedRequest as AnsweredRequest,
  ControllerClass,
  ControllerSource,
  HttpDeps,
  HttpSettings,
  MetricsPage,
  TrustProxy,
} from "./deps.js";
export type { McpDeps, McpEndpoint } from "./mcp-endpoint.js";
export type { RequestHandler } from "./request-handler.js";
export type { AuthenticateRequest, SignedInCaller } from "./signed-in.js";
export { Sessions, type SessionsDeps } from "./sessions/sessions.js";
export { type StudioDeps, type StudioSession } from "./sessions/studio-session.js";
export { MetricsServer } from "./metrics-server.js";
export { STATUS_BY_CODE } from "./errors.js";
export { presentCredits } from "./presenters/credits.js";
export { presentGeneration } from "./presenters/generation.js";
export { presentJob } from "./presenters/job.js";
export { presentModel } from "./presenters/model.js";
export { presentPlaylist } from "./presenters/playlist.js";
export { presentSingleTrack, presentTrack } from "./presenters/track.js";

/** The public API over HTTP. */
export interface Http {
  /** To be mounted in an Express app; what {@link listen} serves. */
  readonly router: RequestHandler;
  readonly server: Server;
  /** @throws {Error} naming the address and why it cannot be bound */
  listen(): Promise<{ readonly url: string }>;
  /**
   * Stops accepting connections, ends waits, and lets open responses finish for at most `graceMs`. From this call on
   * the router responds with 503, wherever it is mounted.
   *
   * @param now ends the wait for open responses when it aborts
   */
  close(graceMs: number, now?: AbortSignal): Promise<void>;
}

export function createHttp(deps: HttpDeps, surface: Surface = "public"): Http {
  const { host, port, connections, bodyLimitBytes } = deps.settings;
  const settings = surface === "admin" ? "admin.host, admin.port" : "http.host, http.port";
  const lifecycle = new Lifecycle({ stalledResponseMs: connections.stalledResponseMs, bodyLimitBytes });
  const router = createRouter(deps, lifecycle, surface);
  const server = createServer(router, deps, lifecycle);
  return {
    // Express gives what it calls its own request and response.
    router: (request, response, next) => router(request as Request, response as Response, next),
    server,
    listen: () => listen(server, { host, port, settings }),
    async close(graceMs, now) {
      lifecycle.beginStop();
      // Idle connections close at once, the others after their response; the error of a server that never listened does
      // not matter.
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const grace = new AbortController();
      const waits = now === undefined ? grace.signal : AbortSignal.any([grace.signal, now]);
      const graceOver = setTimeout(graceMs, undefined, { signal: waits }).catch(() => undefined);
      await Promise.race([Promise.all([closed, lifecycle.idle()]), graceOver]);
      grace.abort();
      server.closeAllConnections();
      await closed;
    },
  };
}
